/** The Proof view: one proof on its own, by its address. */
import { Button } from '@mantine/core';
import { IconRoute } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { EmptyState } from '../../ui/notices.tsx';
import { ProofPanel } from './proof-panel.tsx';
import type { ProofSearch } from './proof-search.ts';

export function ProofView({ search }: { search: ProofSearch }) {
  if (search.question === undefined)
    return (
      <EmptyState
        icon={<IconRoute size={30} stroke={1.3} aria-hidden />}
        title="No proof is chosen"
        actions={<Button renderRoot={(props) => <Link to="/ask" {...props} />}>Ask something</Button>}
      >
        Ask a question, then choose Why beside an answer.
      </EmptyState>
    );
  return <ProofPanel question={search.question} />;
}
