import { IconRoute } from '@tabler/icons-react';
import { NoQuestion } from '../../ui/notices.tsx';
import { ProofPane } from './proof-panel.tsx';
import type { ProofSearch } from './proof-search.ts';

interface ProofViewProps {
  search: ProofSearch;
  onSearch: (search: ProofSearch) => void;
}

/** Shows the Proof view: one proof by its address. */
export function ProofView({ search, onSearch }: ProofViewProps) {
  const { question, unasked, ...look } = search;
  if (question === undefined || unasked === 'true')
    return (
      <NoQuestion
        key={question ?? ''}
        initial={question ?? ''}
        icon={<IconRoute size={30} stroke={1.3} aria-hidden />}
        title="No proof is chosen"
        label="Statement to prove"
        placeholder="ancestor(agnes, ada)"
        action="Prove it"
        onQuestion={(stated) => onSearch({ question: stated, ...look })}
      >
        Type a statement, or ask a question and choose Why beside an answer.
      </NoQuestion>
    );
  return <ProofPane question={question} look={look} onLook={(next) => onSearch({ question, ...next })} />;
}
