/** Compares two runs: which answers were added, removed or stayed. Pure, linear in the answers. */
import type { ShownAnswer } from './answer.ts';

/** What happened to an answer between two runs. */
export type AnswerChange = 'added' | 'removed' | 'stays';

/** An answer of either run. */
export interface ComparedAnswer {
  readonly change: AnswerChange;
  readonly result: string;
  readonly bindings: Readonly<Record<string, string>>;
}

/** The difference of two runs. */
export interface RunComparison {
  /** In the order of the later run; removed answers keep their former position. */
  readonly rows: readonly ComparedAnswer[];
  readonly added: number;
  readonly removed: number;
  readonly stays: number;
}

type Compared = Pick<ShownAnswer, 'results' | 'bindings'>;

/** Compares the answers of two runs. */
export function compareRuns(before: Compared, after: Compared): RunComparison {
  const positionsBefore = new Map(before.results.map((result, index) => [result, index]));
  const still = new Set(after.results);
  const rows: ComparedAnswer[] = [];
  const row = (change: AnswerChange, { results, bindings }: Compared, index: number): void => {
    rows.push({ change, result: results[index] ?? '', bindings: bindings[index] ?? {} });
  };
  let next = 0;
  const passUntil = (end: number): void => {
    for (; next < end; next += 1) if (!still.has(before.results[next] ?? '')) row('removed', before, next);
  };
  let added = 0;
  for (const [index, result] of after.results.entries()) {
    const position = positionsBefore.get(result);
    if (position !== undefined) passUntil(position);
    else added += 1;
    row(position === undefined ? 'added' : 'stays', after, index);
  }
  passUntil(before.results.length);
  const stays = after.results.length - added;
  return { rows, added, removed: rows.length - after.results.length, stays };
}

/** How the runs differ in question, mode and scope, in words; empty if not at all. */
export function runDifferencesOf(before: ShownAnswer, after: ShownAnswer): string[] {
  const ways = (run: ShownAnswer) => (run.isStoredOnly ? 'stored only' : 'with inference');
  return [
    before.question.text === after.question.text ? null : `it asked ${before.question.text}`,
    before.isStoredOnly === after.isStoredOnly ? null : `it was asked ${ways(before)}`,
    before.scope === after.scope ? null : `its scope was ${before.scope}`,
  ].filter((difference) => difference !== null);
}

const maxEarlierRuns = 8;
/** Maximum number of answers in all earlier runs of a tab. */
const maxEarlierAnswers = 200_000;

function isSameAnswer(left: ShownAnswer, right: ShownAnswer): boolean {
  return (
    left.question.text === right.question.text &&
    left.isStoredOnly === right.isStoredOnly &&
    left.scope === right.scope &&
    left.truncated === right.truncated &&
    left.results.length === right.results.length &&
    left.results.every((result, index) => result === right.results[index])
  );
}

/**
 * The earlier runs once `next`, or a failure (null), replaces `shown`. Runs with the same answers are stored
 * once.
 */
export function earlierAfter(
  earlier: readonly ShownAnswer[],
  shown: ShownAnswer | null,
  next: ShownAnswer | null,
): readonly ShownAnswer[] {
  if (shown === null || (next !== null && isSameAnswer(shown, next))) return earlier;
  let room = maxEarlierAnswers;
  return [shown, ...earlier].slice(0, maxEarlierRuns).filter(({ results }) => (room -= results.length) >= 0);
}
