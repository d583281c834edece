/**
 * The metrics of one service, in Prometheus' text format.
 *
 * Every series exists from the start; those of parts that are switched off have the value 0. Counters of other modules
 * are read once per scrape. No label contains a fact, an argument, a tenant or a key, or a word of a client's choosing:
 * methods, routes, statuses, tools and providers come from fixed lists, so the number of series is bounded.
 */
import type { NodeStatus } from '../../engine/contract/administration.ts';
import type { ReplicationStatus } from '../../engine/contract/replication.ts';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type ProviderName, providerNames } from '../../engine/contract/extraction.ts';
import type { EngineCounters, EngineFigures, Scheduler } from '../../engine/index.ts';

/** Read at the time of a scrape; null: not known yet, such as before the engine is open. */
export interface MetricSources {
  readonly counters: () => EngineCounters | null;
  readonly figures: () => EngineFigures | null;
  readonly traffic: () => Traffic | null;
  /** This node of a store that several share; null: there is none. */
  readonly node: () => NodeStatus | null;
  /** Requests passed on to another node since the start. */
  readonly passedOn: () => Readonly<Record<'read' | 'write', number>> | null;
  readonly replication: () => Pick<
    ReplicationStatus,
    'lagRecords' | 'lagMs' | 'position' | 'followers'
  > | null;
  /** Of the serving thread. */
  readonly scheduler: Pick<Scheduler, 'figures' | 'turns'>;
  readonly isStorageReady: () => boolean;
  readonly uptimeMs: () => number;
}

/** Traffic over the connections: totals since the start, except `open`. Bytes are those of the sockets. */
interface Traffic {
  readonly open: number;
  readonly accepted: number;
  readonly refused: number;
  readonly malformed: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  /** `route` is the pattern, never the requested address. */
  requestDone(method: string, route: string, status: number, elapsedMs: number): void;
  requestsInFlight(change: 1 | -1): void;
  inferenceDone(elapsedMs: number): void;
  toolCallDone(tool: string, outcome: 'ok' | 'error', elapsedMs: number): void;
  mcpSubscribers(change: 1 | -1): void;
  eventSubscribers(change: 1 | -1): void;
  /** One call of a provider of language models, with all its tokens. */
  llmCallDone(provider: ProviderName, elapsedMs: number, tokens: number): void;
  logSynced(elapsedMs: number): void;
  /** One append to a store in PostgreSQL. */
  storeAppended(elapsedMs: number, records: number): void;
  /** Ends all measuring. */
  close(): void;
}

const fast = [0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];
const slow = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];
const lags = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Methods with their own series; the parser accepts some thirty more, which have no routes. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * `toolNames`: the MCP tools, whose series start at 0. `isOfProcess`: with the metrics of the process, watched until
 * `close`.
 */
export function createMetrics(
  sources: MetricSources,
  toolNames: readonly string[],
  isOfProcess = true,
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (isOfProcess) collectDefaultMetrics({ register: registry });
  const read = addReadings(registers, sources);
  const durations = addDurations(registers, toolNames);
  addLongTurns(registers, sources.scheduler.turns);
  addPassedOn(registers, sources.passedOn);
  const lag = watchEventLoop(registry, sources.scheduler.turns);
  const requests = new RequestDurations(
    'service_http_request_duration_seconds',
    'Time from the head of a request to the end of its answer',
    fast,
    registry,
  );
  requests.zero('GET', '/metrics', 200);
  const inFlightGauge = gauge(registers, 'service_http_requests_in_flight', 'Requests being answered');
  let inFlight = 0;
  const mcpStreams = gauge(registers, 'service_mcp_sse_subscribers', 'Open event streams of MCP clients');
  const eventStreams = gauge(registers, 'service_events_subscribers', 'Open streams of changes');
  const llmCallDone = addLlmSeries(registers);
  return {
    contentType: registry.contentType,
    text: () => {
      read();
      inFlightGauge.set(inFlight);
      return registry.metrics();
    },
    requestDone: (method, route, status, elapsedMs) =>
      requests.observe(methods.has(method) ? method : 'other', route, status, elapsedMs / 1000),
    requestsInFlight: (change) => {
      inFlight += change;
    },
    inferenceDone: (elapsedMs) => durations.inference.observe(elapsedMs / 1000),
    toolCallDone: (tool, outcome, elapsedMs) => durations.tools.observe({ tool, outcome }, elapsedMs / 1000),
    mcpSubscribers: (change) => mcpStreams.inc(change),
    eventSubscribers: (change) => eventStreams.inc(change),
    llmCallDone,
    logSynced: (elapsedMs) => durations.syncs.observe(elapsedMs / 1000),
    storeAppended: (elapsedMs, records) => {
      durations.syncs.observe(elapsedMs / 1000);
      durations.appends.observe(elapsedMs / 1000);
      durations.frames.observe(records);
    },
    close: () => lag.stop(),
  };
}

interface Durations {
  readonly inference: Histogram;
  readonly tools: Histogram<'tool' | 'outcome'>;
  readonly syncs: Histogram;
  readonly appends: Histogram;
  readonly frames: Histogram;
}

function addDurations(registers: Registry[], toolNames: readonly string[]): Durations {
  const tools = new Histogram({
    name: 'service_mcp_tool_call_duration_seconds',
    help: 'Time an MCP tool call took',
    labelNames: ['tool', 'outcome'],
    buckets: fast,
    registers,
  });
  for (const tool of toolNames) for (const outcome of ['ok', 'error']) tools.zero({ tool, outcome });
  return {
    inference: new Histogram({
      name: 'service_inference_duration_seconds',
      help: 'Time a question took: ask, infer, explain, whatIf, trace, and aggregates over what can be derived',
      buckets: fast,
      registers,
    }),
    tools,
    syncs: new Histogram({
      name: 'service_log_sync_duration_seconds',
      help: 'Time it took to make the log durable',
      buckets: fast,
      registers,
    }),
    appends: new Histogram({
      name: 'store_append_seconds',
      help: 'Time an append to the store took, with its commit',
      buckets: fast,
      registers,
    }),
    frames: new Histogram({
      name: 'store_frame_records',
      help: 'Records in one append to the store',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 1024],
      registers,
    }),
  };
}

/** The turns over 50 ms by operation; an operation's series exist from its first one. */
function addLongTurns(registers: Registry[], turns: Scheduler['turns']): void {
  new Counter({
    name: 'service_turns_over_50ms_total',
    help: 'Turns of the serving thread that took more than 50 ms of processor time, by operation',
    labelNames: ['operation'],
    registers,
    collect() {
      this.reset();
      this.inc({ operation: 'other' }, 0);
      for (const [operation, { count }] of turns.long) this.inc({ operation }, count);
    },
  });
  new Gauge({
    name: 'service_turn_longest_seconds',
    help: 'The longest turn over 50 ms of processor time since the start, by operation; 0: there was none',
    labelNames: ['operation'],
    registers,
    collect() {
      this.set({ operation: 'other' }, 0);
      for (const [operation, { longestMs }] of turns.long) this.set({ operation }, longestMs / 1000);
    },
  });
}

function addPassedOn(registers: Registry[], passedOn: MetricSources['passedOn']): void {
  new Counter({
    name: 'store_forwarded_total',
    help: 'Requests passed on to the node that has the log of the store, by kind',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset();
      const { read, write } = passedOn() ?? { read: 0, write: 0 };
      this.inc({ kind: 'read' }, read);
      this.inc({ kind: 'write' }, write);
    },
  });
}

const lagGauges: readonly (readonly [name: string, help: string, of: keyof LagSummary])[] = [
  ['nodejs_eventloop_lag_seconds', 'Lag of the event loop at the last look', 'last'],
  ['nodejs_eventloop_lag_min_seconds', 'The least lag of the last minute', 'min'],
  ['nodejs_eventloop_lag_max_seconds', 'The greatest lag of the last minute', 'max'],
  ['nodejs_eventloop_lag_mean_seconds', 'The mean lag of the last minute', 'mean'],
  ['nodejs_eventloop_lag_stddev_seconds', 'The standard deviation of the lag of the last minute', 'stddev'],
  ['nodejs_eventloop_lag_p50_seconds', 'The 50th percentile of the lag of the last minute', 'p50'],
  ['nodejs_eventloop_lag_p90_seconds', 'The 90th percentile of the lag of the last minute', 'p90'],
  ['nodejs_eventloop_lag_p99_seconds', 'The 99th percentile of the lag of the last minute', 'p99'],
];

/** The library's own gauges of these names are wrong if two scrapes overlap, and never under 10 ms. */
function watchEventLoop(registry: Registry, turns: Scheduler['turns']): LagWatch {
  const registers = [registry];
  for (const [name, help, of] of lagGauges) {
    registry.removeSingleMetric(name);
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(watch.summary()[of]);
      },
    });
  }
  const lag = new Histogram({
    name: 'service_event_loop_lag_seconds',
    help: 'How much later than due a timer ran, looked at every 50 ms',
    buckets: lags,
    registers,
  });
  const watch = watchLag((seconds) => {
    lag.observe(seconds);
    turns.tick(seconds * 1000);
  });
  return watch;
}

function addLlmSeries(registers: Registry[]): Metrics['llmCallDone'] {
  const duration = new Histogram({
    name: 'service_llm_call_duration_seconds',
    help: 'Time a call of an LLM provider took',
    labelNames: ['provider'],
    buckets: slow,
    registers,
  });
  const tokens = new Counter({
    name: 'service_llm_tokens_used',
    help: 'Tokens that LLM providers counted',
    labelNames: ['provider'],
    registers,
  });
  for (const provider of providerNames) {
    duration.zero({ provider });
    tokens.inc({ provider }, 0);
  }
  return (provider, elapsedMs, count) => {
    duration.observe({ provider }, elapsedMs / 1000);
    tokens.inc({ provider }, count);
  };
}

type Row<Source> = readonly [name: string, help: string, read: (now: Source) => number];

const engineTotals: readonly Row<EngineCounters>[] = [
  ['service_facts_asserted_total', 'Facts asserted since the start', (now) => now.factsAsserted],
  ['service_facts_retracted_total', 'Facts retracted since the start', (now) => now.factsRetracted],
  ['service_rules_fired_total', 'Conclusions drawn with a rule', (now) => now.rulesFired],
  ['service_memory_decay_evicted', 'Facts that decay evicted since the start', (now) => now.factsEvicted],
  ['service_clock_steps_total', 'Steps of the wall clock by more than a minute', (now) => now.clockSteps],
  ['service_log_records_total', 'Records written to the log since the start', (now) => now.records],
  ['service_log_commits_total', 'Group commits of the log since the start', (now) => now.commits],
  ['service_log_written_bytes_total', 'Bytes written to the log since the start', (now) => now.logBytes],
  ['service_snapshots_total', 'Snapshots written since the start', (now) => now.snapshots],
  ['service_backups_total', 'Backups sent whole since the start', (now) => now.backups],
  ['service_quota_refused_writes_total', 'Writes that a quota refused', (now) => now.writesOverQuota],
  [
    'service_quota_refused_calls_total',
    'Questions and transactions that a quota refused',
    (now) => now.questionsOverQuota,
  ],
  [
    'service_reasoning_moved_questions_total',
    'Questions that moved to a reasoning thread',
    (now) => now.reasoning.movedQuestions,
  ],
  [
    'service_reasoning_replaced_threads_total',
    'Reasoning threads that ended and were replaced',
    (now) => now.reasoning.replacedThreads,
  ],
  ['store_takes_total', 'Times that this node took the log of its store', (now) => now.shared.takes],
  ['store_fenced_total', 'Times that another node had taken it from this one', (now) => now.shared.fenced],
  [
    'store_outcomes_unknown_total',
    'Appends whose outcome PostgreSQL did not tell at first',
    (now) => now.shared.inDoubt,
  ],
  [
    'store_history_changes_total',
    'Times that PostgreSQL had lost what this node had applied',
    (now) => now.shared.endsLost,
  ],
  [
    'service_memory_refused_writes_total',
    'Writes refused because the memory is full',
    (now) => now.writesOutOfMemory,
  ],
];

const nodeGauges: readonly Row<NodeStatus>[] = [
  ['store_owned', 'Databases whose writes this node stores', (now) => now.owned],
  ['store_copies', 'Databases of which this node has a copy', (now) => now.copies],
  ['store_lag_records', 'Records that are stored and not yet applied here', (now) => now.lagRecords],
  [
    'store_stale_seconds',
    'This node shows everything that was stored so many seconds ago',
    (now) => now.staleMs / 1000,
  ],
  [
    'store_clock_skew_seconds',
    'By how much the clock of this node is ahead of that of PostgreSQL',
    (now) => now.clockSkewMs / 1000,
  ],
  ['store_failed', '1 while this node cannot follow the log', (now) => (now.problem === null ? 0 : 1)],
];

const trafficTotals: readonly Row<Traffic>[] = [
  ['service_http_connections_total', 'Connections accepted', (now) => now.accepted],
  ['service_http_connections_refused_total', 'Connections refused: too many', (now) => now.refused],
  ['service_http_malformed_total', 'Malformed requests', (now) => now.malformed],
  ['service_http_received_bytes_total', 'Bytes received over HTTP', (now) => now.bytesIn],
  ['service_http_sent_bytes_total', 'Bytes sent over HTTP', (now) => now.bytesOut],
];

const countGauges: readonly Row<EngineCounters>[] = [
  ['service_memory_facts_total', 'Stored facts now', (now) => now.facts],
];

const figureGauges: readonly Row<EngineFigures>[] = [
  ['service_rules', 'Rules now', (now) => now.rules],
  ['service_databases', 'Databases now', (now) => now.databases],
  ['service_tenants', 'Tenants of all databases now', (now) => now.tenants],
  ['service_derived_conclusions', 'Cached conclusions', (now) => now.conclusions],
  ['service_derived_bytes', 'Memory of cached conclusions', (now) => now.derivedBytes],
  ['service_derived_budget_bytes', 'Maximum memory of cached conclusions', (now) => now.derivedBudgetBytes],
  ['service_memory_resident_bytes', 'Resident memory of the process', (now) => now.memory?.resident ?? 0],
  [
    'service_memory_limit_bytes',
    'Resident memory at which no more knowledge is stored',
    (now) => now.memory?.residentMark ?? 0,
  ],
  ['service_heap_used_bytes', 'Heap of V8 in use', (now) => now.memory?.heap ?? 0],
  [
    'service_heap_limit_bytes',
    'Heap of V8 at which no more knowledge is stored',
    (now) => now.memory?.heapMark ?? 0,
  ],
  ['service_transactions_open', 'Open transactions', (now) => now.openTransactions],
  [
    'service_transactions_oldest_seconds',
    'Time the oldest open transaction has been open; 0: none is',
    (now) => now.oldestTransactionMs / 1000,
  ],
  [
    'service_reasoning_threads',
    'Threads to which questions move that take long',
    (now) => now.reasoning.threads,
  ],
  [
    'service_reasoning_threads_running',
    'Threads of these that run: each starts when a question takes long',
    (now) => now.reasoning.runningThreads,
  ],
  [
    'service_reasoning_questions',
    'Questions that reasoning threads have to answer',
    (now) => now.reasoning.questions,
  ],
  [
    'service_reasoning_questions_waiting',
    'Questions that wait for a copy of their facts on a reasoning thread',
    (now) => now.reasoning.waitingQuestions,
  ],
  [
    'service_reasoning_copies',
    'Tenants whose facts reasoning threads have copies of',
    (now) => now.reasoning.copies,
  ],
  [
    'service_reasoning_bytes',
    'Bytes of these copies and of what is derived from them',
    (now) => now.reasoning.bytes,
  ],
  ['service_memory_dead_rows', 'Dead rows of facts that wait for compaction', (now) => now.deadRows],
  [
    'service_clock_offset_seconds',
    'How far the wall clock was set since the start; 0: it was not, or was put right',
    (now) => now.clockOffsetMs / 1000,
  ],
  ['service_context_sessions', 'Sessions whose last window is remembered', (now) => now.windowSessions],
  ['service_embeddings_vectors', 'Texts of facts that are embedded', (now) => now.embeddings.vectors],
  ['service_embeddings_bytes', 'Memory of their vectors', (now) => now.embeddings.bytes],
  ['service_log_bytes', 'Bytes of the log on disk', (now) => now.logBytes],
  ['service_log_segments', 'Files of the log on disk', (now) => now.logSegments],
  ['service_log_waiting_bytes', 'Bytes that are not yet durable', (now) => now.logWaitingBytes],
  ['service_snapshot_bytes', 'Bytes of the last snapshot', (now) => now.snapshot?.bytes ?? 0],
  [
    'service_snapshot_timestamp_seconds',
    'When the last snapshot was begun, since the epoch; 0: there is none',
    (now) => (now.snapshot?.at ?? 0) / 1000,
  ],
  [
    'service_snapshot_duration_seconds',
    'Time the last snapshot of this process took; 0: it has written none',
    (now) => (now.snapshotTookMs ?? 0) / 1000,
  ],
  ['service_log_position', 'Sequence of the last record of the log', (now) => now.position],
  [
    'service_storage_encrypted',
    '1 while log and snapshots are encrypted',
    (now) => (now.isEncrypted ? 1 : 0),
  ],
  [
    'service_backup_timestamp_seconds',
    'When the last backup was taken, since the epoch; 0: none since the start',
    (now) => (now.backupAt ?? 0) / 1000,
  ],
];

const schedulerGauges: readonly Row<ReturnType<Scheduler['figures']>>[] = [
  ['service_scheduler_paused_tasks', 'Tasks that wait for their next slice', (now) => now.pausedTasks],
  [
    'service_questions_running',
    'Questions that are being answered by inference',
    (now) => now.runningQuestions,
  ],
  [
    'service_questions_waiting',
    'Questions that wait until another one of their tenant has ended',
    (now) => now.waitingQuestions,
  ],
];

const trafficGauges: readonly Row<Traffic>[] = [
  ['service_http_connections', 'Open connections', (now) => now.open],
];

const replicationGauges: readonly Row<NonNullable<ReturnType<MetricSources['replication']>>>[] = [
  [
    'service_replication_lag_records',
    'Records this follower is behind its leader, as far as it knows; 0 on a leader',
    (now) => now.lagRecords ?? 0,
  ],
  [
    'service_replication_lag_seconds',
    'Time since this follower had all that its leader had; 0 where it has, and on a leader',
    (now) => (now.lagMs ?? 0) / 1000,
  ],
  [
    'service_replication_followers',
    'Followers that asked in the last ten minutes',
    (now) => now.followers.length,
  ],
  ['service_replication_position', 'Sequence of the last record that is durable here', (now) => now.position],
];

/** Returns the function that brings the series up to date: 0 where the source has nothing yet. */
function addReadings(registers: Registry[], sources: MetricSources): () => void {
  const updates: (() => void)[] = [];
  const add = <Source>(
    read: () => Source | null,
    rows: readonly Row<Source>[],
    seriesOf: (name: string, help: string) => (value: number) => void,
  ): void => {
    const series = rows.map(([name, help, of]) => ({ set: seriesOf(name, help), of }));
    updates.push(() => {
      const now = read();
      for (const { set, of } of series) set(now === null ? 0 : of(now));
    });
  };
  const total = (name: string, help: string) => {
    const counter = new Counter({ name, help, registers });
    return (value: number): void => {
      counter.reset();
      counter.inc(value);
    };
  };
  const level = (name: string, help: string) => {
    const series = gauge(registers, name, help);
    return (value: number): void => series.set(value);
  };
  add(sources.counters, engineTotals, total);
  add(sources.traffic, trafficTotals, total);
  add(sources.counters, countGauges, level);
  add(sources.figures, figureGauges, level);
  add(sources.traffic, trafficGauges, level);
  add(sources.node, nodeGauges, level);
  add(() => sources.scheduler.figures(), schedulerGauges, level);
  add(sources.replication, replicationGauges, level);
  const setReady = level('service_storage_ready', '1 while the log takes writes');
  const setUptime = level('service_uptime_seconds', 'Time since the start');
  updates.push(() => {
    setReady(sources.isStorageReady() ? 1 : 0);
    setUptime(sources.uptimeMs() / 1000);
  });
  return () => {
    for (const update of updates) update();
  };
}

function gauge(registers: Registry[], name: string, help: string): Gauge {
  return new Gauge({ name, help, registers });
}

interface RouteSeries {
  readonly labels: { readonly method: string; readonly route: string; readonly status: string };
  /** How many were at most as long as each bound and longer than the previous one; the last: longer than all. */
  readonly counts: Float64Array;
  sum: number;
}

interface Value {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * The histogram of requests by method, route and status, on the path of every request.
 *
 * The library's own histogram concatenates the labels of each observation and looks up the text; this one finds a
 * series by nested look-ups, a tenth of the work. A scrape gets the same: cumulative buckets, sum and count of every
 * series, in the order in which they were first seen.
 */
export class RequestDurations {
  readonly #name: string;
  readonly #bounds: readonly number[];
  readonly #routes = new Map<string, Map<string, Map<number, RouteSeries>>>();
  readonly #all: RouteSeries[] = [];

  /** `bounds`: of the buckets, ascending, in seconds. */
  constructor(name: string, help: string, bounds: readonly number[], registry: Registry) {
    this.#name = name;
    this.#bounds = bounds;
    const get = () => Promise.resolve({ name, help, type: 'histogram', values: this.#values() });
    // A registry calls only these two members of its metrics.
    registry.registerMetric({ name, get } as unknown as Parameters<Registry['registerMetric']>[0]);
  }

  /** Creates the series before there is anything to observe. */
  zero(method: string, route: string, status: number): void {
    this.#seriesOf(method, route, status);
  }

  observe(method: string, route: string, status: number, seconds: number): void {
    const series = this.#seriesOf(method, route, status);
    let at = 0;
    while (at < this.#bounds.length && seconds > (this.#bounds[at] as number)) at++;
    series.counts[at] = (series.counts[at] as number) + 1;
    series.sum += seconds;
  }

  #seriesOf(method: string, route: string, status: number): RouteSeries {
    let methods = this.#routes.get(route);
    if (methods === undefined) this.#routes.set(route, (methods = new Map()));
    let statuses = methods.get(method);
    if (statuses === undefined) methods.set(method, (statuses = new Map()));
    let series = statuses.get(status);
    if (series === undefined) {
      const labels = { method, route, status: String(status) };
      series = { labels, counts: new Float64Array(this.#bounds.length + 1), sum: 0 };
      statuses.set(status, series);
      this.#all.push(series);
    }
    return series;
  }

  #values(): Value[] {
    return this.#all.flatMap(({ labels, counts, sum }) => {
      const metricName = `${this.#name}_bucket`;
      let count = 0;
      const buckets = Array.from(counts, (each, at) => {
        count += each;
        return { metricName, labels: { le: this.#bounds[at] ?? '+Inf', ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${this.#name}_sum`, labels, value: sum },
        { metricName: `${this.#name}_count`, labels, value: count },
      ];
    });
  }
}

/**
 * Measures the lag of the event loop: by how much a timer fires late.
 *
 * Anything that blocks the thread shows here, and every client feels it. Node's own measurement includes its interval
 * and restarts with every reader; here every reader gets the same values, of the last minute.
 */
interface LagWatch {
  /** Seconds, over the last minute; all 0 before the first measurement. */
  summary(): LagSummary;
  stop(): void;
}

interface LagSummary {
  readonly last: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stddev: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

const everyMs = 50;
const remembered = 60_000 / everyMs;

/** Calls `observe` with seconds, 0 if the timer was on time, until stopped. Keeps no process alive. */
export function watchLag(observe: (lag: number) => void): LagWatch {
  const lags: number[] = [];
  let looks = 0;
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const lag = Math.max(0, now - before - everyMs) / 1000;
    before = now;
    lags[looks++ % remembered] = lag;
    observe(lag);
  }, everyMs).unref();
  return {
    summary: () => lagSummaryOf(lags, lags[(looks - 1) % remembered] ?? 0),
    stop: () => clearInterval(timer),
  };
}

/**
 * The summary of these values, in any order; a percentile is the least value with that share of values at or below it.
 */
export function lagSummaryOf(values: readonly number[], last: number): LagSummary {
  const sorted = values.toSorted((one, other) => one - other);
  const count = Math.max(1, sorted.length);
  const percentile = (part: number): number => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / count;
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count;
  return {
    last,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    mean,
    stddev: Math.sqrt(variance),
    p50: percentile(0.5),
    p90: percentile(0.9),
    p99: percentile(0.99),
  };
}
