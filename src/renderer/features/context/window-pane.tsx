/** The window that was chosen: how full it is, what is in it and what is not, and what else there is to see of it. */
import { ActionIcon, Menu, Tabs, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCopy, IconPin, IconPinFilled } from '@tabler/icons-react';
import { type ReactNode, useMemo } from 'react';
import { useSession } from '../../api/session.tsx';
import { formatAmount, formatCount, formatDuration } from '../../ui/format.ts';
import { notifyDone } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { compareWindows } from './compare-windows.ts';
import { type ContextSearch, type WindowPart, windowParts } from './context-search.ts';
import styles from './context.module.css';
import { ContradictionList, type RenderRetract } from './contradiction-list.tsx';
import { FactList } from './fact-list.tsx';
import { GoalList } from './goal-list.tsx';
import { goalsTitle } from './goals.ts';
import { KeptComparison } from './kept-comparison.tsx';
import { keepWindow, useKeptWindow } from './kept-window.ts';
import { RuleList } from './rule-list.tsx';
import { SessionDiffView } from './session-diff.tsx';
import { UsageBars } from './usage-bars.tsx';
import type { SessionWork } from './use-session-work.ts';
import type { ChosenWindow } from './use-window.ts';
import { requestAsJson, windowAsJson, windowAsText } from './window-text.ts';

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
          The request that gives it
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Summary({ chosen: { window, elapsedMs } }: { chosen: ChosenWindow }) {
  return (
    <span role="status" className={styles.summary}>
      <strong>{formatAmount(window.totalFactsIncluded, 'fact')}</strong>
      <span className="dim number">
        {' '}
        of {formatCount(window.totalFactsAvailable)} · {formatAmount(window.totalCharCount, 'character')} ·{' '}
        {formatDuration(elapsedMs)} · generation {formatCount(window.knowledgeGeneration)}
      </span>
    </span>
  );
}

export interface WindowPaneProps {
  chosen: ChosenWindow;
  search: ContextSearch;
  /** Changes what is looked at. */
  onLook: (part: Pick<ContextSearch, 'part' | 'rows' | 'fact'>) => void;
  session: SessionWork;
  onKeepBoth: (keepBoth: boolean) => void;
  onRetracted: () => void;
  renderRetract: RenderRetract;
}

function Parts(props: WindowPaneProps) {
  const { chosen, search, onLook, session } = props;
  const { space } = useSession();
  const kept = useKeptWindow(space);
  const { window } = chosen;
  const differing = useMemo(
    () =>
      kept === null
        ? 0
        : compareWindows(kept.window, window).filter(({ change }) => change !== 'both').length,
    [kept, window],
  );
  const panels: Readonly<Record<WindowPart, { readonly title: string; readonly content: ReactNode }>> = {
    facts: {
      title: 'Facts',
      content: (
        <FactList
          chosen={chosen}
          rows={search.rows}
          onRows={(rows) => onLook({ rows })}
          fact={search.fact}
          onFact={(fact) => onLook({ fact })}
        />
      ),
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
      title: kept === null ? 'Pinned' : `Pinned (${formatCount(differing)} differ)`,
      content: <KeptComparison kept={kept} shown={chosen} onKeep={(next) => keepWindow(space, next)} />,
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
      className={styles.tabs ?? ''}
    >
      <Tabs.List>
        {windowParts.map((part) => (
          <Tabs.Tab key={part} value={part}>
            {panels[part].title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {windowParts.map((part) => (
        <Tabs.Panel key={part} value={part} className={styles.tabPanel ?? ''}>
          {panels[part].content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

export function WindowPane(props: WindowPaneProps) {
  const { chosen, search } = props;
  const { space } = useSession();
  const kept = useKeptWindow(space);
  const isKept = kept?.window === chosen.window;
  return (
    <PaneFrame
      scroll="own"
      label="Window"
      title={<Summary chosen={chosen} />}
      actions={
        <>
          <Tooltip label={isKept ? 'Unpin this window' : 'Pin this window, to compare others with it'}>
            <ActionIcon
              aria-label="Pin this window"
              aria-pressed={isKept}
              {...(isKept ? { variant: 'light', color: 'iris' } : {})}
              onClick={() => keepWindow(space, isKept ? null : chosen)}
            >
              {isKept ? <IconPinFilled size={16} aria-hidden /> : <IconPin size={16} aria-hidden />}
            </ActionIcon>
          </Tooltip>
          <CopyMenu chosen={chosen} session={search.session} />
        </>
      }
    >
      <div className={styles.window}>
        <UsageBars chosen={chosen} />
        <Parts {...props} />
      </div>
    </PaneFrame>
  );
}
