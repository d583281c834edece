/**
 * A reader of Prometheus' text format, limited to what the view of one service needs, and its readings in words.
 *
 * It skips comments and types: callers ask for a metric by name and know what it is. A malformed line throws
 * an error that names the line, so that no misread number is ever shown.
 */
import { formatBytes, formatCount, formatDuration } from '../../ui/format.ts';

/** One sample of a metric. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Epoch ms; absent: now. */
  readonly at?: number;
}

const sampleLine = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?[ \t]+(\S+)(?:[ \t]+(-?\d+))?[ \t]*$/;
const labelPart = /[ \t]*([a-zA-Z_]\w*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(?:,|$)/y;
const escapes: Readonly<Record<string, string>> = { n: '\n', '"': '"', '\\': '\\' };

function valueOf(text: string): number | null {
  const special: Readonly<Record<string, number>> = {
    NaN: Number.NaN,
    '+Inf': Number.POSITIVE_INFINITY,
    Inf: Number.POSITIVE_INFINITY,
    '-Inf': Number.NEGATIVE_INFINITY,
  };
  const known = special[text];
  if (known !== undefined) return known;
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : null;
}

/** The labels between the braces, or null if malformed. */
function labelsOf(text: string): Record<string, string> | null {
  const labels: Record<string, string> = {};
  labelPart.lastIndex = 0;
  while (labelPart.lastIndex < text.length) {
    const part = labelPart.exec(text);
    if (part === null) return null;
    const [, name = '', value = ''] = part;
    labels[name] = value.replace(/\\(.)/g, (whole, escaped: string) => escapes[escaped] ?? whole);
  }
  return labels;
}

function sampleOf(line: string): MetricSample | null {
  const [, name = '', inBraces = '', number = '', at] = sampleLine.exec(line) ?? [];
  const labels = labelsOf(inBraces);
  const value = valueOf(number);
  return name === '' || labels === null || value === null
    ? null
    : { name, labels, value, ...(at === undefined ? {} : { at: Number(at) }) };
}

/** All samples, in order. Throws at the first malformed line, with its number. */
export function readMetrics(text: string): MetricSample[] {
  const samples: MetricSample[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const sample = sampleOf(line.replace(/\r$/, ''));
    if (sample === null)
      throw new Error(`line ${index + 1} of the metrics is not in Prometheus' text format`);
    samples.push(sample);
  }
  return samples;
}

function isOf(sample: MetricSample, name: string, where: Readonly<Record<string, string>>): boolean {
  return (
    sample.name === name && Object.entries(where).every(([label, value]) => sample.labels[label] === value)
  );
}

/** The sum of a metric over its series with these labels; null if the service has none. */
export function sumOf(
  samples: readonly MetricSample[],
  name: string,
  where: Readonly<Record<string, string>> = {},
): number | null {
  const found = samples.filter((sample) => isOf(sample, name, where));
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}

/**
 * A quantile of a histogram. `isAtLeast`: it lies beyond the last finite bound, and `value` is that bound.
 */
export interface Quantile {
  readonly value: number;
  readonly isAtLeast: boolean;
}

/**
 * The quantile `q` (0 to 1) of a histogram over all its series, in its own unit: linear within its bucket, as
 * Prometheus computes it. Null if nothing was observed, or the histogram is absent.
 */
export function quantileOf(samples: readonly MetricSample[], name: string, q: number): Quantile | null {
  return quantileOfCounts(bucketCountsOf(samples, name), q);
}

/** Cumulative observations of a histogram by upper bound. */
export type BoundCounts = ReadonlyMap<number, number>;

/** The counts of a histogram over all its series, or those that pass `isWanted`. Empty if there is none. */
export function bucketCountsOf(
  samples: readonly MetricSample[],
  name: string,
  isWanted: (labels: MetricSample['labels']) => boolean = () => true,
): BoundCounts {
  const counts = new Map<number, number>();
  for (const { name: own, labels, value } of samples) {
    const bound = own === `${name}_bucket` && isWanted(labels) ? valueOf(labels['le'] ?? '') : null;
    if (bound !== null) counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  return counts;
}

/** The quantile `q` of cumulative counts, in any order of their bounds; null if nothing was observed. */
export function quantileOfCounts(counts: BoundCounts, q: number): Quantile | null {
  const buckets = [...counts].sort(([one], [other]) => one - other);
  const total = buckets.at(-1)?.[1] ?? 0;
  if (!(total > 0)) return null;
  const rank = q * total;
  let [lower, before] = [0, 0];
  for (const [bound, count] of buckets) {
    if (bound === Number.POSITIVE_INFINITY) break;
    if (count >= rank && count > before)
      return { value: lower + ((bound - lower) * (rank - before)) / (count - before), isAtLeast: false };
    [lower, before] = [bound, count];
  }
  return { value: lower, isAtLeast: true };
}

/** A labelled number. */
export interface LabelledValue {
  readonly label: string;
  readonly value: string;
  /** Whether the value is a path or another name of the machine's, not text of the workbench. */
  readonly isCode?: boolean;
  /** What is measured, if the label does not say it all. */
  readonly hint?: string;
}

interface ReadingGroup {
  readonly title: string;
  readonly readings: readonly LabelledValue[];
}

type Write = (value: number) => string;

function seconds(value: number): string {
  return formatDuration(value * 1_000);
}

/** The uptime in days, hours and minutes. */
export function formatUptime(value: number): string {
  const minutes = Math.floor(value / 60);
  if (minutes < 1) return `${Math.floor(value)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function writtenQuantile(quantile: Quantile | null): string {
  if (quantile === null) return 'none yet';
  return `${quantile.isAtLeast ? 'over ' : ''}${seconds(quantile.value)}`;
}

/** All metrics shown as plain numbers, in groups, except those shown elsewhere (`storageTakesWrites`). */
export function readingsOf(samples: readonly MetricSample[]): ReadingGroup[] {
  const metric = (label: string, name: string, write: Write, hint?: string): LabelledValue[] => {
    const value = sumOf(samples, name);
    return value === null ? [] : [{ label, value: write(value), ...(hint === undefined ? {} : { hint }) }];
  };
  const quantiles = (name: string, what: string): LabelledValue[] =>
    sumOf(samples, `${name}_count`) === null
      ? []
      : ([0.5, 0.95] as const).map((q) => ({
          label: q === 0.5 ? 'p50' : 'p95',
          value: writtenQuantile(quantileOf(samples, name, q)),
          hint: `${q * 100} % of ${what} since the start took no longer: estimated from a histogram`,
        }));
  const inference = 'service_inference_duration_seconds';
  const tools = 'service_mcp_tool_call_duration_seconds';
  const failed = sumOf(samples, `${tools}_count`, { outcome: 'error' });
  const groups: ReadingGroup[] = [
    {
      title: 'Knowledge',
      readings: [
        ...metric('Stored facts', 'service_memory_facts_total', formatCount, 'Of all databases and tenants'),
        ...metric('Asserted', 'service_facts_asserted_total', formatCount, 'Since the start'),
        ...metric('Retracted', 'service_facts_retracted_total', formatCount, 'Since the start'),
      ],
    },
    {
      title: 'Inference',
      readings: [
        ...metric('Questions', `${inference}_count`, formatCount, 'Asked with inference, since the start'),
        ...quantiles(inference, 'questions'),
        ...metric('Rules fired', 'service_rules_fired_total', formatCount, 'Conclusions drawn with a rule'),
      ],
    },
    {
      title: 'Agents',
      readings: [
        ...metric('Tool calls', `${tools}_count`, formatCount, 'Over MCP, since the start'),
        ...(failed === null ? [] : [{ label: 'Failed', value: formatCount(failed) }]),
        ...quantiles(tools, 'tool calls'),
        ...metric('Open streams', 'service_mcp_sse_subscribers', formatCount, 'Event streams of MCP clients'),
      ],
    },
    {
      title: 'Process',
      readings: [
        ...metric('Up for', 'service_uptime_seconds', formatUptime),
        ...metric('Memory', 'process_resident_memory_bytes', formatBytes, 'Resident, of the whole process'),
        ...metric('JavaScript heap', 'nodejs_heap_size_used_bytes', formatBytes, 'In use'),
        ...metric('Processor time', 'process_cpu_seconds_total', formatUptime, 'Since the start'),
        ...metric('Windows listening', 'service_events_subscribers', formatCount, 'Open streams of changes'),
      ],
    },
  ];
  return groups.filter(({ readings }) => readings.length > 0);
}

/** The numbers of the log, shown beside the storage. */
export function logReadingsOf(samples: readonly MetricSample[]): LabelledValue[] {
  const shown: readonly (readonly [string, string, Write, string])[] = [
    ['Records written', 'service_log_records_total', formatCount, 'Since the start'],
    ['Group commits', 'service_log_commits_total', formatCount, 'Writes that shared a sync, since the start'],
  ];
  return shown.flatMap(([label, name, write, hint]) => {
    const value = sumOf(samples, name);
    return value === null ? [] : [{ label, value: write(value), hint }];
  });
}

/** Whether the log accepts writes; null if the service does not say. */
export function storageTakesWrites(samples: readonly MetricSample[]): boolean | null {
  const value = sumOf(samples, 'service_storage_ready');
  return value === null ? null : value === 1;
}
