import { Button, SegmentedControl, Tabs } from '@mantine/core';
import { IconBrain } from '@tabler/icons-react';
import { type ReactNode, useCallback } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { MemoryStats } from '../../../engine/contract/memory.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { useSession } from '../../api/session.tsx';
import { scopeLabel } from '../../api/space.ts';
import { conclusionsInWords } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { EmptyState, FirstFacts, ProblemNotice } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, PaneTitle, Split } from '../../ui/pane.tsx';
import { ConsolidatePart } from './consolidate-part.tsx';
import { EntryGrid } from './entry-grid.tsx';
import { EvictPart } from './evict-part.tsx';
import { MemoryDetail } from './memory-detail.tsx';
import {
  type Horizon,
  horizons,
  predicateListOf,
  type MemoryPart,
  memoryParts,
  type MemorySearch,
  listedPredicatesOf,
  thresholdOf,
} from './memory-search.ts';
import { Overview } from './overview.tsx';
import { PredicateChoice } from './predicate-choice.tsx';
import { RunsPart } from './runs-part.tsx';
import { SummariesPart } from './summaries-part.tsx';
import { type MemoryChanges, useMemoryChanges } from './use-fact-changes.ts';
import { listLength, useEvictable, useExpiring, useSalient, useStats } from './use-memory.ts';
import { type Restoring, useRestoring } from './measured.tsx';
import styles from './memory.module.css';

interface PartProps {
  search: MemorySearch;
  onSearch: (part: Partial<MemorySearch>) => void;
  changes: MemoryChanges;
}

/** Props of a list for the open fact. */
function openOf({ search, onSearch }: PartProps) {
  return { open: search.fact, onOpen: (fact: string) => onSearch({ fact }) };
}

function SalientPart(props: PartProps) {
  const { search, onSearch, changes } = props;
  const predicates = listedPredicatesOf(search.predicates);
  const salient = useSalient(predicates);
  return (
    <div className="flex-column full-height">
      <div className={styles.toolbar}>
        <PredicateChoice
          label="Predicates of the most salient facts"
          placeholder="All predicates"
          minArity={0}
          chosen={predicates}
          onChosen={(names) => onSearch({ predicates: predicateListOf(names) })}
        />
        <span className="dim number" role="status">
          {salient.data !== undefined &&
            `${formatCount(salient.data.returned)} of ${formatAmount(salient.data.totalFacts, 'fact')}`}
        </span>
      </div>
      <div className="rest-height">
        <AnswerOrFailure asked={salient}>
          {({ facts }) =>
            facts.length === 0 ? (
              <EmptyState title="No facts of these predicates" />
            ) : (
              <EntryGrid label="Most salient facts" rows={facts} changes={changes} {...openOf(props)} />
            )
          }
        </AnswerOrFailure>
      </div>
    </div>
  );
}

function FadingPart({ stats, ...props }: PartProps & { stats: MemoryStats }) {
  if (stats.fading.length === 0)
    return (
      <EmptyState title="Nothing fades">
        {stats.facts === 0 ? 'There are no facts here yet.' : 'All facts there are, are pinned.'}
      </EmptyState>
    );
  return <EntryGrid label="Fading facts" rows={stats.fading} changes={props.changes} {...openOf(props)} />;
}

const horizonWords: Record<Horizon, string> = { hour: 'An hour', day: 'A day', week: 'A week' };

function ExpiringPart(props: PartProps) {
  const { search, onSearch, changes } = props;
  const within = search.within ?? 'day';
  const expiring = useExpiring(within);
  return (
    <div className="flex-column full-height">
      <div className={styles.toolbar}>
        <SegmentedControl
          aria-label="How soon they expire"
          value={within}
          onChange={(value) => {
            const horizon = horizons.find((known) => known === value);
            onSearch({ within: horizon === 'day' ? undefined : horizon });
          }}
          data={horizons.map((value) => ({ value, label: horizonWords[value] }))}
        />
        <span className="dim">
          {expiring.data?.length === listLength && `The first ${formatCount(listLength)} to end.`}
        </span>
      </div>
      <div className="rest-height">
        <AnswerOrFailure asked={expiring}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState title="Nothing expires so soon">
                A fact expires at the end of its validity, which a ttl or validUntil gives it.
              </EmptyState>
            ) : (
              <EntryGrid label="Expiring facts" rows={rows} changes={changes} {...openOf(props)} />
            )
          }
        </AnswerOrFailure>
      </div>
    </div>
  );
}

const partWords: Record<MemoryPart, string> = {
  salient: 'Most salient',
  fading: 'Fading',
  expiring: 'Expiring',
  evict: 'Would be evicted',
  consolidate: 'Consolidate',
  summaries: 'Summaries',
  runs: 'Runs',
};

interface PartsProps extends PartProps {
  stats: MemoryStats;
  evictable: ReturnType<typeof useEvictable>;
  restoring: Restoring;
}

function PartContent({ part, stats, evictable, restoring, ...props }: PartsProps & { part: MemoryPart }) {
  switch (part) {
    case 'salient':
      return <SalientPart {...props} />;
    case 'fading':
      return <FadingPart {...props} stats={stats} />;
    case 'expiring':
      return <ExpiringPart {...props} />;
    case 'evict':
      return (
        <EvictPart
          evictable={evictable}
          threshold={thresholdOf(props.search)}
          onOpen={openOf(props).onOpen}
        />
      );
    case 'consolidate':
      return <ConsolidatePart {...props} />;
    case 'summaries':
      return <SummariesPart restoring={restoring} {...openOf(props)} />;
    case 'runs':
      return <RunsPart />;
  }
}

function Parts(props: PartsProps) {
  const { search, onSearch } = props;
  return (
    <Tabs
      className={`flex-column tall ${styles.parts}`}
      value={search.part ?? 'salient'}
      onChange={(value) => {
        const part = memoryParts.find((known) => known === value);
        onSearch({ part: part === 'salient' ? undefined : part });
      }}
    >
      <Tabs.List>
        {memoryParts.map((part) => (
          <Tabs.Tab key={part} value={part}>
            {partWords[part]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {memoryParts.map((part) => (
        <Tabs.Panel key={part} value={part} className="rest-height">
          <PartContent {...props} part={part} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** Shows the failure of a change of a single fact. */
function ChangeProblem({ changes }: { changes: MemoryChanges }) {
  if (changes.failure === null) return null;
  return (
    <div className="fixed-size padded-8">
      <ProblemNotice failure={changes.failure} />
      <Button mt={6} size="compact-xs" variant="default" onClick={changes.dismiss}>
        Dismiss
      </Button>
    </div>
  );
}

function Nothing() {
  const { space } = useSession();
  return (
    <EmptyState
      icon={<IconBrain size={30} stroke={1.3} aria-hidden />}
      title="Nothing to remember yet"
      actions={<FirstFacts />}
    >
      There are no facts {space.scope.kind === 'all' ? 'here' : `in ${scopeLabel(space.scope)}`}. Once there
      are, this shows how present each is, and what fades.
    </EmptyState>
  );
}

interface MemoryViewProps {
  search: MemorySearch;
  onSearch: (search: MemorySearch) => void;
  /** Confirmation before a fact is retracted. */
  renderForget: (fact: StoredFact, onClose: () => void, onForgotten: () => void) => ReactNode;
}

/**
 * Shows salience, fading and expiring facts, and what can be done about them.
 *
 * Nothing is removed without having been listed. The address says what is shown; the scope is the space's. Changes
 * from here are recorded with the figures before and after.
 */
export function MemoryView({ search, onSearch, renderForget }: MemoryViewProps) {
  const stats = useStats();
  const evictable = useEvictable(thresholdOf(search));
  const changes = useMemoryChanges();
  const restoring = useRestoring();
  const patch = useCallback(
    (part: Partial<MemorySearch>) => onSearch({ ...search, ...part }),
    [search, onSearch],
  );
  const close = () => patch({ fact: undefined });
  const props = { search, onSearch: patch, changes, evictable, restoring };
  const main = (
    <PaneFrame
      scroll="own"
      label="Memory"
      title={<PaneTitle isWhole>Memory</PaneTitle>}
      actions={
        <span className="dim number" role="status">
          {stats.data !== undefined &&
            `${formatAmount(stats.data.facts, 'fact')} · ${conclusionsInWords(stats.data)}`}
        </span>
      }
    >
      <AnswerOrFailure asked={stats}>
        {(data) =>
          data.facts === 0 && evictable.data?.evicted === 0 && search.part === undefined ? (
            <Nothing />
          ) : (
            <div className="flex-column full-height">
              <ChangeProblem changes={changes} />
              <Overview stats={data} evictable={evictable} search={search} onSearch={patch} />
              <div className="rest-height">
                <Parts {...props} stats={data} />
              </div>
            </div>
          )
        }
      </AnswerOrFailure>
    </PaneFrame>
  );
  const panes: Pane[] = [{ id: 'main', least: '420px', content: main }];
  if (search.fact !== undefined)
    panes.push({
      id: 'detail',
      size: '330px',
      least: '220px',
      content: (
        <MemoryDetail
          key={search.fact}
          id={search.fact}
          changes={changes}
          restoring={restoring}
          onClose={close}
        />
      ),
    });
  return (
    <>
      <Split id="memory" orientation="horizontal" label="Resize" panes={panes} />
      {changes.forgetting !== null &&
        renderForget(changes.forgetting, changes.stopForgetting, () => {
          if (changes.forgetting?.id === search.fact) close();
        })}
    </>
  );
}
