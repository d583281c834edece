/**
 * The metrics of one service, in Prometheus' text format.
 *
 * Every series exists from the start, those of parts that are switched off with the value 0. Totals that the
 * engine keeps are read when they are asked for. No label carries a fact, an argument, a tenant or a key.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type ProviderName, providerNames } from '../../engine/contract/extraction.ts';
import type { EngineCounters } from '../../engine/index.ts';
import { RequestDurations } from './request-durations.ts';

/** What is read at the time of a scrape; `counters` is null before the engine is open. */
export interface MetricSources {
  counters(): EngineCounters | null;
  isStorageReady(): boolean;
  uptimeMs(): number;
}

export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  /** `route` is the pattern, never the address that was asked for. */
  requestDone(method: string, route: string, status: number, elapsedMs: number): void;
  requestsInFlight(change: 1 | -1): void;
  inferenceDone(elapsedMs: number): void;
  toolCallDone(tool: string, outcome: 'ok' | 'error', elapsedMs: number): void;
  mcpSubscribers(change: 1 | -1): void;
  eventSubscribers(change: 1 | -1): void;
  /** One call of a provider of language models, with all the tokens that it counted. */
  llmCallDone(provider: ProviderName, elapsedMs: number, tokens: number): void;
}

const fast = [0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];
const slow = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];

/** `toolNames`: the MCP tools, whose series start at 0. */
export function createMetrics(sources: MetricSources, toolNames: readonly string[]): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  addEngineTotals(registers, sources);
  addFutureSeries(registers);
  const inference = new Histogram({
    name: 'service_inference_duration_seconds',
    help: 'Time a question took',
    buckets: fast,
    registers,
  });
  const tools = new Histogram({
    name: 'service_mcp_tool_call_duration_seconds',
    help: 'Time an MCP tool call took',
    labelNames: ['tool', 'outcome'],
    buckets: fast,
    registers,
  });
  for (const tool of toolNames) for (const outcome of ['ok', 'error']) tools.zero({ tool, outcome });
  const requests = new RequestDurations(
    'service_http_request_duration_seconds',
    'Time from the head of a request to the end of its answer',
    fast,
    registry,
  );
  let inFlight = 0;
  reading(registers, 'service_http_requests_in_flight', 'Requests being answered', () => inFlight);
  const mcpStreams = gauge(registers, 'service_mcp_sse_subscribers', 'Open event streams of MCP clients');
  const eventStreams = gauge(registers, 'service_events_subscribers', 'Open streams of changes');
  const llmCallDone = addLlmSeries(registers);
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    requestDone: (method, route, status, elapsedMs) =>
      requests.observe(method, route, status, elapsedMs / 1000),
    requestsInFlight: (change) => {
      inFlight += change;
    },
    inferenceDone: (elapsedMs) => inference.observe(elapsedMs / 1000),
    toolCallDone: (tool, outcome, elapsedMs) => tools.observe({ tool, outcome }, elapsedMs / 1000),
    mcpSubscribers: (change) => mcpStreams.inc(change),
    eventSubscribers: (change) => eventStreams.inc(change),
    llmCallDone,
  };
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

function addEngineTotals(registers: Registry[], sources: MetricSources): void {
  const total = (name: string, help: string, read: (counters: EngineCounters) => number): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        const counters = sources.counters();
        this.reset();
        this.inc(counters === null ? 0 : read(counters));
      },
    });
  };
  total('service_facts_asserted_total', 'Facts asserted since the start', (now) => now.factsAsserted);
  total('service_facts_retracted_total', 'Facts retracted since the start', (now) => now.factsRetracted);
  total(
    'service_rules_fired_total',
    'Conclusions drawn with a rule since the start',
    (now) => now.rulesFired,
  );
  total(
    'service_memory_decay_evicted',
    'Facts that decay evicted since the start',
    (now) => now.factsEvicted,
  );
  total('service_log_records_total', 'Records written to the log since the start', (now) => now.records);
  total('service_log_commits_total', 'Group commits of the log since the start', (now) => now.commits);
  reading(registers, 'service_memory_facts_total', 'Stored facts now', () => sources.counters()?.facts ?? 0);
  reading(registers, 'service_storage_ready', '1 while the log takes writes', () =>
    sources.isStorageReady() ? 1 : 0,
  );
  reading(registers, 'service_uptime_seconds', 'Time since the start', () => sources.uptimeMs() / 1000);
}

/** A gauge that is read at the time of a scrape. */
function reading(registers: Registry[], name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}

/** Series of the contract whose parts do not run yet: they are there, and 0. */
function addFutureSeries(registers: Registry[]): void {
  gauge(registers, 'service_replication_lag_records', 'Records this follower is behind its leader');
  gauge(registers, 'service_replication_lag_seconds', 'Time this follower is behind its leader');
}

function gauge(registers: Registry[], name: string, help: string): Gauge {
  return new Gauge({ name, help, registers });
}
