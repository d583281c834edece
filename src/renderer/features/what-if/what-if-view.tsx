/**
 * The What-if view: changes that are only tried, and beside them what would follow from them.
 *
 * What was worked out is in the address; what is being staged is a draft of this browser. The outcome stays when
 * the knowledge moves on, and a banner says so.
 */
import { IconFlask } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useIsOld } from '../../api/use-run.ts';
import { BusyFrame } from '../../ui/busy-frame.tsx';
import { AgeBanner, EmptyState, PaneProblem } from '../../ui/notices.tsx';
import { Running } from '../../ui/running.tsx';
import { type Pane, Split } from '../../ui/split.tsx';
import { readChanges } from './changes.ts';
import { ChangesForm } from './changes-form.tsx';
import { OutcomeView } from './outcome-view.tsx';
import { useStaged } from './use-staged.ts';
import { useWhatIf } from './use-what-if.ts';
import { isSameSearch, type WhatIfSearch, whatIfSearchOf } from './what-if-search.ts';

const emptied: WhatIfSearch = { add: undefined, retract: undefined, without: undefined, goals: undefined };

interface OutcomeProps {
  run: ReturnType<typeof useWhatIf>;
  /** True where what is staged is no longer what was worked out. */
  isChanged: boolean;
  onRun: () => void;
}

function Outcome({ run, isChanged, onRun }: OutcomeProps) {
  const { state, again, cancel } = run;
  const { result, failure, runningSince, cancelledAfter } = state;
  const isOld = useIsOld(result);
  if (failure !== null) return <PaneProblem failure={failure} onRetry={again} />;
  if (result === null && runningSince !== null)
    return <Running what="Working out what would follow" since={runningSince} onCancel={cancel} />;
  if (result === null)
    return (
      <EmptyState
        icon={<IconFlask size={30} stroke={1.3} aria-hidden />}
        title={cancelledAfter === null ? 'Try a change' : 'Cancelled'}
      >
        Say what would be different, and see which conclusions would be gained and lost. Nothing is stored.
      </EmptyState>
    );
  const age = (isOld || isChanged) && (
    <AgeBanner action="Work out again" onAgain={isChanged ? onRun : again}>
      {isChanged
        ? 'This is the outcome of the changes as they were before.'
        : 'The knowledge has moved on since this was worked out. It is shown as it was.'}
    </AgeBanner>
  );
  return (
    <BusyFrame isBusy={runningSince !== null} banner={age}>
      <OutcomeView key={JSON.stringify(result.goals.map(({ goal }) => goal))} result={result} />
    </BusyFrame>
  );
}

interface WhatIfViewProps {
  search: WhatIfSearch;
  onSearch: (search: WhatIfSearch) => void;
}

export function WhatIfView({ search, onSearch }: WhatIfViewProps) {
  const { staged, change } = useStaged(search);
  const read = useMemo(() => readChanges(staged), [staged]);
  const run = useWhatIf(search);

  function onRun(next: WhatIfSearch): void {
    change(next);
    if (!readChanges(next).isReady) return;
    const wanted = whatIfSearchOf({ ...next });
    if (isSameSearch(wanted, search)) run.again();
    else onSearch(wanted);
  }

  function onClear(): void {
    change(emptied);
    onSearch({});
  }

  const panes: Pane[] = [
    {
      id: 'changes',
      size: '38%',
      least: '300px',
      content: (
        <ChangesForm
          staged={staged}
          read={read}
          onChange={change}
          run={run.state}
          onCancel={run.cancel}
          onClear={onClear}
          onRun={onRun}
        />
      ),
    },
    {
      id: 'outcome',
      least: '320px',
      content: (
        <Outcome
          run={run}
          isChanged={!isSameSearch(whatIfSearchOf({ ...staged }), search)}
          onRun={() => onRun(staged)}
        />
      ),
    },
  ];
  return <Split id="what-if" orientation="horizontal" label="Resize" panes={panes} />;
}
