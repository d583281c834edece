/**
 * The list of a space's known questions, as values: newest first, each question once.
 *
 * Saved ones stay until they are removed, the others give way when there are too many.
 */

export interface KnownQuestion {
  readonly text: string;
  readonly kind: 'asked' | 'saved' | 'suggested';
  /** Epoch ms of the last time it was asked; 0 for never. */
  readonly askedAt: number;
  /** Answers it had then; null for never. */
  readonly count: number | null;
  /** Of a saved one: what it is called; null: by its text. */
  readonly name: string | null;
  /** Of a saved one: the folder it lies in; null: beside the folders. */
  readonly folder: string | null;
}

/** Where a saved question lies, and what it is called. */
export type SavedPlace = Pick<KnownQuestion, 'name' | 'folder'>;

export const nowhere: SavedPlace = { name: null, folder: null };

const greatestCount = 200;

/** Drops the oldest that are not saved where there are too many. */
export function trim(list: readonly KnownQuestion[]): readonly KnownQuestion[] {
  let excess = list.length - greatestCount;
  if (excess <= 0) return list;
  return [...list]
    .reverse()
    .filter((question) => question.kind === 'saved' || excess-- <= 0)
    .reverse();
}

/** Puts a question that was asked on top; a saved one stays saved. */
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

/** Saves a question, asked before or not, or moves a saved one; null: it is saved no longer. */
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

export interface QuestionFolder {
  readonly name: string;
  readonly questions: readonly KnownQuestion[];
}

function compareTexts(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true, sensitivity: 'base' });
}

/** Saved questions by folder, and those in none; folders and what is in them by name. */
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
