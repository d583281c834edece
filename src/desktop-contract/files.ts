/** Extensions of the files that the desktop application opens: those that Import reads. */

export const openedExtensions = [
  'dl',
  'datalog',
  'csv',
  'tsv',
  'tab',
  'ndjson',
  'jsonl',
  'ttl',
  'turtle',
  'nt',
] as const;

/** Returns true for a path with one of the extensions. */
export function isOpenedFile(path: string): boolean {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase();
  return openedExtensions.some((opened) => opened === extension);
}
