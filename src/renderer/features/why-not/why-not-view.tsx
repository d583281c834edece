/** The Why-not view: one explanation on its own, by its address. */
import { WhyNotPanel } from './why-not-panel.tsx';
import type { WhyNotSearch } from './why-not-search.ts';

interface WhyNotViewProps {
  search: WhyNotSearch;
  onSearch: (search: WhyNotSearch) => void;
}

export function WhyNotView({ search, onSearch }: WhyNotViewProps) {
  return <WhyNotPanel question={search.question ?? ''} onQuestion={(question) => onSearch({ question })} />;
}
