/**
 * Cache invalidation after changes of the knowledge base, and the state of the connection.
 *
 * A bulk write sends thousands of changes a second; they are batched, and then invalidate exactly the topics
 * concerned, in their database and tenant. Query keys begin with their topic; state outside of queries (pages of the
 * fact grid, a shown answer) watches the version of its topic.
 */
import type { QueryClient } from '@tanstack/react-query';
import { create } from 'zustand';
import type { ChangeKind } from '../../engine/contract/administration.ts';
import type { ApiEndpoint } from './client.ts';
import { noteRefused } from './credential.ts';
import { type EventStream, openEventStream, type StreamedChange, type StreamState } from './event-stream.ts';
import type { PastMoment } from './moment.ts';
import { ApiError } from './problem.ts';

const knowledgeTopics = ['facts', 'predicates', 'rules', 'answers', 'databases'] as const;
/** What can grow stale separately. `answers` covers all shown conclusions, `agents` the calls of agents. */
export const topics = [...knowledgeTopics, 'agents'] as const;
/** A topic. */
export type Topic = (typeof topics)[number];

/** Batching delay of changes in milliseconds. */
const gatherMs = 120;

const concernedBy: Record<ChangeKind, readonly Topic[]> = {
  'fact.asserted': ['facts', 'predicates', 'answers', 'databases'],
  'fact.retracted': ['facts', 'predicates', 'answers', 'databases'],
  'fact.superseded': ['facts', 'predicates', 'answers', 'databases'],
  'declaration.changed': ['predicates'],
  'test.changed': ['rules'],
  'alias.changed': ['facts', 'answers'],
  'conclusion.withdrawn': ['facts', 'predicates', 'answers'],
  'rule.changed': knowledgeTopics,
  'constraint.changed': knowledgeTopics,
  'constraint.violated': ['rules', 'predicates', 'answers'],
  'constraint.satisfied': ['rules', 'predicates', 'answers'],
  'scope.changed': knowledgeTopics,
  'memory.evicted': ['facts', 'predicates', 'answers', 'databases'],
  'mcp.call': ['agents'],
  reset: topics,
};

/** Changes after which their fact no longer exists. */
const tellsOfGone: ReadonlySet<ChangeKind> = new Set(['fact.retracted', 'fact.superseded', 'memory.evicted']);

/** Returns the topics that the changes concern. */
export function topicsOf(changes: readonly { kind: ChangeKind }[]): ReadonlySet<Topic> {
  return new Set(changes.flatMap((change) => concernedBy[change.kind]));
}

interface LiveState {
  readonly stream: StreamState;
  /** Latest known generation of the space; null before the first. */
  readonly generation: number | null;
  /** Number of invalidations per topic. */
  readonly versions: Readonly<Record<Topic, number>>;
  /** Ids of facts retracted while this window watched: fetching them would fail. */
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

/** Store of the live state. */
export const useLive = create<LiveState>()(() => ({
  stream: { kind: 'connecting' },
  generation: null,
  versions: freshVersions,
  gone: new Set(),
}));

/** Records deleted facts, so that their views stop fetching them. */
export function noteGone(ids: readonly string[]): void {
  if (ids.length > 0) useLive.setState(({ gone }) => ({ gone: new Set([...gone, ...ids]) }));
}

/** Records the generation of an answer; that of an answer about the past says nothing about the present. */
export function noteGeneration(generation: number, moment: PastMoment | null = null): void {
  if (moment !== null) return;
  useLive.setState((state) =>
    state.generation !== null && state.generation >= generation ? state : { generation },
  );
}

/**
 * Returns the part of a query key that says of which knowledge: database, tenant and moment. That of a moment of the past
 * is no continuation of that of the present, so changes of the present do not concern it.
 */
export function knowledgeKeyOf({ database, tenant, moment = null }: ApiEndpoint): readonly unknown[] {
  return [database, moment === null ? tenant : { tenant, ...moment }];
}

/** Returns the prefix of a query key: topic and knowledge, then `more`. */
export function queryKeyOf(
  topic: Topic,
  endpoint: ApiEndpoint,
  ...more: readonly unknown[]
): readonly unknown[] {
  return [topic, ...knowledgeKeyOf(endpoint), ...more];
}

/** Invalidates the topics of the endpoint's present, so that visible data is fetched again. */
export function invalidate(client: QueryClient, endpoint: ApiEndpoint, stale: Iterable<Topic>): void {
  const versions = { ...useLive.getState().versions };
  for (const topic of stale) {
    versions[topic] += 1;
    void client.invalidateQueries({
      queryKey: topic === 'databases' ? [topic] : [topic, endpoint.database, endpoint.tenant],
    });
  }
  useLive.setState({ versions });
}

/**
 * Calls `onMissing` when a query of this database fails because the database does not exist. The change stream
 * survives the deletion of its database, so it would not notice. Returns a function that stops watching.
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

/** Keeps the workbench in sync with one space. Returns the open stream; closing it stops. */
export function followChanges(client: QueryClient, endpoint: ApiEndpoint): EventStream {
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
    // After views have handled the deleted facts.
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
      // The key may have been restricted and no longer reach this space.
      if (state.kind === 'waiting' && state.failure.code === 'Forbidden')
        void client.invalidateQueries({ queryKey: ['service', 'whoami'] });
      if (state.kind === 'waiting' || state.kind === 'refused') wasLost = true;
      else if (state.kind === 'live' && wasLost) {
        // Fetches again what failed or was missed while the service was away.
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
