/** Trying a text of rules and facts without teaching it. */
import { ActionIcon, Anchor, Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconArrowsMaximize, IconEqual, IconFlask, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';
import { ruleProblems } from '../../../engine/language/check.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { useSession } from '../../api/session.tsx';
import { type Run, useIsOld, useRun } from '../../api/use-run.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { AgeBanner, BusyFrame, EmptyState, PaneProblem, RunningActions } from '../../ui/notices.tsx';
import { PaneFrame, Split, usePaneHeight } from '../../ui/pane.tsx';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import { ChangeTag } from '../../ui/tags.tsx';
import { type Lesson, lessonOf } from './teaching.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/** A text to try, in place of a stored rule or in addition to everything. */
interface RuleTrial {
  readonly text: string;
  readonly scope: { readonly scope?: string; readonly unscoped?: true };
  /** Id of the stored rule that the text would replace; null if it is new or replaces a disabled one. */
  readonly instead: string | null;
}

/** One gained or lost conclusion. */
interface TriedLine {
  readonly change: 'gained' | 'lost';
  readonly atom: string;
}

/** Result of a trial. */
interface RuleTrialResult {
  readonly lines: readonly TriedLine[];
  readonly gained: number;
  readonly lost: number;
}

function requestFor({ facts, rules }: Lesson, { scope, instead }: RuleTrial) {
  return {
    assert: facts.map((fact) => ({ ...fact, args: [...fact.args], ...scope })),
    rules: rules.map((rule) => ({ text: renderRule(rule), ...scope })),
    withoutRules: instead === null ? [] : [instead],
    ...scope,
    timeoutMs: 20_000,
  };
}

/** Returns the body of POST /whatIf; null if the text is empty, cannot be parsed or has an unsafe rule. */
export function ruleTrialRequestOf(trial: RuleTrial) {
  const lesson = lessonOf(trial.text);
  const isSafe = lesson.rules.every((rule) => ruleProblems(rule).length === 0);
  return lesson.isReady && isSafe ? requestFor(lesson, trial) : null;
}

/** Returns lost, then gained conclusions, without duplicates among goals. */
export function triedOf({ goals }: WhatIfResult): RuleTrialResult {
  const lost = [...new Set(goals.flatMap((goal) => goal.lost))];
  const gained = [...new Set(goals.flatMap((goal) => goal.gained))];
  const lines = [
    ...lost.map((atom): TriedLine => ({ change: 'lost', atom })),
    ...gained.map((atom): TriedLine => ({ change: 'gained', atom })),
  ];
  return { lines, gained: gained.length, lost: lost.length };
}

const openKey = 'corollary.rules.try';
const pauseMs = 500;

/** Returns whether the panel is open, and the setter; survives a restart. */
export function useTryIsOpen(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setIsOpen] = useState(() =>
    readStoredState(openKey, (value) => (typeof value === 'boolean' ? value : null), false),
  );
  const set = useCallback((next: boolean) => {
    writeStored(openKey, next);
    setIsOpen(next);
  }, []);
  return [isOpen, set];
}

/** A running or finished trial. */
interface Trying extends Run<RuleTrialResult> {
  /** False if the text contains nothing to try. */
  readonly isReady: boolean;
  again(): void;
}

/** Runs the trial. `hasErrors`: the checker rejects the text, so it is not sent. */
function useTry({ text, scope, instead }: RuleTrial, hasErrors: boolean): Trying {
  const { call } = useSession();
  const scopeText = JSON.stringify(scope);
  const run = useRun<RuleTrialResult>();
  const { start, clear } = run;
  const wanted = useMemo(() => {
    const trial = { text, scope: JSON.parse(scopeText) as RuleTrial['scope'], instead };
    const request = hasErrors ? null : ruleTrialRequestOf(trial);
    return request === null ? null : JSON.stringify(request);
  }, [text, scopeText, instead, hasErrors]);
  const [settled] = useDebouncedValue(wanted, pauseMs);
  const again = useCallback(() => {
    if (settled === null) return;
    const body = JSON.parse(settled) as NonNullable<ReturnType<typeof ruleTrialRequestOf>>;
    start(async (signal) => triedOf(await call('whatIf', { body }, { signal })));
  }, [call, settled, start]);
  useEffect(() => {
    if (settled === null) clear();
    else again();
  }, [again, clear, settled]);
  return { ...run, isReady: wanted !== null, again };
}

interface TryButtonProps {
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
}

/** Shows the button that toggles the Try panel. */
export function TryButton({ isOpen, onOpen }: TryButtonProps) {
  return (
    <Tooltip label="What it would add and take away, before it is saved">
      <Button
        variant={isOpen ? 'light' : 'default'}
        leftSection={<IconFlask size={14} aria-hidden />}
        aria-pressed={isOpen}
        onClick={() => onOpen(!isOpen)}
      >
        Try
      </Button>
    </Tooltip>
  );
}

const columns: readonly Column<TriedLine>[] = [
  { id: 'change', title: 'Change', width: 92, cell: ({ change }) => <ChangeTag change={change} /> },
  { id: 'atom', title: 'Conclusion', width: 180, most: 720, cell: ({ atom }) => <CodeLine text={atom} /> },
  {
    id: 'now',
    title: 'Now',
    width: 86,
    cell: ({ change, atom }) => (
      <Anchor
        size="xs"
        tabIndex={-1}
        aria-label={`${change === 'lost' ? 'Why' : 'Why not'} ${atom}`}
        renderRoot={(props) => (
          <Link to={change === 'lost' ? '/proof' : '/why-not'} search={{ question: atom }} {...props} />
        )}
      >
        {change === 'lost' ? 'Why' : 'Why not'}
      </Anchor>
    ),
  },
];

function Lines({ lines }: { lines: RuleTrialResult['lines'] }) {
  return <ListGrid label="What would change" columns={columns} rows={lines} />;
}

function Outcome({ trying }: { trying: Trying }) {
  const { state, isReady, again } = trying;
  const isOld = useIsOld(state.result);
  if (state.failure !== null) return <PaneProblem failure={state.failure} onRetry={again} />;
  if (state.cancelledAfter !== null && state.runningSince === null)
    return (
      <EmptyState title="Cancelled" actions={<Button onClick={again}>Try again</Button>}>
        It was not worked out to the end.
      </EmptyState>
    );
  if (state.result === null)
    return (
      <EmptyState icon={<IconFlask size={28} stroke={1.3} aria-hidden />} title="Try before you teach">
        {isReady
          ? 'Working out what would follow.'
          : 'Once the text can be parsed and its rules are safe, its additions and removals appear here.'}
      </EmptyState>
    );
  return (
    <BusyFrame
      isBusy={state.runningSince !== null}
      banner={
        isOld && (
          <AgeBanner action="Try again" onAgain={again}>
            The knowledge has moved on since this was tried.
          </AgeBanner>
        )
      }
    >
      {state.result.lines.length === 0 ? (
        <EmptyState icon={<IconEqual size={28} stroke={1.3} aria-hidden />} title="Nothing would change">
          The same conclusions would hold as now.
        </EmptyState>
      ) : (
        <Lines lines={state.result.lines} />
      )}
    </BusyFrame>
  );
}

function totals({ result, runningSince }: Trying['state']): string {
  if (result === null) return runningSince === null ? '' : 'Trying';
  return `${formatAmount(result.gained, 'conclusion')} gained, ${formatCount(result.lost)} lost`;
}

/** Room for some rows of what would change, in pixels. */
const tryHeight = 300;

interface WithTryProps {
  editor: ReactNode;
  isOpen: boolean;
  panel: ReactNode;
}

/** Shows the editor and, if open, the panel beside it. */
export function WithTry({ editor, isOpen, panel }: WithTryProps) {
  usePaneHeight(isOpen ? tryHeight : null);
  return (
    <Split
      id="rules-try"
      orientation="horizontal"
      label="Resize Try"
      panes={[
        { id: 'text', least: '320px', content: editor },
        ...(isOpen ? [{ id: 'try', size: '38%', least: '260px', content: panel }] : []),
      ]}
    />
  );
}

interface TryPanelProps {
  trial: RuleTrial;
  hasErrors: boolean;
  /** The same trial as a What-if address. */
  whatIf: { readonly add?: string; readonly without?: string; readonly scope?: string };
  onClose: () => void;
}

/** Shows what the text would add and remove if it were taught now; nothing is stored. */
export function TryPanel({ trial, hasErrors, whatIf, onClose }: TryPanelProps) {
  const trying = useTry(trial, hasErrors);
  const { state, cancel } = trying;
  return (
    <PaneFrame
      scroll="own"
      tone="panel"
      label="Try"
      title="Try"
      actions={
        <>
          <span role="status" className="number no-wrap">
            {totals(state)}
          </span>
          {state.runningSince !== null && <RunningActions since={state.runningSince} onCancel={cancel} />}
          <Tooltip label="Open in What if, where more can be changed">
            <ActionIcon
              size={24}
              aria-label="What if"
              renderRoot={(props) => <Link to="/what-if" search={whatIf} {...props} />}
            >
              <IconArrowsMaximize size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Close">
            <ActionIcon size={24} aria-label="Close Try" onClick={onClose}>
              <IconX size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </>
      }
    >
      <Outcome trying={trying} />
    </PaneFrame>
  );
}
