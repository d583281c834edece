/**
 * The selected window: how full it is, its facts and those left out, its goals, contradictions and rules, and
 * comparisons.
 */
import { ActionIcon, Anchor, Menu, Tabs } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCopy, IconPin, IconPinFilled, IconRoute2, IconTarget } from '@tabler/icons-react';
import { type ReactNode, useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import { goalWords } from '../../api/goal-words.ts';
import { readingsInWords } from '../../api/mentions.ts';
import { useRules } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { AtomLink, CodeText } from '../../editor/code-text.tsx';
import { MentionedText } from '../../editor/mentioned-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount, formatCount, formatDuration } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import {
  type ChosenWindow,
  compareWindows,
  isUnknown,
  requestAsJson,
  windowAsJson,
  windowAsText,
} from './window-rows.ts';
import { type ContextSearch, type WindowPart, windowParts } from './context-search.ts';
import styles from './context.module.css';
import { ContradictionList, type RenderRetract } from './contradiction-list.tsx';
import { WindowFacts } from './fact-list.tsx';
import { WindowText } from './window-text.tsx';
import { goalInWords, goalsTitle } from './words.ts';
import { PinnedComparison, pinWindow, SessionDiffView, usePinnedWindow } from './window-differences.tsx';
import type { SessionWork } from './use-session-work.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

function CopyMenu({
  chosen: { window, request },
  session,
}: {
  chosen: ChosenWindow;
  session: string | undefined;
}) {
  const clipboard = useClipboard();
  function copy(text: string, what: string): void {
    clipboard.copy(text);
    notifyDone(`Copied ${what}`);
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label="Copy what an agent would get">
          <ActionIcon aria-label="Copy what an agent would get">
            <IconCopy size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => copy(windowAsJson(window), 'the answer')}>The answer as JSON</Menu.Item>
        <Menu.Item onClick={() => copy(windowAsText(window), 'the facts and rules')}>
          Facts and rules as text
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => copy(requestAsJson(request, session), 'the request')}>
          The request for this window
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Summary({ chosen: { window, elapsedMs } }: { chosen: ChosenWindow }) {
  return (
    <span role="status" className="truncate">
      <strong>{formatAmount(window.totalFactsIncluded, 'fact')}</strong>
      <span className="dim number">
        {' '}
        of {formatCount(window.totalFactsAvailable)} · {formatAmount(window.totalTokenCount, 'token')} ·{' '}
        {formatDuration(elapsedMs)} · generation {formatCount(window.knowledgeGeneration)}
      </span>
    </span>
  );
}

interface WindowPaneProps {
  chosen: ChosenWindow;
  search: ContextSearch;
  /** Changes what is shown of the window. */
  onLook: (part: Pick<ContextSearch, 'part' | 'rows' | 'fact'>) => void;
  session: SessionWork;
  onKeepBoth: (keepBoth: boolean) => void;
  onRetracted: () => void;
  renderRetract: RenderRetract;
}

/** The pinned window, and in how many facts the shown one differs from it. */
function usePinnedDifference(window: ChosenWindow['window']) {
  const pinned = usePinnedWindow(useSession().space);
  const differing = useMemo(
    () =>
      pinned === null
        ? 0
        : compareWindows(pinned.window, window).filter(({ change }) => change !== 'both').length,
    [pinned, window],
  );
  return { pinned, differing };
}

function Parts(props: WindowPaneProps) {
  const { chosen, search, onLook, session } = props;
  const { space } = useSession();
  const { window } = chosen;
  const { pinned, differing } = usePinnedDifference(window);
  const panels: Readonly<Record<WindowPart, { readonly title: string; readonly content: ReactNode }>> = {
    facts: {
      title: 'Facts',
      content: (
        <WindowFacts
          chosen={chosen}
          rows={search.rows}
          onRows={(rows) => onLook({ rows })}
          fact={search.fact}
          onFact={(fact) => onLook({ fact })}
        />
      ),
    },
    text: {
      title: 'Text',
      // Asked for only where it is seen.
      content: search.part === 'text' ? <WindowText chosen={chosen} /> : null,
    },
    goals: { title: goalsTitle(window.goals), content: <GoalList chosen={chosen} /> },
    contradictions: {
      title: `Contradictions (${formatCount(window.contradictions.length)})`,
      content: <ContradictionList {...props} fact={search.fact} onFact={(fact) => onLook({ fact })} />,
    },
    rules: {
      title: `Rules (${formatCount(window.relevantRules.length)})`,
      content: <RuleList chosen={chosen} />,
    },
    kept: {
      title: pinned === null ? 'Pinned' : `Pinned (${formatCount(differing)} differ)`,
      content: <PinnedComparison pinned={pinned} shown={chosen} onPin={(next) => pinWindow(space, next)} />,
    },
    session: {
      title: 'Session',
      content: <SessionDiffView work={session} session={search.session} />,
    },
  };
  return (
    <Tabs
      value={search.part ?? 'facts'}
      onChange={(value) => {
        const part = windowParts.find((known) => known === value);
        onLook({ part: part === 'facts' ? undefined : part });
      }}
      className="flex-column rest-height"
    >
      <Tabs.List>
        {windowParts.map((part) => (
          <Tabs.Tab key={part} value={part}>
            {panels[part].title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {windowParts.map((part) => (
        <Tabs.Panel key={part} value={part} className="rest-height">
          {panels[part].content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** The pane of the selected window. */
export function WindowPane(props: WindowPaneProps) {
  const { chosen, search } = props;
  const { space } = useSession();
  const pinned = usePinnedWindow(space);
  const isPinned = pinned?.window === chosen.window;
  return (
    <PaneFrame
      scroll="own"
      label="Window"
      title={<Summary chosen={chosen} />}
      actions={
        <>
          <Tooltip label={isPinned ? 'Unpin this window' : 'Pin this window, to compare others with it'}>
            <ActionIcon
              aria-label="Pin this window"
              aria-pressed={isPinned}
              {...(isPinned ? { variant: 'light', color: 'iris' } : {})}
              onClick={() => pinWindow(space, isPinned ? null : chosen)}
            >
              {isPinned ? <IconPinFilled size={16} aria-hidden /> : <IconPin size={16} aria-hidden />}
            </ActionIcon>
          </Tooltip>
          <CopyMenu chosen={chosen} session={search.session} />
        </>
      }
    >
      <div className="flex-column full-height">
        <UsageBars chosen={chosen} />
        <AskedQuestion chosen={chosen} />
        <Parts {...props} />
      </div>
    </PaneFrame>
  );
}

interface UsageBarProps {
  label: string;
  used: number;
  /** null: no limit. */
  limit: number | null;
  /** Shown beside the numbers. */
  note?: string;
  title?: string;
}

function UsageBar({ label, used, limit, note, title }: UsageBarProps) {
  const share = limit === null || limit === 0 ? 0 : Math.min(1, used / limit);
  const words =
    limit === null ? `${formatCount(used)}, no limit` : `${formatCount(used)} of ${formatCount(limit)}`;
  return (
    <div {...(title === undefined ? {} : { title })}>
      <div className="spread flex gap-8 no-wrap">
        <span className={styles.usageLabel}>{label}</span>
        <span className="number">{words}</span>
      </div>
      <div
        className={styles.usageTrack}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit ?? Math.max(1, used)}
        aria-valuenow={limit === null ? used : Math.min(used, limit)}
        aria-valuetext={words}
      >
        <span className={styles.usageFill} style={{ width: `${share * 100}%` }} />
      </div>
      {note !== undefined && <span className={`dim number ${styles.usageNote}`}>{note}</span>}
    </div>
  );
}

function salienceNote(min: number | null, max: number | null): string {
  if (min === null || max === null) return 'empty';
  const [from, to] = [min.toFixed(2), max.toFixed(2)];
  return from === to ? `salience ${from}` : `salience ${from} – ${to}`;
}

/** Further figures of the window as a whole. */
function Counts({ chosen: { window } }: { chosen: ChosenWindow }) {
  const parts = [`${formatAmount(window.totalFactsAvailable, 'fact')} available`];
  if (window.goalDriven) parts.push('chosen for goals');
  if (window.deduplicationSavings > 0)
    parts.push(`${formatAmount(window.deduplicationSavings, 'duplicate')} left out`);
  if (window.contradictionsFound > 0)
    parts.push(
      `${formatAmount(window.contradictionsFound, 'contradiction')}, ${formatCount(window.contradictionsResolved)} resolved`,
    );
  return <p className={`dim number ${styles.counts}`}>{parts.join(' · ')}</p>;
}

/** How much of the window's budgets is used: facts, characters, and each bucket. */
function UsageBars({ chosen }: { chosen: ChosenWindow }) {
  const { window, request } = chosen;
  const buckets = Object.entries(window.bucketStats);
  const predicatesOf = new Map((request.relevanceBuckets ?? []).map((each) => [each.name, each.predicates]));
  return (
    <section className="fixed-size padded-8 line-below" aria-label="Usage">
      <div
        className={styles.bars}
        {...(buckets.length > 6 ? { tabIndex: 0, role: 'group', 'aria-label': 'Bars' } : {})}
      >
        <UsageBar label="Facts" used={window.totalFactsIncluded} limit={request.maxFacts ?? null} />
        <UsageBar label="Characters" used={window.totalCharCount} limit={request.maxChars ?? null} />
        <UsageBar label="Tokens" used={window.totalTokenCount} limit={request.maxTokens ?? null} />
        {buckets.map(([name, stats]) => (
          <UsageBar
            key={name}
            label={name}
            used={stats.factsIncluded}
            limit={stats.maxAllocation}
            note={salienceNote(stats.minSalience, stats.maxSalience)}
            title={(predicatesOf.get(name) ?? []).join(', ')}
          />
        ))}
      </div>
      <Counts chosen={chosen} />
    </section>
  );
}

/** The question of the window with what it names; nothing without a question. */
function AskedQuestion({ chosen }: { chosen: ChosenWindow }) {
  const { window, request } = chosen;
  const { query } = request;
  const { mentions = [] } = window;
  if (query === undefined || query === null) return null;
  const readings = readingsInWords(mentions);
  return (
    <section
      className={`fixed-size padded-8 line-below ${styles.question}`}
      aria-label="Asked in plain words"
    >
      <MentionedText text={query} mentions={mentions} />
      {mentions.length === 0 && (
        <p className="dim no-margin">
          {isUnknown(chosen)
            ? 'Nothing known has these words.'
            : 'The words name no constant and no predicate, so they became no goal.'}
        </p>
      )}
      <span role="status" className="visually-hidden">
        {readings}
      </span>
    </section>
  );
}

function Answers({ atoms, found }: { atoms: readonly string[]; found: number }) {
  if (atoms.length === 0) return null;
  const rest = found - atoms.length;
  return (
    <ul className="plain-list gap-2-12 flex-wrap flex">
      {atoms.map((atom) => (
        <li key={atom}>
          <AtomLink atom={atom} />
        </li>
      ))}
      {rest > 0 && <li className={`dim ${styles.rest}`}>and {formatCount(rest)} more</li>}
    </ul>
  );
}

/** The outcome of each goal: whether the window contains a proof of it, and what one needs. */
function GoalList({ chosen: { window, request } }: { chosen: ChosenWindow }) {
  const leftOut = window.goalsLeftOut ?? 0;
  if (window.goals.length === 0)
    return (
      <EmptyState icon={<IconTarget size={30} stroke={1.3} aria-hidden />} title="No goals">
        {(request.query ?? '') === ''
          ? 'Give a question or goals on the left: the proofs of their answers come first.'
          : 'The question became no goal that has an answer. Name what it is about, or give goals on the left.'}
      </EmptyState>
    );
  return (
    <ol className={styles.rules} tabIndex={0} aria-label="Goals of the window">
      {window.goals.map((each, position) => {
        const { word, tone, meaning } = goalWords[each.status];
        return (
          // Goals can repeat.
          <li key={`${position} ${each.goal}`} className={styles.goal}>
            <span className="flex-row gap-8">
              <span className="rest-width">
                <CodeText text={each.goal} />
              </span>
              <span title={meaning}>
                <Tag tone={tone}>{word}</Tag>
              </span>
            </span>
            <span className="dim">{goalInWords(each)}</span>
            <Answers atoms={each.atoms} found={each.answers.found} />
          </li>
        );
      })}
      {leftOut > 0 && (
        <li className="dim">
          {formatAmount(leftOut, 'more goal')} of the question {leftOut === 1 ? 'was' : 'were'} not worked out
          or not kept. Name a predicate, or fewer names.
        </li>
      )}
    </ol>
  );
}

/** The rules that an agent gets with the window. */
function RuleList({ chosen: { window } }: { chosen: ChosenWindow }) {
  const known = useRules().data ?? [];
  if (window.relevantRules.length === 0)
    return (
      <EmptyState icon={<IconRoute2 size={30} stroke={1.3} aria-hidden />} title="No rules">
        {window.goalDriven
          ? 'No proof in this window uses a rule.'
          : 'No rule is about the predicates in this window.'}
      </EmptyState>
    );
  return (
    <ol className={styles.rules} tabIndex={0} aria-label="Rules of the window">
      {window.relevantRules.map((text) => {
        const rule = known.find((candidate) => candidate.text === text);
        return (
          <li key={text}>
            <span className="rest-width">
              <CodeText text={text} />
            </span>
            {rule !== undefined && (
              <Anchor
                size="xs"
                renderRoot={(props) => <Link to="/rules" search={{ rule: rule.id }} {...props} />}
              >
                Open the rule
              </Anchor>
            )}
            <CopyButton text={text} label="Copy the rule" />
          </li>
        );
      })}
    </ol>
  );
}
