/** What needs somebody's attention, by the metrics: the worst first. */
import { formatAmount, formatBytes, formatDuration, formatTime } from '../../ui/format.ts';
import { growthOf, lastRestart, type MetricsReading } from './history.ts';

export interface Attention {
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  readonly detail: string;
}

/** From this share of its budget on, derived knowledge is about to be thrown away and derived again. */
const nearlyFull = 0.9;
const longLagSeconds = 0.25;

/** Empty where all is well. */
export function attentionOf(readings: readonly MetricsReading[]): Attention[] {
  const now = readings.at(-1);
  if (now === undefined) return [];
  const { storageReady, derivedBytes, derivedBudget, lag, replicationRecords } = now.levels;
  const found: Attention[] = [];
  if (storageReady === 0)
    found.push({
      tone: 'bad',
      title: 'Storage takes no writes',
      detail:
        'Writes are refused, reads go on. Make room on the disk: writing works again a few seconds later. Where the log says that a sync failed, restart the service.',
    });
  const failed = growthOf(readings, 'failedRequests') ?? 0;
  if (failed > 0)
    found.push({
      tone: 'bad',
      title: `${formatAmount(failed, 'request')} failed inside the service`,
      detail: 'In the time shown here. The log has each with its request id.',
    });
  if (
    derivedBytes !== undefined &&
    derivedBudget !== undefined &&
    derivedBudget > 0 &&
    derivedBytes >= nearlyFull * derivedBudget
  )
    found.push({
      tone: 'warn',
      title: 'The memory for conclusions is nearly full',
      detail: `${formatBytes(derivedBytes)} of ${formatBytes(derivedBudget)}. What no longer fits is derived again when it is asked for; MEMORY_BUDGET_BYTES raises the limit.`,
    });
  if (lag !== undefined && lag > longLagSeconds)
    found.push({
      tone: 'warn',
      title: 'The service answers late',
      detail: `Its event loop was held up for ${formatDuration(lag * 1_000)} at the 99th percentile: all calls wait so long.`,
    });
  if (replicationRecords !== undefined && replicationRecords > 0)
    found.push({
      tone: 'warn',
      title: `This follower is ${formatAmount(replicationRecords, 'record')} behind`,
      detail: 'What it answers is older than what its leader knows.',
    });
  const failedTools = growthOf(readings, 'failedTools') ?? 0;
  if (failedTools > 0)
    found.push({
      tone: 'warn',
      title: `${formatAmount(failedTools, 'tool call')} of agents failed`,
      detail: 'In the time shown here.',
    });
  const restart = lastRestart(readings);
  if (restart !== null)
    found.push({
      tone: 'warn',
      title: 'The service was started again',
      detail: `Before ${formatTime(restart)}. Totals count from there.`,
    });
  return found;
}
