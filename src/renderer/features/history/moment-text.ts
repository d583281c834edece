/** Moments of knowledge as a person writes them: a generation, or a time of this place. */
import { parseTime } from '../../../engine/contract/time-text.ts';
import { asGeneration } from '../../api/moment.ts';

const local = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?))?$/;

/** Returns what is written as `PastMoment.asKnown` has it; null if it is neither a generation nor a time. */
export function readMoment(text: string): string | null {
  const written = text.trim();
  if (asGeneration(written) !== null) return written;
  const [, date, time = '00:00'] = local.exec(written) ?? [];
  if (date === undefined) return parseTime(written) === null ? null : written;
  // `parseTime` knows the days of each month, which `Date` rolls over.
  const at = parseTime(`${date}T${time}`) === null ? Number.NaN : new Date(`${date}T${time}`).getTime();
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** Returns a moment as it is written: digits, or the time of this place to the second. */
export function writeMoment(asKnown: string): string {
  const time = asGeneration(asKnown) === null ? parseTime(asKnown) : null;
  if (time === null) return asKnown;
  const offset = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offset).toISOString().slice(0, 19).replace('T', ' ');
}
