/**
 * Minimal sets of facts to assert and to retract that would make a statement true.
 *
 * The search goes backwards from what /explain says is missing: of each rule only the way that got furthest. It is
 * bounded, and says when a bound ended it. Every set is tried with /whatIf before it is shown, and none of its changes
 * can be left out.
 */
import type { Atom } from '../../../engine/contract/language.ts';
import { isVariable } from '../../../engine/contract/language.ts';
import { parseBody } from '../../../engine/language/parse.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { isAbsence, isAggregate, isBuiltin } from '../../../engine/language/terms.ts';

/** One change of a remedy. */
export interface RemedyChange {
  readonly kind: 'assert' | 'retract';
  readonly atom: Atom;
}

/** Changes that together make the statement true. */
export type Remedy = readonly RemedyChange[];

/** The questions that the search asks. */
export interface RemedyWorld {
  /** What each rule misses for a ground atom, as text; null if the atom is true. */
  whyNot(atom: Atom): Promise<readonly { readonly missing: readonly string[] }[] | null>;
  /** The stored facts of the proof of a true atom; itself if it is stored. */
  factsBehind(atom: Atom): Promise<readonly Atom[]>;
  /** The true atoms that a pattern matches. */
  matches(pattern: Atom): Promise<readonly Atom[]>;
  /** Whether the statement is true after the changes. */
  holdsWith(changes: Remedy): Promise<boolean>;
}

/** What the search found. */
export interface Remedies {
  /** The smallest first. */
  readonly sets: readonly Remedy[];
  /** True if a bound ended the search: there may be more sets, and smaller ones. */
  readonly isCut: boolean;
  /** What no change of facts could make true, such as a comparison, or what lacks a value. */
  readonly outOfReach: readonly string[];
}

/** Maximum numbers of requests to find and to try sets, of changes in one, of rules in a row, and of sets shown. */
const MAX_LOOKED = 120;
const MAX_TRIED = 80;
const MAX_CHANGES = 4;
const MAX_DEPTH = 5;
const MAX_CANDIDATES = 200;
const MAX_SHOWN = 20;
/** An absence that more facts contradict is not worth retracting them all. */
const MAX_MATCHES = 4;

const keyOf = ({ kind, atom }: RemedyChange): string => `${kind} ${renderAtom(atom)}`;
const keysOf = (remedy: Remedy): string[] => remedy.map(keyOf);

/** True if `whole` has all changes of `part`. */
function includesAll(whole: Remedy, part: Remedy): boolean {
  const keys = new Set(keysOf(whole));
  return keysOf(part).every((key) => keys.has(key));
}

/** Returns the sets without those that contain another, the smallest first. */
function minimal(sets: readonly Remedy[]): Remedy[] {
  const kept: Remedy[] = [];
  for (const set of sets.toSorted((left, right) => left.length - right.length))
    if (!kept.some((smaller) => includesAll(set, smaller))) kept.push(set);
  return kept;
}

class RemedySearch {
  readonly #world: RemedyWorld;
  readonly #isPermitted: (atom: Atom) => boolean;
  readonly outOfReach = new Set<string>();
  isCut = false;
  #looked = 0;

  constructor(world: RemedyWorld, isPermitted: (atom: Atom) => boolean) {
    this.#world = world;
    this.#isPermitted = isPermitted;
  }

  /** False once the bound is reached. */
  #mayLook(): boolean {
    this.#looked += 1;
    if (this.#looked > MAX_LOOKED) this.isCut = true;
    return this.#looked <= MAX_LOOKED;
  }

  /** All ways to make several things true at once. */
  #together(parts: readonly (readonly Remedy[])[]): Remedy[] {
    let sets: Remedy[] = [[]];
    for (const part of parts) {
      const next = new Map<string, Remedy>();
      for (const set of sets)
        for (const more of part) {
          const changes = new Map([...set, ...more].map((change) => [keyOf(change), change]));
          if (changes.size > MAX_CHANGES || next.size >= MAX_CANDIDATES) this.isCut = true;
          else next.set([...changes.keys()].sort().join('\n'), [...changes.values()]);
        }
      sets = minimal([...next.values()]);
    }
    return sets;
  }

  /** The ways to make a ground atom true. `above`: the atoms that the search came through. */
  async waysTo(atom: Atom, above: readonly string[] = []): Promise<Remedy[]> {
    const text = renderAtom(atom);
    if (above.includes(text)) return [];
    const sets: Remedy[] = this.#isPermitted(atom) ? [[{ kind: 'assert', atom }]] : [];
    if (above.length >= MAX_DEPTH) {
      this.isCut = true;
      return sets;
    }
    if (!this.#mayLook()) return sets;
    const attempts = await this.#world.whyNot(atom);
    if (attempts === null) return [[]];
    for (const { missing } of attempts) {
      const parts: Remedy[][] = [];
      for (const literal of missing) {
        const ways = await this.#waysToLiteral(literal, [...above, text]);
        parts.push(ways);
        if (ways.length === 0) break;
      }
      if (parts.every((ways) => ways.length > 0)) sets.push(...this.#together(parts));
    }
    return minimal(sets).slice(0, MAX_CANDIDATES);
  }

  async #waysToLiteral(text: string, above: readonly string[]): Promise<Remedy[]> {
    const [literal] = parseBody(text);
    if (literal === undefined || isAggregate(literal) || isBuiltin(literal)) {
      this.outOfReach.add(text);
      return [];
    }
    const { predicate, args, negated } = literal;
    const atom: Atom = { predicate, args, negated };
    if (isAbsence(literal)) return this.#waysToAbsence(atom);
    if (!args.some(isVariable)) return this.waysTo(atom, above);
    this.outOfReach.add(text);
    return [];
  }

  /** The ways to end whatever matches: one stored fact of each proof goes. */
  async #waysToAbsence(pattern: Atom): Promise<Remedy[]> {
    if (!this.#mayLook()) return [];
    const found = await this.#world.matches(pattern);
    if (found.length > MAX_MATCHES) {
      this.isCut = true;
      return [];
    }
    const parts: Remedy[][] = [];
    for (const atom of found) {
      if (!this.#mayLook()) return [];
      const facts = await this.#world.factsBehind(atom);
      parts.push(facts.filter(this.#isPermitted).map((fact) => [{ kind: 'retract', atom: fact }]));
    }
    return this.#together(parts);
  }
}

/** Leaves out what a set does not need; null if the set does not help, or cannot be tried any more. */
async function tried(set: Remedy, holds: (set: Remedy) => Promise<boolean | null>): Promise<Remedy | null> {
  if ((await holds(set)) !== true) return null;
  let needed = set;
  for (const change of set) {
    if (needed.length < 2) break;
    const rest = needed.filter((each) => each !== change);
    if ((await holds(rest)) === true) needed = rest;
  }
  return needed;
}

/** Searches for the minimal changes that make a ground atom true. Rejects with the errors of the world. */
export async function findRemedies(
  goal: Atom,
  world: RemedyWorld,
  isPermitted: (atom: Atom) => boolean,
): Promise<Remedies> {
  const search = new RemedySearch(world, isPermitted);
  const candidates = (await search.waysTo(goal)).filter((set) => set.length > 0);
  let trials = 0;
  let { isCut } = search;
  const holds = async (set: Remedy): Promise<boolean | null> => {
    trials += 1;
    if (trials > MAX_TRIED) {
      isCut = true;
      return null;
    }
    return world.holdsWith(set);
  };
  const found: Remedy[] = [];
  for (const candidate of candidates) {
    if (found.length >= MAX_SHOWN) {
      isCut = true;
      break;
    }
    if (found.some((smaller) => includesAll(candidate, smaller))) continue;
    const set = await tried(candidate, holds);
    if (set !== null) found.push(set);
    if (trials > MAX_TRIED) break;
  }
  return { sets: minimal(found), isCut, outOfReach: [...search.outOfReach].sort() };
}
