/** Sets of changes to facts: how they are put together, made minimal, and tried. Pure but for the trials. */
import type { Atom } from '../../../engine/contract/language.ts';
import { renderAtom } from '../../../engine/language/print.ts';

/** One change of a remedy. */
export interface RemedyChange {
  readonly kind: 'assert' | 'retract';
  readonly atom: Atom;
}

/** Changes that are made together. */
export type Remedy = readonly RemedyChange[];

/** What a search found. */
export interface Remedies {
  /** The smallest first. */
  readonly sets: readonly Remedy[];
  /** True if a bound ended the search: there may be more sets, and smaller ones. */
  readonly isCut: boolean;
  /** What no change of facts could reach, such as a comparison, or what lacks a value. */
  readonly outOfReach: readonly string[];
}

/** Maximum numbers of requests to try sets, of changes in one, of sets in a step, and of sets shown. */
const MAX_TRIED = 80;
const MAX_CHANGES = 4;
const MAX_CANDIDATES = 200;
const MAX_SHOWN = 20;

const keyOf = ({ kind, atom }: RemedyChange): string => `${kind} ${renderAtom(atom)}`;

/** True if `whole` has all changes of `part`. */
function includesAll(whole: Remedy, part: Remedy): boolean {
  const keys = new Set(whole.map(keyOf));
  return part.every((change) => keys.has(keyOf(change)));
}

/** Returns the sets without those that contain another, the smallest first. */
export function minimalSets(sets: readonly Remedy[]): Remedy[] {
  const kept: Remedy[] = [];
  for (const set of sets.toSorted((left, right) => left.length - right.length))
    if (!kept.some((smaller) => includesAll(set, smaller))) kept.push(set);
  return kept;
}

/** Combines sets within the bounds, and notes when one of them left some out. */
export class ChangeSets {
  isCut = false;

  /** All ways to do several things at once. */
  together(parts: readonly (readonly Remedy[])[]): Remedy[] {
    let sets: Remedy[] = [[]];
    for (const part of parts) {
      const next = new Map<string, Remedy>();
      for (const set of sets)
        for (const more of part) {
          const changes = new Map([...set, ...more].map((change) => [keyOf(change), change]));
          if (changes.size > MAX_CHANGES || next.size >= MAX_CANDIDATES) this.isCut = true;
          else next.set([...changes.keys()].sort().join('\n'), [...changes.values()]);
        }
      sets = minimalSets([...next.values()]);
    }
    return sets;
  }

  /** The ways to do any one of several things. */
  any(parts: readonly (readonly Remedy[])[]): Remedy[] {
    const sets = minimalSets(parts.flat());
    if (sets.length > MAX_CANDIDATES) this.isCut = true;
    return sets.slice(0, MAX_CANDIDATES);
  }
}

/** Leaves out what a set does not need; null if the set does not help, or cannot be tried any more. */
async function tried(set: Remedy, helps: (set: Remedy) => Promise<boolean | null>): Promise<Remedy | null> {
  if ((await helps(set)) !== true) return null;
  let needed = set;
  for (const change of set) {
    if (needed.length < 2) break;
    const rest = needed.filter((each) => each !== change);
    if ((await helps(rest)) === true) needed = rest;
  }
  return needed;
}

/** Tries the candidates in order. `failed`: how many did not help; `isCut`: a bound left some untried. */
export async function triedSets(
  candidates: readonly Remedy[],
  helps: (set: Remedy) => Promise<boolean>,
): Promise<{ readonly sets: readonly Remedy[]; readonly isCut: boolean; readonly failed: number }> {
  let [trials, failed, isCut] = [0, 0, false];
  const bounded = async (set: Remedy): Promise<boolean | null> => {
    trials += 1;
    if (trials <= MAX_TRIED) return helps(set);
    isCut = true;
    return null;
  };
  const found: Remedy[] = [];
  for (const candidate of candidates) {
    if (found.length >= MAX_SHOWN || trials > MAX_TRIED) {
      isCut = true;
      break;
    }
    if (found.some((smaller) => includesAll(candidate, smaller))) continue;
    const set = await tried(candidate, bounded);
    if (set !== null) found.push(set);
    else if (!isCut) failed += 1;
  }
  return { sets: minimalSets(found), isCut, failed };
}
