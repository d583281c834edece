/** What changed between two windows, and between a session and its base. */
import { Button, Switch } from '@mantine/core';
import { IconEqual, IconGitCompare, IconMinus, IconPin, IconPlus } from '@tabler/icons-react';
import { type ReactNode, useMemo, useState } from 'react';
import { create } from 'zustand';
import type { WindowDiff } from '../../../engine/contract/context.ts';
import { useSession } from '../../api/session.tsx';
import { scopeKey, type Space } from '../../api/space.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { Banner, EmptyState, PaneProblem, Running } from '../../ui/notices.tsx';
import { Meter, Tag, type Tone } from '../../ui/tags.tsx';
import styles from './context.module.css';
import type { SessionWork } from './use-session-work.ts';
import {
  atomOfEntry,
  type ChosenWindow,
  type ComparedFact,
  compareWindows,
  differingFormFields,
} from './window-rows.ts';
import { categoryWords } from './words.ts';

const words: Readonly<Record<ComparedFact['change'], { readonly word: string; readonly tone: Tone }>> = {
  gone: { word: 'only pinned', tone: 'bad' },
  new: { word: 'only now', tone: 'good' },
  both: { word: 'in both', tone: 'plain' },
};

const icons = {
  gone: <IconMinus size={12} stroke={2.4} aria-hidden />,
  new: <IconPlus size={12} stroke={2.4} aria-hidden />,
  both: <IconEqual size={12} aria-hidden />,
} as const;

function positionInWords({ before, now }: ComparedFact): string {
  if (before === now) return `${formatCount(now ?? 0)}`;
  return `${before === null ? '–' : formatCount(before)} → ${now === null ? '–' : formatCount(now)}`;
}

const columns: Column<ComparedFact>[] = [
  {
    id: 'change',
    title: 'Change',
    width: 124,
    cell: ({ change }) => (
      <Tag tone={words[change].tone}>
        {icons[change]}
        {words[change].word}
      </Tag>
    ),
  },
  {
    id: 'fact',
    title: 'Fact',
    width: 220,
    most: 720,
    cell: ({ atom }) => <CodeLine text={atom} />,
  },
  {
    id: 'place',
    title: 'Place',
    width: 96,
    cell: (row) => <span className="number">{positionInWords(row)}</span>,
  },
  { id: 'salience', title: 'Salience', width: 108, cell: ({ entry }) => <Meter value={entry.salience} /> },
];

/** How the two windows were selected differently, in words. */
function differenceInWords(pinned: PinnedWindow, shown: ChosenWindow, isSameScope: boolean): string {
  const names = [...differingFormFields(pinned.fields, shown.fields), ...(isSameScope ? [] : ['scope'])];
  const generations =
    pinned.window.knowledgeGeneration === shown.window.knowledgeGeneration
      ? []
      : [
          `generation ${formatCount(pinned.window.knowledgeGeneration)} → ${formatCount(shown.window.knowledgeGeneration)}`,
        ];
  const form = names.length === 0 ? 'the same form' : `other ${names.join(', ')}`;
  return [form, ...generations].join(' · ');
}

interface PinnedComparisonProps {
  pinned: PinnedWindow | null;
  shown: ChosenWindow;
  onPin: (chosen: ChosenWindow | null) => void;
}

function Bar({
  pinned,
  shown,
  rows,
  children,
}: PinnedComparisonProps & { pinned: PinnedWindow; rows: readonly ComparedFact[]; children: ReactNode }) {
  const { scope } = useSession().space;
  const count = (change: ComparedFact['change']) => rows.filter((row) => row.change === change).length;
  return (
    <div className={`controls-bar gap-6-8 padded-6 line-below ${styles.filters}`}>
      <span role="status">
        <strong>
          {formatCount(count('gone'))} only pinned, {formatCount(count('new'))} only now
        </strong>
        <span className="dim">
          {' '}
          · {formatCount(count('both'))} in both ·{' '}
          {differenceInWords(pinned, shown, pinned.scope === scopeKey(scope))}
        </span>
      </span>
      <span className="rest-width" />
      {children}
    </div>
  );
}

/** Compares the shown window with the pinned one. */
export function PinnedComparison(props: PinnedComparisonProps) {
  const { pinned, shown, onPin } = props;
  const [withSame, setWithSame] = useState(false);
  const rows = useMemo(
    () => (pinned === null ? [] : compareWindows(pinned.window, shown.window)),
    [pinned, shown],
  );
  if (pinned === null)
    return (
      <EmptyState
        icon={<IconPin size={30} stroke={1.3} aria-hidden />}
        title="No window is pinned"
        actions={
          <Button variant="default" onClick={() => onPin(shown)}>
            Pin this window
          </Button>
        }
      >
        Pin the window that is shown, change the form, and see what differs.
      </EmptyState>
    );
  const listed = withSame ? rows : rows.filter(({ change }) => change !== 'both');
  return (
    <div className="flex-column full-height">
      <Bar {...props} pinned={pinned} rows={rows}>
        <Switch
          label="Show facts in both"
          checked={withSame}
          onChange={(event) => setWithSame(event.currentTarget.checked)}
        />
        <Button variant="default" onClick={() => onPin(shown)}>
          Pin this one instead
        </Button>
        <Button variant="default" onClick={() => onPin(null)}>
          Unpin
        </Button>
      </Bar>
      <div className="rest-height">
        {listed.length === 0 ? (
          <EmptyState icon={<IconEqual size={30} stroke={1.3} aria-hidden />} title="The same facts">
            {`Both windows have the same ${formatAmount(shown.window.entries.length, 'fact')}.`}
          </EmptyState>
        ) : (
          <ListGrid label="Pinned and shown window" columns={columns} rows={listed} />
        )}
      </div>
    </div>
  );
}

/** A pinned window. */
interface PinnedWindow extends ChosenWindow {
  /** `scopeKey` of its scope. */
  readonly scope: string;
}

type Where = Pick<Space, 'database' | 'tenant'>;

/** One window per database and tenant, for as long as this workbench is open. */
const useStore = create<{ readonly pinned: Readonly<Record<string, PinnedWindow | undefined>> }>()(() => ({
  pinned: {},
}));

function nameOf({ database, tenant }: Where): string {
  return JSON.stringify([database, tenant]);
}

/** Pins a window in place of the previous one; null unpins. */
export function pinWindow(space: Space, chosen: ChosenWindow | null): void {
  const pinned = chosen === null ? undefined : { ...chosen, scope: scopeKey(space.scope) };
  useStore.setState((state) => ({ pinned: { ...state.pinned, [nameOf(space)]: pinned } }));
}

/** The pinned window of a database and tenant; null: none. */
export function usePinnedWindow(space: Where): PinnedWindow | null {
  return useStore((state) => state.pinned[nameOf(space)]) ?? null;
}

type Row =
  | { readonly change: 'added'; readonly atom: string; readonly entry: WindowDiff['added'][number] }
  | { readonly change: 'removed'; readonly atom: string; readonly scope: string | null };

/** Enough of a window's id to distinguish it. */
function shortId(id: string): string {
  return id.length > 10 ? `${id.slice(0, 8)}…` : id;
}

function rowsOf({ added, removed }: WindowDiff): Row[] {
  return [
    ...added.map((entry): Row => ({ change: 'added', atom: atomOfEntry(entry), entry })),
    ...removed.map((fact): Row => ({ change: 'removed', atom: atomOfEntry(fact), scope: fact.scope })),
  ];
}

const sessionColumns: Column<Row>[] = [
  {
    id: 'change',
    title: 'Change',
    width: 112,
    cell: ({ change }) => (
      <Tag tone={change === 'added' ? 'good' : 'bad'}>
        {change === 'added' ? (
          <IconPlus size={12} stroke={2.4} aria-hidden />
        ) : (
          <IconMinus size={12} stroke={2.4} aria-hidden />
        )}
        {change}
      </Tag>
    ),
  },
  {
    id: 'fact',
    title: 'Fact',
    width: 220,
    most: 720,
    cell: ({ atom }) => <CodeLine text={atom} />,
  },
  {
    id: 'category',
    title: 'Category',
    width: 116,
    cell: (row) =>
      row.change === 'added' ? (
        <Tag tone={categoryWords[row.entry.category].tone}>{categoryWords[row.entry.category].word}</Tag>
      ) : row.scope === null ? null : (
        <span className="dim">scope {row.scope}</span>
      ),
  },
  {
    id: 'salience',
    title: 'Salience',
    width: 108,
    cell: (row) => (row.change === 'added' ? <Meter value={row.entry.salience} /> : null),
  },
];

function Found({ session, diff }: { session: string; diff: WindowDiff }) {
  const rows = useMemo(() => rowsOf(diff), [diff]);
  return (
    <div className="flex-column full-height">
      {diff.fullRefreshRecommended && (
        <Banner>A full refresh is recommended{diff.reason === null ? '.' : `: ${diff.reason}`}</Banner>
      )}
      <div className={`controls-bar gap-6-8 padded-6 line-below ${styles.filters}`}>
        <span role="status">
          <strong>
            {formatCount(diff.added.length)} added, {formatCount(diff.removed.length)} removed
          </strong>
          <span className="dim"> · {formatCount(diff.unchanged)} unchanged · session </span>
          <code className="mono">{session}</code>
        </span>
        <span className="rest-width" />
        <span className="dim mono truncate" title={`${diff.previousWindowId} → ${diff.currentWindowId}`}>
          {shortId(diff.previousWindowId)} → {shortId(diff.currentWindowId)}
        </span>
      </div>
      <div className="rest-height">
        {rows.length === 0 ? (
          <EmptyState icon={<IconEqual size={30} stroke={1.3} aria-hidden />} title="Nothing changed">
            The session already has the facts it would get now.
          </EmptyState>
        ) : (
          <ListGrid label="Changes in the session" columns={sessionColumns} rows={rows} />
        )}
      </div>
    </div>
  );
}

/** Shows the last diff of the session named in the form. */
export function SessionDiffView({ work, session }: { work: SessionWork; session: string | undefined }) {
  const { result, failure, runningSince, cancelledAfter } = work.diff;
  if (runningSince !== null)
    return <Running what="Comparing" since={runningSince} onCancel={work.cancelCompare} />;
  if (failure !== null) return <PaneProblem failure={failure} onRetry={work.compare} />;
  // A diff of another session is not shown.
  if (result === null || result.session !== session)
    return (
      <EmptyState
        icon={<IconGitCompare size={30} stroke={1.3} aria-hidden />}
        title={cancelledAfter === null ? 'Compare a session' : 'Cancelled'}
        actions={
          session === undefined ? undefined : (
            <Button variant="default" onClick={work.compare}>
              Diff
            </Button>
          )
        }
      >
        {session === undefined
          ? 'Name a session in the form: the last window of its agent is compared with the current one.'
          : `What changed since session ‘${session}’ was last given its window.`}
      </EmptyState>
    );
  return <Found session={result.session} diff={result.diff} />;
}
