/** The Trace view: one trace on its own, by its address. */
import { IconTimeline } from '@tabler/icons-react';
import type { QuestionSearch } from '../../api/question-text.ts';
import { NoQuestion } from '../../ui/no-question.tsx';
import { TracePanel } from './trace-panel.tsx';

export function TraceView({ search }: { search: QuestionSearch }) {
  if (search.question === undefined)
    return (
      <NoQuestion icon={<IconTimeline size={30} stroke={1.3} aria-hidden />} title="No question is chosen">
        Write a question, then choose Trace beside Ask.
      </NoQuestion>
    );
  return <TracePanel question={search.question} />;
}
