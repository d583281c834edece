/** Numbers, times and durations as text. Times are epoch milliseconds. */

const wholeNumber = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const dateAlone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** Returns a whole number with separators. */
export function formatCount(count: number): string {
  return wholeNumber.format(count);
}

/** Returns `1 fact`, `2 facts`. */
export function formatAmount(count: number, one: string, many: string = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Returns a date with time. */
export function formatTime(time: number): string {
  return dateAndTime.format(time);
}

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Returns an amount of memory or storage with three digits: `1.50 MiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? formatCount(amount) : amount.toPrecision(amount < 1000 ? 3 : 4)} ${byteUnits[power]}`;
}

/** Returns a duration in milliseconds with three digits. */
export function formatDuration(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(2)} s` : `${Math.round(ms / 60_000)} min`;
}

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** Returns the distance from `now`: `3 min. ago`. */
export function formatRelative(time: number, now: number): string {
  const distance = time - now;
  for (const [unit, length] of steps)
    if (Math.abs(distance) >= length) return relative.format(Math.trunc(distance / length), unit);
  return 'just now';
}

/** Returns when a fact is valid: `always`, or its bounds. */
export function formatValidity(validFrom: number | null, validUntil: number | null): string {
  if (validFrom === null && validUntil === null) return 'always';
  if (validFrom === null) return `until ${dateAlone.format(validUntil ?? 0)}`;
  if (validUntil === null) return `from ${dateAlone.format(validFrom)}`;
  return `${dateAlone.format(validFrom)} – ${dateAlone.format(validUntil)}`;
}
