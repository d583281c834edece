/** What writing delimited text takes; reading it (`delimited.ts`) is not needed on the first page. Pure. */

/** Returns a field as RFC 4180 writes it, quoted if necessary. */
export function writtenField(text: string, separator: ',' | '\t'): string {
  return text.includes('"') || text.includes(separator) || text.includes('\n') || text.includes('\r')
    ? `"${text.replaceAll('"', '""')}"`
    : text;
}

/** Base name of a pasted file. */
export const pastedName = 'Pasted table';
