/** Numbers, times and durations as text, as the browser's locale writes them. Times are epoch milliseconds. */
import { amount, language, locale, message } from './texts.ts';

const wholeNumber = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const shortNumber = new Intl.NumberFormat(locale, { notation: 'compact', maximumSignificantDigits: 3 });
const dateAndTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const dateAlone = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });

/** Returns a whole number with separators. */
export function formatCount(count: number): string {
  return wholeNumber.format(count);
}

/** Returns a whole number for little room: from a million on with three digits, `1.23M`. */
export function formatShortCount(count: number): string {
  return count < 1_000_000 ? formatCount(count) : shortNumber.format(count);
}

/** Returns `1 fact`, `2 facts`. */
export function formatAmount(count: number, one: string, many: string = `${one}s`): string {
  return amount(count, formatCount(count), one, many);
}

/** Returns a date with time. */
export function formatTime(time: number): string {
  return dateAndTime.format(time);
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

function digits(count: number): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, { minimumSignificantDigits: count, maximumSignificantDigits: count });
}
const threeDigits = digits(3);
const fourDigits = digits(4);

/** Returns an amount of memory or storage with three digits: `1.50 MiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2(bytes) / 10));
  const inUnit = bytes / 1024 ** power;
  if (power === 0) return `${formatCount(inUnit)} ${byteUnits[power]}`;
  return `${(inUnit < 1000 ? threeDigits : fourDigits).format(inUnit)} ${byteUnits[power]}`;
}

function places(count: number): Intl.NumberFormat {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: count, maximumFractionDigits: count });
}
const onePlace = places(1);
const twoPlaces = places(2);

/** Returns a duration in milliseconds with three digits. */
export function formatDuration(ms: number): string {
  if (ms < 1) return `${twoPlaces.format(ms)} ms`;
  if (ms < 10) return `${onePlace.format(ms)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${twoPlaces.format(ms / 1_000)} s` : `${formatCount(Math.round(ms / 60_000))} min`;
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });

/** Returns the distance from `now`: `3 min. ago`. */
export function formatRelative(time: number, now: number): string {
  const distance = time - now;
  for (const [unit, length] of steps)
    if (Math.abs(distance) >= length) return relative.format(Math.trunc(distance / length), unit);
  return message('just now');
}

/** Returns when a fact is valid: `always`, or its bounds. */
export function formatValidity(validFrom: number | null, validUntil: number | null): string {
  if (validFrom === null && validUntil === null) return message('always');
  if (validFrom === null) return `until ${dateAlone.format(validUntil ?? 0)}`;
  if (validUntil === null) return `from ${dateAlone.format(validFrom)}`;
  return `${dateAlone.format(validFrom)} – ${dateAlone.format(validUntil)}`;
}
