import { IconFlask } from '@tabler/icons-react';
import { useCallback, useEffect, useEffectEvent, useMemo, useState } from 'react';
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';
import { useSession } from '../../api/session.tsx';
import { withoutSupposedAway } from '../../api/supposed.ts';
import { type Run, useIsOld, useRun } from '../../api/use-run.ts';
import { AgeBanner, BusyFrame, EmptyState, PaneProblem, Running } from '../../ui/notices.tsx';
import { type Pane, Split } from '../../ui/pane.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { ChangesForm, readChanges, whatIfRequestOf } from './changes-form.tsx';
import { OutcomeView } from './outcome-view.tsx';
import { isSameSearch, type WhatIfSearch, whatIfSearchOf } from './what-if-search.ts';

/** Computes the effect of the address's changes; nothing is stored. */
function useWhatIf({ add, retract, without, goals }: WhatIfSearch): Run<WhatIfResult> & {
  again(): void;
} {
  const { call, space } = useSession();
  const run = useRun<WhatIfResult>();
  const { start, clear } = run;
  const { scope } = space;
  const again = useCallback(() => {
    const { changes, isReady } = readChanges({ add, retract, without, goals });
    if (!isReady) return clear();
    const body = whatIfRequestOf(changes, scope);
    start(async (signal) => withoutSupposedAway(await call('whatIf', { body }, { signal }), body.retract));
  }, [call, scope, start, clear, add, retract, without, goals]);
  useEffect(() => again(), [again]);
  return { ...run, again };
}

interface Staged {
  readonly staged: WhatIfSearch;
  readonly change: (part: WhatIfSearch) => void;
}

function readDraft(text: string): WhatIfSearch {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? whatIfSearchOf({ ...value }) : {};
  } catch {
    // Another version wrote it; the next change replaces it.
    return {};
  }
}

/**
 * The staged changes: a draft in this browser until they are tried, then the address.
 *
 * An address from elsewhere (a link, going back) replaces the draft.
 */
function useStaged(search: WhatIfSearch): Staged {
  const { space } = useSession();
  const [draft, setDraft] = useDraft(`what-if.${space.database}.${space.tenant}`);
  const [staged, setStaged] = useState(() => (isSameSearch(search, {}) ? readDraft(draft) : search));

  function stage({ unasked: _waits, ...next }: WhatIfSearch): void {
    setStaged(next);
    setDraft(JSON.stringify(next));
  }

  const show = useEffectEvent((next: WhatIfSearch) => {
    if (!isSameSearch(next, {}) && !isSameSearch(next, staged)) stage(next);
  });
  useEffect(() => show(search), [search]);
  return { staged, change: (part) => stage({ ...staged, ...part }) };
}

const emptied: WhatIfSearch = { add: undefined, retract: undefined, without: undefined, goals: undefined };

interface OutcomeProps {
  run: ReturnType<typeof useWhatIf>;
  /** True if the draft differs from what was tried. */
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
        ? 'This is the outcome of the previous changes.'
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

/**
 * Shows hypothetical changes and their consequences.
 *
 * The tried changes are in the address; staged ones are a draft in this browser. When the knowledge changes, the
 * outcome stays under a banner.
 */
export function WhatIfView({ search, onSearch }: WhatIfViewProps) {
  const { staged, change } = useStaged(search);
  const read = useMemo(() => readChanges(staged), [staged]);
  const run = useWhatIf(search.unasked === 'true' ? {} : search);

  function onRun(next: WhatIfSearch): void {
    change(next);
    if (!readChanges(next).isReady) return;
    const wanted = whatIfSearchOf({ ...next, unasked: undefined });
    if (isSameSearch(wanted, search) && search.unasked === undefined) run.again();
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
