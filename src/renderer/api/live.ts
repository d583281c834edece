/**
 * What a change in the knowledge base makes stale, and the state of the connection.
 *
 * Changes arrive one by one, thousands in a second after a bulk write; they are gathered for a moment and then
 * invalidate exactly the topics they concern, of their own database and tenant. Queries name their topic first in
 * their key; what is no query (the pages of the fact grid, a shown answer) watches the version of its topic.
 */
import type { QueryClient } from '@tanstack/react-query';
import { create } from 'zustand';
import type { ChangeKind } from '../../engine/contract/administration.ts';
import type { ServiceEndpoint } from './client.ts';
import { noteRefused } from './credential.ts';
import { type EventStream, openEventStream, type StreamedChange, type StreamState } from './event-stream.ts';
import { ApiError } from './problem.ts';

const knowledgeTopics = ['facts', 'predicates', 'rules', 'answers', 'databases'] as const;
/** What can grow stale on its own. `answers`: every conclusion that is shown; `agents`: what agents called. */
export const topics = [...knowledgeTopics, 'agents'] as const;
export type Topic = (typeof topics)[number];

/** How long changes are gathered before views are told, in milliseconds. */
const gatherMs = 120;

const concernedBy: Record<ChangeKind, readonly Topic[]> = {
  'fact.asserted': ['facts', 'predicates', 'answers', 'databases'],
  'fact.retracted': ['facts', 'predicates', 'answers', 'databases'],
  'conclusion.withdrawn': ['facts', 'predicates', 'answers'],
  'rule.changed': knowledgeTopics,
  'scope.changed': knowledgeTopics,
  'memory.evicted': ['facts', 'predicates', 'answers', 'databases'],
  'mcp.call': ['agents'],
  reset: topics,
};

/** The changes after which their fact is no more. */
const tellsOfGone: ReadonlySet<ChangeKind> = new Set(['fact.retracted', 'memory.evicted']);

/** The topics that any of the changes concerns. */
export function topicsOf(changes: readonly { kind: ChangeKind }[]): ReadonlySet<Topic> {
  return new Set(changes.flatMap((change) => concernedBy[change.kind]));
}

interface LiveState {
  readonly stream: StreamState;
  /** The greatest generation heard of in this space; null before the first. */
  readonly generation: number | null;
  /** Counts the times a topic was found stale. */
  readonly versions: Readonly<Record<Topic, number>>;
  /** Ids of facts that were retracted while this window looked on: asking for them would fail. */
  readonly gone: ReadonlySet<string>;
}

const freshVersions: Readonly<Record<Topic, number>> = {
  facts: 0,
  predicates: 0,
  rules: 0,
  answers: 0,
  databases: 0,
  agents: 0,
};

export const useLive = create<LiveState>()(() => ({
  stream: { kind: 'connecting' },
  generation: null,
  versions: freshVersions,
  gone: new Set(),
}));

/** Notes facts that are no more, so that what shows them stops asking. */
export function noteGone(ids: readonly string[]): void {
  if (ids.length > 0) useLive.setState(({ gone }) => ({ gone: new Set([...gone, ...ids]) }));
}

/** Notes a generation that an answer carried. */
export function noteGeneration(generation: number): void {
  useLive.setState((state) =>
    state.generation !== null && state.generation >= generation ? state : { generation },
  );
}

/** The first parts of a query's key: its topic and whose knowledge it is about. */
export function queryKeyOf(
  topic: Topic,
  endpoint: ServiceEndpoint,
  ...more: readonly unknown[]
): readonly unknown[] {
  return [topic, endpoint.database, endpoint.tenant, ...more];
}

/** Makes everything of the topics stale, so that what is on screen is fetched again. */
export function invalidate(client: QueryClient, endpoint: ServiceEndpoint, stale: Iterable<Topic>): void {
  const versions = { ...useLive.getState().versions };
  for (const topic of stale) {
    versions[topic] += 1;
    void client.invalidateQueries({
      queryKey: topic === 'databases' ? [topic] : queryKeyOf(topic, endpoint),
    });
  }
  useLive.setState({ versions });
}

/**
 * Has `onMissing` called when a query is told that there is no such database, for queries about that database. A
 * stream of changes stays open when its database is deleted, so this is how that is noticed. Returns the way to stop.
 */
function watchForMissing(client: QueryClient, database: string, onMissing: () => void): () => void {
  return client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return;
    const { error } = event.action;
    if (
      error instanceof ApiError &&
      error.code === 'DatabaseNotFound' &&
      event.query.queryKey[1] === database
    )
      onMissing();
  });
}

/** Keeps the workbench in step with one space. Returns the way to stop. */
export function followChanges(client: QueryClient, endpoint: ServiceEndpoint): EventStream {
  let gathered: StreamedChange[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  let wasLost = false;
  const { key } = endpoint;
  useLive.setState({ generation: null, gone: new Set() });

  function publish(): void {
    timer = null;
    const changes = gathered;
    gathered = [];
    noteGeneration(changes.reduce((greatest, change) => Math.max(greatest, change.generation), 0));
    noteGone(changes.flatMap(({ kind, id }) => (tellsOfGone.has(kind) && id !== undefined ? [id] : [])));
    // Once views have seen what is gone.
    setTimeout(() => invalidate(client, endpoint, topicsOf(changes)), 0);
  }

  const stream = openEventStream(endpoint, {
    onChanges(changes) {
      gathered.push(...changes);
      timer ??= setTimeout(publish, gatherMs);
    },
    onState(state) {
      useLive.setState({ stream: state });
      if (state.kind === 'refused') noteRefused(key, state.failure);
      // The key may have been restricted, so that it does not reach this space any more.
      if (state.kind === 'waiting' && state.failure.code === 'Forbidden')
        void client.invalidateQueries({ queryKey: ['service', 'whoami'] });
      if (state.kind === 'waiting' || state.kind === 'refused') wasLost = true;
      else if (state.kind === 'live' && wasLost) {
        // What failed or was missed while the service was away is asked for again.
        wasLost = false;
        invalidate(client, endpoint, topics);
        void client.invalidateQueries({ queryKey: ['service'] });
      }
    },
  });

  const unwatch = watchForMissing(client, endpoint.database, () => {
    if (useLive.getState().stream.kind === 'live') stream.reconnect();
  });

  return {
    ...stream,
    close() {
      unwatch();
      if (timer !== null) clearTimeout(timer);
      stream.close();
    },
  };
}
