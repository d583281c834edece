import { Button } from '@mantine/core';
import { IconEqual, IconRefresh } from '@tabler/icons-react';
import { useCallback, useEffect, useMemo } from 'react';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { withoutSupposedAway } from '../../api/supposed.ts';
import { useIsOld, useRun } from '../../api/use-run.ts';
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import { ChangeTag } from '../../ui/tags.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { Banner, CancelledNote, EmptyState, ProblemNotice, Running } from '../../ui/notices.tsx';
import { sideLabel } from './scopes-search.ts';
import { supposedOf } from './undo.ts';
import type { ScopeComparison } from './use-comparison.ts';
import { isRefused } from './use-merge.ts';

interface ConclusionRow {
  readonly change: 'gained' | 'lost';
  readonly atom: string;
}

/** The changed conclusions without duplicates, lost ones first. */
function conclusionRows(goals: WhatIfResult['goals']): ConclusionRow[] {
  const lost = new Set(goals.flatMap((goal) => goal.lost));
  const gained = new Set(goals.flatMap((goal) => goal.gained));
  return [
    ...[...lost].map((atom) => ({ change: 'lost' as const, atom })),
    ...[...gained].map((atom) => ({ change: 'gained' as const, atom })),
  ];
}

/** Maximum number of changed facts in a trial. */
const maxSupposed = 10_000;

const columns: readonly Column<ConclusionRow>[] = [
  {
    id: 'change',
    title: 'Change',
    width: 96,
    cell: ({ change }) => <ChangeTag change={change} />,
  },
  {
    id: 'atom',
    title: 'Conclusion',
    width: 260,
    most: 720,
    cell: ({ atom }) => <CodeLine text={atom} />,
  },
];

function useTried(comparison: ScopeComparison) {
  const { call } = useSession();
  const run = useRun<WhatIfResult>();
  const { start, clear } = run;
  const { changedRows, pair } = comparison;
  const { target } = pair;
  const supposed = useMemo(() => supposedOf(changedRows(), target), [changedRows, target]);
  const isTooMuch = Math.max(supposed.assert.length, supposed.retract.length) > maxSupposed;
  const isEmpty = supposed.assert.length + supposed.retract.length === 0;
  const canTry = !isTooMuch && !isEmpty && !isRefused(comparison);
  const again = useCallback(() => {
    const body = { ...supposed, ...scopeFieldsOfStored(target), timeoutMs: 60_000 };
    if (!canTry) return clear();
    start(async (signal) =>
      withoutSupposedAway(await call('whatIf', { body }, { signal }), supposed.retract),
    );
  }, [call, supposed, target, canTry, start, clear]);
  useEffect(() => again(), [again]);
  return { run, again, isTooMuch, isEmpty };
}

function Tried({ rows }: { rows: readonly ConclusionRow[] }) {
  return <ListGrid label="What would change" columns={columns} rows={rows} />;
}

/** Why a trial is impossible; null if it is possible. */
function reasonOf(comparison: ScopeComparison, isTooMuch: boolean, isEmpty: boolean): string | null {
  if (isRefused(comparison))
    return 'With REJECT and unresolved conflicts the merge is refused. Choose for them, or choose another strategy.';
  if (isTooMuch) return `The merge changes more than ${formatCount(maxSupposed)} facts.`;
  return isEmpty ? 'With these choices the merge changes nothing.' : null;
}

/** Shows which conclusions target would gain and lose by the merge; a trial only. */
export function MergeConclusions({ comparison }: { comparison: ScopeComparison }) {
  const { run, again, isTooMuch, isEmpty } = useTried(comparison);
  const { result, failure, runningSince, cancelledAfter } = run.state;
  const isOld = useIsOld(result);
  const rows = useMemo(() => (result === null ? [] : conclusionRows(result.goals)), [result]);
  const gained = rows.filter(({ change }) => change === 'gained').length;
  const reason = reasonOf(comparison, isTooMuch, isEmpty);
  if (reason !== null)
    return (
      <EmptyState icon={<IconEqual size={30} stroke={1.3} aria-hidden />} title="Nothing to try">
        {reason}
      </EmptyState>
    );
  if (failure !== null)
    return (
      <div className="padded">
        <ProblemNotice failure={failure} onRetry={again} />
      </div>
    );
  if (result === null)
    return runningSince === null ? (
      <div className="padded">{cancelledAfter !== null && <CancelledNote after={cancelledAfter} />}</div>
    ) : (
      <Running what="Working out what would follow" since={runningSince} onCancel={run.cancel} />
    );
  return (
    <div className="flex-column full-height" aria-busy={runningSince !== null}>
      {isOld && (
        <Banner
          action={
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconRefresh size={13} aria-hidden />}
              onClick={again}
            >
              Work out again
            </Button>
          }
        >
          The knowledge has moved on since this was worked out.
        </Banner>
      )}
      <p role="status" className="number fixed-size no-margin padded-6">
        In {sideLabel(comparison.pair.target)}: <strong>{formatAmount(gained, 'conclusion')}</strong> gained,{' '}
        <strong>{formatCount(rows.length - gained)}</strong> lost
      </p>
      <div className="rest-height">
        {rows.length === 0 ? (
          <EmptyState icon={<IconEqual size={30} stroke={1.3} aria-hidden />} title="The same holds">
            What can be concluded in {sideLabel(comparison.pair.target)} stays as it is.
          </EmptyState>
        ) : (
          <Tried rows={rows} />
        )}
      </div>
    </div>
  );
}
