/** The files that the desktop application opens when it is given them: those that Import reads, told by their names. */

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

export function isOpenedFile(path: string): boolean {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase();
  return openedExtensions.some((opened) => opened === extension);
}
