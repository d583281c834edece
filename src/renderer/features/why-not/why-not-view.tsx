/** The Why-not view: one explanation on its own, by its address. */
import type { QuestionSearch } from '../../api/question-text.ts';
import { WhyNotPanel } from './why-not-panel.tsx';

interface WhyNotViewProps {
  search: QuestionSearch;
  onSearch: (search: QuestionSearch) => void;
}

export function WhyNotView({ search, onSearch }: WhyNotViewProps) {
  return <WhyNotPanel question={search.question ?? ''} onQuestion={(question) => onSearch({ question })} />;
}
