import { IconTimeline } from '@tabler/icons-react';
import type { QuestionSearch } from '../../api/question-text.ts';
import { NoQuestion } from '../../ui/notices.tsx';
import { TracePanel } from './trace-panel.tsx';

interface TraceViewProps {
  search: QuestionSearch;
  onSearch: (search: QuestionSearch) => void;
}

/** Shows the Trace view: one trace by its address. */
export function TraceView({ search, onSearch }: TraceViewProps) {
  if (search.question === undefined)
    return (
      <NoQuestion
        icon={<IconTimeline size={30} stroke={1.3} aria-hidden />}
        title="No question is chosen"
        label="Question to trace"
        placeholder="ancestor(?who, nora)"
        action="Trace it"
        onQuestion={(question) => onSearch({ question })}
      >
        Type a question, or write one in Ask and choose Trace beside it.
      </NoQuestion>
    );
  return <TracePanel question={search.question} />;
}
