/** The Trace view: one trace on its own, by its address. */
import { Button } from '@mantine/core';
import { IconTimeline } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../../ui/notices.tsx';
import { TracePanel } from './trace-panel.tsx';
import type { TraceSearch } from './trace-search.ts';

export function TraceView({ search }: { search: TraceSearch }) {
  if (search.question === undefined)
    return (
      <EmptyState
        icon={<IconTimeline size={30} stroke={1.3} aria-hidden />}
        title="No question is chosen"
        actions={<Button renderRoot={(props) => <Link to="/ask" {...props} />}>Ask something</Button>}
      >
        Write a question, then choose Trace beside Ask.
      </EmptyState>
    );
  return <TracePanel question={search.question} />;
}
