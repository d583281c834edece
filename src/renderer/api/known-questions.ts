/**
 * The known questions of a space: newest first, without duplicates.
 *
 * Saved ones stay until removed; the oldest others are dropped beyond a limit.
 */

export interface KnownQuestion {
  readonly text: string;
  readonly kind: 'asked' | 'saved' | 'suggested';
  /** Epoch milliseconds of the last ask; 0 for never. */
  readonly askedAt: number;
  /** Number of answers then; null for never. */
  readonly count: number | null;
  /** Name of a saved question; null shows its text. */
  readonly name: string | null;
  /** Folder of a saved question; null for none. */
  readonly folder: string | null;
}

/** Name and folder of a saved question. */
export type SavedPlace = Pick<KnownQuestion, 'name' | 'folder'>;

/** The place of a question without name and folder. */
export const nowhere: SavedPlace = { name: null, folder: null };

const maxCount = 200;

/** Drops the oldest unsaved questions beyond the limit. */
export function trim(list: readonly KnownQuestion[]): readonly KnownQuestion[] {
  let excess = list.length - maxCount;
  if (excess <= 0) return list;
  return [...list]
    .reverse()
    .filter((question) => question.kind === 'saved' || excess-- <= 0)
    .reverse();
}

/** Moves an asked question to the top; a saved one stays saved. */
export function withAsked(
  list: readonly KnownQuestion[],
  text: string,
  askedAt: number,
  count: number,
): readonly KnownQuestion[] {
  const before = list.find((question) => question.text === text);
  const kind = before?.kind === 'saved' ? 'saved' : 'asked';
  const { name, folder } = before ?? nowhere;
  return [{ text, kind, askedAt, count, name, folder }, ...list.filter((question) => question.text !== text)];
}

/** Saves a question, asked or not, or moves a saved one; null unsaves it. */
export function withSaved(
  list: readonly KnownQuestion[],
  text: string,
  place: SavedPlace | null,
): readonly KnownQuestion[] {
  const kind = place === null ? 'asked' : 'saved';
  const { name, folder } = place ?? nowhere;
  if (list.some((question) => question.text === text))
    return list.map((question) => (question.text === text ? { ...question, kind, name, folder } : question));
  return place === null ? list : [{ text, kind, askedAt: 0, count: null, name, folder }, ...list];
}

/** A folder with its questions. */
interface QuestionFolder {
  readonly name: string;
  readonly questions: readonly KnownQuestion[];
}

function compareTexts(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true, sensitivity: 'base' });
}

/** Returns saved questions by folder and those outside of folders, sorted by name. */
export function savedByFolder(list: readonly KnownQuestion[]): {
  folders: readonly QuestionFolder[];
  loose: readonly KnownQuestion[];
} {
  const saved = list
    .filter(({ kind }) => kind === 'saved')
    .sort((left, right) => compareTexts(left.name ?? left.text, right.name ?? right.text));
  const names = [...new Set(saved.map(({ folder }) => folder).filter((folder) => folder !== null))];
  return {
    folders: names
      .sort(compareTexts)
      .map((name) => ({ name, questions: saved.filter(({ folder }) => folder === name) })),
    loose: saved.filter(({ folder }) => folder === null),
  };
}
