/** The contradictions of a window, and which side of each an agent is given. */
import type { Contradiction, ContextWindow } from '../../../engine/contract/context.ts';
import { atomOf } from './window-rows.ts';

/** `both` and `neither`: as many sides stand in the window. */
export type Given = 'positive' | 'negative' | 'both' | 'neither';

export interface ContradictionRow {
  readonly contradiction: Contradiction;
  /** The atom as it is true; the other side is its negation. */
  readonly positive: string;
  readonly negative: string;
  readonly given: Given;
  /** The side that was left out as the weaker one; null where none was. */
  readonly weaker: 'positive' | 'negative' | null;
}

/** The contradictions in the order of the answer. */
export function contradictionRows(window: ContextWindow): ContradictionRow[] {
  const inWindow = new Set(window.entries.map(atomOf));
  const weaker = new Set(
    (window.omitted ?? []).flatMap(({ atom, reason }) => (reason === 'contradiction' ? [atom] : [])),
  );
  return window.contradictions.map((contradiction) => {
    const positive = atomOf({ ...contradiction, negated: false });
    const negative = atomOf({ ...contradiction, negated: true });
    const [isTrue, isFalse] = [inWindow.has(positive), inWindow.has(negative)];
    return {
      contradiction,
      positive,
      negative,
      given: isTrue ? (isFalse ? 'both' : 'positive') : isFalse ? 'negative' : 'neither',
      weaker: weaker.has(positive) ? 'positive' : weaker.has(negative) ? 'negative' : null,
    };
  });
}

/** What became of a contradiction, in words. */
export function givenInWords({ given, weaker }: ContradictionRow): string {
  if (given === 'both') return 'both stay';
  if (weaker === 'positive') return given === 'negative' ? 'false wins' : 'false wins, but has no room';
  if (weaker === 'negative') return given === 'positive' ? 'true wins' : 'true wins, but has no room';
  if (given === 'neither') return 'both are left out';
  return given === 'positive' ? 'only true is in the window' : 'only false is in the window';
}
