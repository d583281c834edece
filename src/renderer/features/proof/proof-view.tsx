/** The Proof view: one proof on its own, by its address. */
import { IconRoute } from '@tabler/icons-react';
import type { QuestionSearch } from '../../api/question-text.ts';
import { NoQuestion } from '../../ui/no-question.tsx';
import { ProofPanel } from './proof-panel.tsx';

export function ProofView({ search }: { search: QuestionSearch }) {
  if (search.question === undefined)
    return (
      <NoQuestion icon={<IconRoute size={30} stroke={1.3} aria-hidden />} title="No proof is chosen">
        Ask a question, then choose Why beside an answer.
      </NoQuestion>
    );
  return <ProofPanel question={search.question} />;
}
