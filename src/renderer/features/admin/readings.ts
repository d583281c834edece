/**
 * The service's metrics as the labelled numbers shown on the dashboard.
 *
 * What the service does not measure is left out, not shown as zero. Quantiles are estimates from histograms,
 * marked if they lie beyond the last bound. Totals count from the start of the process.
 */
import { formatBytes, formatCount, formatDuration } from '../../ui/format.ts';
import { type Quantile, quantileOf, type MetricSample, sumOf } from './prometheus.ts';

/** A labelled number. */
export interface LabelledValue {
  readonly label: string;
  readonly value: string;
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
