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
}

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
  return [{ text, kind, askedAt, count }, ...list.filter((question) => question.text !== text)];
}
