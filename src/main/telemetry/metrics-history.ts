/**
 * The metrics of the last day, across restarts: for a dashboard that is opened later.
 *
 * A reading is taken every few minutes. Of the metrics in Prometheus' text format it stores the few series that show
 * the state of a service, summed over all other labels. Bounded by age and in number. A crash may lose the readings of
 * the last minutes.
 */
import type { Journal } from '../../engine/index.ts';

/** Milliseconds between two readings, and for which they are stored. */
export const readingEveryMs = 5 * 60_000;
const maxAgeMs = 24 * 3_600_000;
/** A process that restarts over and over takes a reading each time. */
const maxReadings = 600;

/** The stored series, and the stored labels of each. */
const kept: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...[
    'service_facts_asserted_total',
    'service_facts_retracted_total',
    'service_rules_fired_total',
    'service_log_records_total',
    'service_log_written_bytes_total',
    'process_cpu_seconds_total',
    'service_memory_facts_total',
    'service_derived_conclusions',
    'service_derived_bytes',
    'service_derived_budget_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
    'service_storage_ready',
    'service_replication_lag_records',
    'service_replication_lag_seconds',
    'service_uptime_seconds',
  ].map((name) => [name, []] as const),
  ['service_mcp_tool_call_duration_seconds_count', ['outcome']],
  ['service_http_request_duration_seconds_count', ['status']],
  ...['inference', 'http_request', 'log_sync'].map(
    (what) => [`service_${what}_duration_seconds_bucket`, ['le']] as const,
  ),
  ['service_inference_duration_seconds_count', []],
  ['service_log_sync_duration_seconds_count', []],
]);

/** Requests that would distort the durations: reading the metrics is one, and streams are open for hours. */
const unremarkable = /route="(?:\/metrics(?:\/history)?|\/events|\/mcp|\/mcp\/sse)"/;
const line = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/;

interface Reading {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Samples in Prometheus' text format. */
  readonly lines: readonly string[];
}

/** Takes and stores the readings. */
export class MetricsHistory {
  readonly #text: () => Promise<string>;
  readonly #now: () => number;
  /** Oldest first. */
  #readings: Reading[] = [];
  #journal: Journal | null = null;
  #timer: NodeJS.Timeout | null = null;

  /** `text` returns the current metrics, `now` epoch milliseconds. */
  constructor(text: () => Promise<string>, now: () => number = Date.now) {
    this.#text = text;
    this.#now = now;
  }

  /** Loads the earlier readings, and takes one now and every few minutes from now on. */
  async open(journal: Journal): Promise<void> {
    const records = await journal.load(() => this.#readings.map(recordOf));
    this.#readings = records.flatMap(readingOf);
    this.#journal = journal;
    await this.take();
    this.#timer = setInterval(() => void this.take(), readingEveryMs).unref();
  }

  /** Takes a reading. Never rejects: a failed reading is skipped. */
  async take(): Promise<void> {
    const reading = { at: this.#now(), lines: summed(await this.#text()) };
    this.#readings.push(reading);
    this.#forgetOld();
    this.#journal?.append(recordOf(reading));
  }

  /** All readings, oldest first: each sample with the time of its reading, in Prometheus' text format. */
  text(): string {
    this.#forgetOld();
    return this.#readings.map(({ at, lines }) => lines.map((each) => `${each} ${at}\n`).join('')).join('');
  }

  /** Takes a last reading. */
  async close(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    await this.take();
  }

  #forgetOld(): void {
    const since = this.#now() - maxAgeMs;
    this.#readings = this.#readings.filter(({ at }) => at >= since).slice(-maxReadings);
  }
}

/** The stored samples of the metrics, summed over all other labels. */
export function summed(text: string): string[] {
  const sums = new Map<string, number>();
  for (const each of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = line.exec(each) ?? [];
    const keptLabels = kept.get(name);
    const number = Number(value);
    if (keptLabels === undefined || !Number.isFinite(number) || unremarkable.test(labels)) continue;
    const told = labels
      .split(',')
      .filter((label) => keptLabels.some((wanted) => label.startsWith(`${wanted}=`)));
    // Statuses are reduced to their class.
    const series = told.join(',').replace(/^status="(\d)\d\d"$/, 'status="$100"');
    const key = series === '' ? name : `${name}{${series}}`;
    sums.set(key, (sums.get(key) ?? 0) + number);
  }
  return Array.from(sums, ([key, sum]) => `${key} ${sum}`);
}

function recordOf(reading: Reading): Uint8Array {
  return Buffer.from(JSON.stringify(reading));
}

/** Empty if the format of the record is different. */
function readingOf(record: Uint8Array): Reading[] {
  try {
    const { at, lines } = JSON.parse(Buffer.from(record).toString()) as Partial<Reading>;
    const isReading =
      typeof at === 'number' && Array.isArray(lines) && lines.every((each) => typeof each === 'string');
    return isReading ? [{ at, lines }] : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
