/**
 * The History view: who changed what, what each change made true or untrue, and what two moments differ in.
 *
 * It is about all times, whatever moment the workbench shows. The address alone says what is listed and open.
 */
import { Button, Select, Tabs } from '@mantine/core';
import { IconHistory, IconX } from '@tabler/icons-react';
import { useCallback } from 'react';
import type { GenerationEntry, History } from '../../../engine/contract/history.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { usePredicates } from '../../api/queries.ts';
import { useKnowledgeGeneration } from '../../api/timeline.ts';
import { useIsOld } from '../../api/use-run.ts';
import { AgeBanner, EmptyState, Loading, PaneProblem } from '../../ui/notices.tsx';
import { type Pane, Split } from '../../ui/pane.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { ComparePart, type RenderProofThen } from './compare-part.tsx';
import { EntryList } from './entry-list.tsx';
import { EntryPane } from './entry-pane.tsx';
import styles from './history.module.css';
import { type HistorySearch, isFiltered, surfaces } from './history-search.ts';
import { useChanges } from './use-changes.ts';
import { whereItEnds, whyEmpty, whyGone } from './why-empty.ts';

interface PartProps {
  search: HistorySearch;
  onSearch: (part: Partial<HistorySearch>) => void;
}

const surfaceLabels = {
  http: 'HTTP',
  mcp: 'MCP',
  a2a: 'A2A',
  workbench: 'Workbench',
  cli: 'Command line',
  system: 'The service itself',
} as const;

const noFilter = {
  entity: undefined,
  predicate: undefined,
  rule: undefined,
  actor: undefined,
  surface: undefined,
} as const;

function Filters({ search, onSearch }: PartProps) {
  const predicates = usePredicates().data ?? [];
  const { entity, predicate, rule, actor, surface } = search;
  const names = new Set([
    ...predicates.map(({ name }) => name),
    ...(predicate === undefined ? [] : [predicate]),
  ]);
  const textOf = (value: string) => (value.trim() === '' ? undefined : value.trim());
  return (
    <div className="controls-bar gap-8 padded-6 line-below on-panel" role="search" aria-label="Filters">
      <TextFilter
        label="Entity"
        placeholder="Entity"
        width={170}
        value={entity ?? ''}
        onValue={(value) => onSearch({ entity: textOf(value) })}
      />
      <Select
        aria-label="Predicate"
        placeholder="Any predicate"
        w={160}
        clearable
        searchable
        data={[...names].sort()}
        value={predicate ?? null}
        onChange={(value) => onSearch({ predicate: value ?? undefined })}
      />
      <TextFilter
        label="Actor"
        placeholder="Actor"
        width={140}
        value={actor ?? ''}
        onValue={(value) => onSearch({ actor: textOf(value) })}
      />
      <Select
        aria-label="By what"
        placeholder="By anything"
        w={150}
        clearable
        data={surfaces.map((value) => ({ value, label: surfaceLabels[value] }))}
        value={surface ?? null}
        onChange={(value) => onSearch({ surface: surfaces.find((each) => each === value) })}
      />
      {rule !== undefined && (
        <Button
          variant="light"
          rightSection={<IconX size={13} aria-hidden />}
          aria-label={`All changes, not only those of the rule ${rule}`}
          onClick={() => onSearch({ rule: undefined })}
        >
          Rule {rule}
        </Button>
      )}
      {isFiltered(search) && (
        <Button variant="subtle" onClick={() => onSearch(noFilter)}>
          Clear
        </Button>
      )}
    </div>
  );
}

function Nothing({ search, since, onSearch }: PartProps & { since: History['since'] }) {
  const { title, detail } = whyEmpty(since, isFiltered(search));
  return (
    <EmptyState
      icon={<IconHistory size={30} stroke={1.3} aria-hidden />}
      title={title}
      {...(isFiltered(search)
        ? { actions: <Button onClick={() => onSearch(noFilter)}>Clear the filters</Button> }
        : {})}
    >
      {detail}
    </EmptyState>
  );
}

/** Where the list ends: more pages, or how far the history goes back. */
function Foot({ changes }: { changes: ReturnType<typeof useChanges> }) {
  const last = changes.data?.pages.at(-1);
  return (
    <div className={`flex-row spread gap-8 ${styles.foot}`}>
      {changes.hasNextPage ? (
        <Button
          variant="default"
          loading={changes.isFetchingNextPage}
          onClick={() => void changes.fetchNextPage()}
        >
          Show older changes
        </Button>
      ) : (
        <span className="small-print">{last === undefined ? '' : whereItEnds(last)}</span>
      )}
    </div>
  );
}

/** The list, or why there is none. */
function Listed({ search, onSearch, changes }: PartProps & { changes: ReturnType<typeof useChanges> }) {
  const shown = useKnowledgeGeneration();
  const { data, error, refetch } = changes;
  if (error !== null && data === undefined) {
    const failure = apiFailureOf(error);
    const gone = whyGone(failure);
    return gone === null ? (
      <PaneProblem failure={failure} onRetry={() => void refetch()} />
    ) : (
      <EmptyState icon={<IconHistory size={30} stroke={1.3} aria-hidden />} title={gone.title}>
        {gone.detail}
      </EmptyState>
    );
  }
  if (data === undefined) return <Loading />;
  const entries = data.pages.flatMap(({ generations }) => generations);
  const since = data.pages.at(-1)?.since ?? null;
  if (entries.length === 0 && !changes.hasNextPage)
    return <Nothing search={search} onSearch={onSearch} since={since} />;
  return (
    <>
      <EntryList
        entries={entries}
        open={search.open === undefined ? null : Number(search.open)}
        shown={shown ?? null}
        onOpen={(generation) => onSearch({ open: String(generation) })}
      />
      <Foot changes={changes} />
    </>
  );
}

function ChangesPart({ search, onSearch }: PartProps) {
  const changes = useChanges(search);
  const isOld = useIsOld(changes.data === undefined ? null : changes.dataUpdatedAt);
  const { open } = search;
  const listed: GenerationEntry | undefined = changes.data?.pages
    .flatMap(({ generations }) => generations)
    .find(({ generation }) => String(generation) === open);
  const list = (
    <div className="flex-column full-height">
      <Filters search={search} onSearch={onSearch} />
      {isOld && (
        <AgeBanner action="Show them" onAgain={() => void changes.refetch()}>
          There may be newer changes.
        </AgeBanner>
      )}
      <div className={`rest-height scrolls ${styles.list}`} aria-busy={changes.isFetching}>
        <Listed search={search} onSearch={onSearch} changes={changes} />
      </div>
    </div>
  );
  const panes: Pane[] = [
    { id: 'changes', least: '360px', content: list },
    ...(open === undefined
      ? []
      : [
          {
            id: 'change',
            size: '42%',
            least: '300px',
            content: (
              <EntryPane
                key={open}
                generation={Number(open)}
                listed={isFiltered(search) ? undefined : listed}
                onProof={({ atom }, { from, to }) =>
                  onSearch({
                    part: 'compare',
                    from: String(from.generation),
                    to: String(to.generation),
                    flip: atom,
                  })
                }
                onClose={() => onSearch({ open: undefined })}
              />
            ),
          },
        ]),
  ];
  return <Split id="history" orientation="horizontal" label="Resize" panes={panes} />;
}

interface HistoryViewProps {
  search: HistorySearch;
  onSearch: (search: HistorySearch) => void;
  renderProof: RenderProofThen;
}

/** The History view. */
export function HistoryView({ search, onSearch, renderProof }: HistoryViewProps) {
  const patch = useCallback(
    (part: Partial<HistorySearch>) => onSearch({ ...search, ...part }),
    [search, onSearch],
  );
  return (
    <Tabs
      className="flex-column tall"
      value={search.part ?? 'changes'}
      onChange={(value) => patch({ part: value === 'compare' ? 'compare' : undefined })}
      keepMounted={false}
    >
      <h1 className="visually-hidden">History</h1>
      <Tabs.List aria-label="Parts of the history">
        <Tabs.Tab value="changes">Changes</Tabs.Tab>
        <Tabs.Tab value="compare">Compare two moments</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="changes" className="rest-height">
        <ChangesPart search={search} onSearch={patch} />
      </Tabs.Panel>
      <Tabs.Panel value="compare" className="rest-height">
        <ComparePart search={search} onSearch={patch} renderProof={renderProof} />
      </Tabs.Panel>
    </Tabs>
  );
}
