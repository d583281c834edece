import type { QuestionSearch } from '../../api/question-text.ts';
import { WhyNotPanel } from './why-not-panel.tsx';

interface WhyNotViewProps {
  search: QuestionSearch;
  onSearch: (search: QuestionSearch) => void;
}

/** Shows the Why-not view: one explanation by its address. */
export function WhyNotView({ search, onSearch }: WhyNotViewProps) {
  return <WhyNotPanel question={search.question ?? ''} onQuestion={(question) => onSearch({ question })} />;
}
