/**
 * The facts beside a fact that is a turn of a conversation or another entry of a sequence: `said(s1, 7, "Near the
 * lake.")` after `said(s1, 6, "Where did you stay in Norway?")`. An answer often has none of the words of its question.
 *
 * A turn holds a text. Its neighbours are the visible facts stored just before and after it, in the same relation and
 * scope, that share an argument or follow in number or time.
 */
import { parseTime } from '../contract/time-text.ts';
import type { FactRow } from '../store/fact-matching.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import type { ViewNames } from './view-names.ts';
import type { WordIndex } from './word-index.ts';

/** A text has at least this many words; a neighbour may have fewer. */
const minWords = 5;
/** How far neighbours are, in facts, and how many invisible ones are passed over on each side. */
const maxDistance = 2;
const maxInvisible = 8;
/** Turns of one conversation are at most this many milliseconds apart. */
const maxPause = 3_600_000;
const startOfNumber = /^\d/;
const integer = /^\d{1,9}$/;

/** A fact beside a turn. */
export interface Neighbour {
  readonly fact: FactRow;
  /** 1 beside it, 2 for the next one. */
  readonly distance: number;
  /** True if both are certainly of one sequence: by number within a session, by time, or as marked episodes. */
  readonly isNext: boolean;
}

/** Looks up the neighbours of turns in a view. */
export class NeighbouringTurns {
  readonly #names: ViewNames;
  readonly #index: WordIndex;

  constructor(names: ViewNames, index: WordIndex) {
    this.#names = names;
    this.#index = index;
  }

  /** The neighbours of the fact; none unless it or they hold a text. */
  of(fact: FactRow): Neighbour[] {
    const found: Neighbour[] = [];
    if (fact.relation.arity < 2) return found;
    for (const step of [-1, 1]) this.#walk(fact, step, found);
    return found;
  }

  #walk({ relation, row }: FactRow, step: number, found: Neighbour[]): void {
    let distance = 0;
    let invisible = 0;
    for (let at = row + step; at >= 0 && at < relation.count; at += step) {
      if (this.#textPosition(relation, row, at) < 0) return;
      const beside = { relation, row: at };
      if (!this.#names.isVisible(beside)) {
        if (++invisible > maxInvisible) return;
        continue;
      }
      const relative = this.#compare(relation, row, at);
      if (relative === null) return;
      found.push({ fact: beside, distance: ++distance, isNext: relative === 'next' });
      if (distance === maxDistance) return;
    }
  }

  /** How the rows of a relation belong together; null: not at all. */
  #compare(relation: StoredRelation, row: number, other: number): 'next' | 'beside' | null {
    const { arity, columns } = relation;
    const idAt = (position: number, of: number): number => (columns[position] as Int32Array)[of] as number;
    if (idAt(arity, row) !== idAt(arity, other)) return null;
    const text = this.#textPosition(relation, row, other);
    if (text < 0) return null;
    let isShared = false;
    let isFollowing = false;
    let isSoon = false;
    for (let position = 0; position < arity; position++) {
      if (position === text) continue;
      const [left, right] = [idAt(position, row), idAt(position, other)];
      if (left === right) {
        isShared = true;
        continue;
      }
      const gap = this.#gap(left, right);
      if (gap === 'number') isFollowing = true;
      if (gap === 'time') isSoon = true;
    }
    if (isSoon || (isShared && isFollowing) || this.#areEpisodes(relation, row, other)) return 'next';
    return isShared ? 'beside' : null;
  }

  /** The position of the longest text in these rows; -1: there is none. */
  #textPosition({ arity, columns }: StoredRelation, row: number, other: number): number {
    const { constants } = this.#index;
    let [most, found] = [minWords - 1, -1];
    for (let position = 0; position < arity; position++) {
      const column = columns[position] as Int32Array;
      const words = Math.max(
        constants.length(column[row] as number),
        constants.length(column[other] as number),
      );
      if (words > most) [most, found] = [words, position];
    }
    return found;
  }

  /** What tells that two constants follow each other: numbers or times with little between them. */
  #gap(left: number, right: number): 'number' | 'time' | null {
    const { dictionary } = this.#names.context.tenant.facts;
    const [one, other] = [dictionary.text(left), dictionary.text(right)];
    if (!startOfNumber.test(one) || !startOfNumber.test(other)) return null;
    if (integer.test(one) && integer.test(other))
      return Math.abs(Number(one) - Number(other)) <= maxDistance ? 'number' : null;
    const [earlier, later] = [timeOf(one), timeOf(other)];
    return earlier !== null && later !== null && Math.abs(later - earlier) <= maxPause ? 'time' : null;
  }

  #areEpisodes(relation: StoredRelation, row: number, other: number): boolean {
    const { facts } = this.#names.context.tenant;
    return (
      relation.metadata.size > 0 &&
      facts.metadataOf({ relation, row })['episode'] === true &&
      facts.metadataOf({ relation, row: other })['episode'] === true
    );
  }
}

const epochMs = /^\d{12,13}$/;

function timeOf(text: string): number | null {
  return epochMs.test(text) ? Number(text) : parseTime(text);
}
