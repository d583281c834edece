/** Times as text, without the schemas: the first page of the workbench reads dates too. */
const withOffset = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const dateTime =
  /^[+-]?\d{4,6}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** Epoch milliseconds of an ISO 8601 text (UTC if it has no offset); null if it is not one. */
export function parseTime(text: string): number | null {
  if (!dateTime.test(text) || !isDay(text)) return null;
  const isDateOnly = !/[T ]\d{2}:/i.test(text);
  const normal = text.replace(' ', 'T').replace(/([+-]\d{2})$/, isDateOnly ? '$1' : '$1:00');
  const time = Date.parse(isDateOnly || withOffset.test(normal) ? normal : `${normal}Z`);
  return Number.isNaN(time) ? null : time;
}

/** False for a day that its month does not have; `Date.parse` would roll over into the next month. */
function isDay(text: string): boolean {
  const [, year, month, day] = (/^([+-]?\d+)-(\d{2})-(\d{2})/.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  // The calendar repeats every 400 years.
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return month >= 1 && month <= 12 && day >= 1 && day <= lastDay;
}
