import { ActionIcon, Anchor, Button, Tooltip } from '@mantine/core';
import { IconArrowsMaximize, IconEqual, IconFlask, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useIsOld } from '../../api/use-run.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import { BusyFrame } from '../../ui/busy-frame.tsx';
import { ChangeTag } from '../../ui/change-tag.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { AgeBanner, EmptyState, PaneProblem } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { RunningActions } from '../../ui/running.tsx';
import { Split } from '../../ui/split.tsx';
import type { RuleTrialResult, TriedLine, RuleTrial } from './trying.ts';
import { type Trying, useTry } from './use-try.ts';

const columns: readonly Column<TriedLine>[] = [
  { id: 'change', title: 'Change', width: 92, cell: ({ change }) => <ChangeTag change={change} /> },
  { id: 'atom', title: 'Conclusion', width: 180, grow: 3, cell: ({ atom }) => <CodeLine text={atom} /> },
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
  const [selected, setSelected] = useState<number | null>(null);
  return (
    <DataGrid
      label="What would change"
      columns={columns}
      count={lines.length}
      rowAt={(index) => lines[index]}
      selected={selected}
      onSelect={setSelected}
    />
  );
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

interface WithTryProps {
  editor: ReactNode;
  isOpen: boolean;
  panel: ReactNode;
}

/** Shows the editor and, if open, the panel beside it. */
export function WithTry({ editor, isOpen, panel }: WithTryProps) {
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
