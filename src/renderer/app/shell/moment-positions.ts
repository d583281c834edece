/** Where a moment lies among the latest changes, and instants as the fields of a form have them. */
import type { GenerationEntry } from '../../../engine/contract/history.ts';
import { parseTime } from '../../../engine/contract/time-text.ts';
import type { PastMoment } from '../../api/moment.ts';

/**
 * Returns the position of the moment among the entries, oldest first: that of the last one known then, 0 if all are later,
 * and one past the last for the present or for what is known now. `generation` is the one whose knowledge is shown, once it
 * is known.
 */
export function positionOf(
  entries: readonly Pick<GenerationEntry, 'generation' | 'time'>[],
  moment: PastMoment | null,
  generation: number | undefined,
): number {
  const asKnown = moment?.asKnown ?? null;
  if (asKnown === null) return entries.length;
  const time = parseTime(asKnown);
  const isKnown = (entry: Pick<GenerationEntry, 'generation' | 'time'>) => {
    if (generation !== undefined) return entry.generation <= generation;
    return time === null ? entry.generation <= Number(asKnown) : entry.time <= time;
  };
  return Math.max(0, entries.findLastIndex(isKnown));
}

/** Generations before and after the one that is shown: null if there is none; after the last one comes the present. */
interface Neighbours {
  readonly earlier: number | null;
  readonly later: number | 'now';
}

/**
 * Returns the neighbours among the entries, newest first. Before the oldest of them, if there are older ones (`isWhole`
 * false), generations are counted: they may have changed nothing of this tenant.
 */
export function stepsFrom(
  entries: readonly Pick<GenerationEntry, 'generation'>[],
  isWhole: boolean,
  generation: number,
): Neighbours {
  const generations = entries.map((entry) => entry.generation);
  const oldest = generations.at(-1) ?? 0;
  const isBefore = !isWhole && generation < oldest;
  const counted = isWhole || generation === 0 ? null : generation - 1;
  return {
    earlier: generations.find((each) => each < generation) ?? counted,
    later: isBefore ? generation + 1 : (generations.findLast((each) => each > generation) ?? 'now'),
  };
}

/** Returns an instant as a field of the type `datetime-local` has it, in local time; empty for a generation or null. */
export function timeField(text: string | null): string {
  const time = text === null ? null : parseTime(text);
  if (time === null) return '';
  const offset = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offset).toISOString().slice(0, 19);
}

/** Returns the instant of such a field as ISO 8601 text in UTC; null if it is empty. */
export function instantOfField(value: string): string | null {
  const time = value === '' ? Number.NaN : new Date(value).getTime();
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
