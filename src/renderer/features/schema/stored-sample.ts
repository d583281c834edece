/**
 * What the stored facts of a predicate say about its shape: types, distinct values, candidate keys, and what a
 * declaration would find violated. Pure, over the facts that were fetched: all of them, or a random sample.
 */
import type { DeclarationInput } from '../../../engine/contract/declarations.ts';
import type { Literal, Rule } from '../../../engine/contract/language.ts';
import { isOfType, misfit } from '../../../engine/language/argument-types.ts';
import { guessedType } from '../../api/guessed-type.ts';
import { isAggregate, isNamedVariable } from '../../../engine/language/terms.ts';

/** A stored fact, as far as its shape concerns. */
export interface SampledFact {
  readonly id: string | null;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly validFrom: number | null;
  readonly validUntil: number | null;
}

/** The facts that were fetched, of how many. */
export interface StoredSample {
  readonly facts: readonly SampledFact[];
  /** False: there are more stored facts. */
  readonly isWhole: boolean;
}

/** Facts of a sample at most. */
export const MAX_SAMPLED = 5000;
/** Requests for a sample; each stratum of the facts, in the order in which they are listed, gives a page. */
const PAGES = 20;

interface SamplePage {
  readonly offset: number;
  readonly limit: number;
}

/**
 * The pages that a sample of so many listed facts consists of: all of them, or at a random place of each of `PAGES` equal
 * parts, so that values which only later facts have are seen. `random` is like `Math.random`.
 */
export function samplePages(total: number, random: () => number): SamplePage[] {
  const limit = MAX_SAMPLED / PAGES;
  if (total <= MAX_SAMPLED)
    return Array.from({ length: Math.ceil(total / 1000) }, (_, page) => ({
      offset: page * 1000,
      limit: 1000,
    }));
  return Array.from({ length: PAGES }, (_, part) => {
    const begin = Math.floor((part * total) / PAGES);
    const end = Math.floor(((part + 1) * total) / PAGES);
    return { offset: begin + Math.floor(random() * (end - begin - limit + 1)), limit };
  });
}

type ArgumentType = DeclarationInput['arguments'][number]['type'];

/** What the sample says about one argument. */
export interface ArgumentProfile {
  readonly type: ArgumentType;
  readonly distinct: number;
  /** The first distinct values. */
  readonly examples: readonly string[];
}

const maxExamples = 3;
const MAX_KEYS = 5;

/** What the sample says about each argument, by position. */
export function profilesOf({ facts }: StoredSample, arity: number): ArgumentProfile[] {
  return Array.from({ length: arity }, (_, position) => {
    const values = new Set<string>();
    for (const { args } of facts) values.add(args[position] ?? '');
    return {
      type: guessedType(values, facts.length),
      distinct: values.size,
      examples: [...values].slice(0, maxExamples),
    };
  });
}

/** Facts with one value of a key, in one scope, two of which are valid at one instant. */
interface DoubledKey {
  readonly values: readonly string[];
  readonly facts: readonly SampledFact[];
}

function overlaps(left: SampledFact, right: SampledFact): boolean {
  const begins = Math.max(left.validFrom ?? -Infinity, right.validFrom ?? -Infinity);
  const ends = Math.min(left.validUntil ?? Infinity, right.validUntil ?? Infinity);
  return begins < ends;
}

/** The facts of a group that overlap in time with another one. Sorted by beginning, only the longest so far matters. */
function overlapping(group: readonly SampledFact[]): SampledFact[] {
  const byBeginning = group.toSorted(
    (left, right) => (left.validFrom ?? -Infinity) - (right.validFrom ?? -Infinity) || 0,
  );
  const found = new Set<SampledFact>();
  let [longest] = byBeginning;
  for (const each of byBeginning.slice(1)) {
    if (longest === undefined) break;
    if (overlaps(longest, each)) found.add(longest).add(each);
    if ((each.validUntil ?? Infinity) > (longest.validUntil ?? Infinity)) longest = each;
  }
  return group.filter((fact) => found.has(fact));
}

/** The values of a key, given by positions, that several true facts of a scope have at one instant. */
export function doubledKeys({ facts }: StoredSample, positions: readonly number[]): DoubledKey[] {
  if (positions.length === 0) return [];
  const groups = new Map<string, SampledFact[]>();
  for (const fact of facts) {
    if (!fact.truthVal) continue;
    const key = JSON.stringify([fact.scope, ...positions.map((position) => fact.args[position])]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [fact]);
    else group.push(fact);
  }
  const found: DoubledKey[] = [];
  for (const group of groups.values()) {
    const several = group.length < 2 ? [] : overlapping(group);
    const [first] = several;
    if (first !== undefined)
      found.push({ values: positions.map((position) => first.args[position] ?? ''), facts: several });
  }
  return found;
}

/** Single positions, then pairs: a larger key is hardly meant. */
function positionSets(arity: number): number[][] {
  const sets: number[][] = Array.from({ length: arity }, (_, position) => [position]);
  for (let first = 0; first < arity; first++)
    for (let second = first + 1; second < arity; second++) sets.push([first, second]);
  return sets;
}

/**
 * Positions whose values no two of the sampled facts share at one instant: the smallest first, without those that contain
 * another, and without all arguments together, which are no key worth naming. Empty for fewer than two facts.
 */
export function candidateKeys(sample: StoredSample, arity: number): number[][] {
  if (sample.facts.length < 2) return [];
  const keys: number[][] = [];
  for (const positions of positionSets(arity)) {
    if (keys.length >= MAX_KEYS || positions.length >= arity) break;
    if (keys.some((key) => key.every((position) => positions.includes(position)))) continue;
    if (doubledKeys(sample, positions).length === 0) keys.push(positions);
  }
  return keys;
}

/** A fact with an argument of another type, and what is wrong with it. */
interface Misfit {
  readonly fact: SampledFact;
  readonly message: string;
}

/** The facts whose arguments are not of the declared types. */
export function misfitsIn({ facts }: StoredSample, { arguments: declared }: DeclarationInput): Misfit[] {
  return facts.flatMap((fact) => {
    const messages = declared.flatMap((argument, position) => {
      const value = fact.args[position] ?? '';
      return isOfType(argument.type, value) ? [] : [misfit(argument, value)];
    });
    return messages.length === 0 ? [] : [{ fact, message: messages.join('; ') }];
  });
}

/** What a declaration would find violated in the sample. */
export interface SampledViolations {
  readonly misfits: readonly Misfit[];
  readonly doubles: readonly DoubledKey[];
}

/** What the declaration would find violated in the sample. */
export function sampledViolations(sample: StoredSample, declaration: DeclarationInput): SampledViolations {
  const names = declaration.arguments.map(({ name }) => name);
  return {
    misfits: misfitsIn(sample, declaration),
    doubles: doubledKeys(
      sample,
      declaration.key.map((name) => names.indexOf(name)),
    ),
  };
}

type Terms = readonly string[];

function* atomsOf(body: readonly Literal[]): Generator<{ readonly predicate: string; readonly args: Terms }> {
  for (const literal of body) {
    if (isAggregate(literal)) yield* atomsOf(literal.body);
    else yield literal;
  }
}

/** Shorter variables say nothing about what they stand for. */
const MIN_NAME_CHARACTERS = 3;

/**
 * A name for each argument: the variable that rules use most at its position, if it is a word, else `argument_1`. Names are
 * distinct.
 */
export function proposedNames(
  { name, arity }: { readonly name: string; readonly arity: number },
  rules: readonly Rule[],
): string[] {
  const uses = Array.from({ length: arity }, () => new Map<string, number>());
  for (const { head, body } of rules)
    for (const { predicate, args } of [head, ...atomsOf(body)])
      if (predicate === name && args.length === arity)
        for (const [position, term] of args.entries())
          if (isNamedVariable(term) && term.length > MIN_NAME_CHARACTERS)
            uses[position]?.set(term.slice(1), (uses[position]?.get(term.slice(1)) ?? 0) + 1);
  const taken = new Set<string>();
  return uses.map((counts, position) => {
    const [best] = [...counts].filter(([word]) => !taken.has(word)).sort((left, right) => right[1] - left[1]);
    const chosen = best?.[0] ?? `argument_${position + 1}`;
    taken.add(chosen);
    return chosen;
  });
}

/** The rules whose bodies read the predicate. */
export function rulesReading<Of extends Rule>(
  rules: readonly Of[],
  { name, arity }: { readonly name: string; readonly arity: number },
): Of[] {
  return rules.filter(({ body }) =>
    [...atomsOf(body)].some(({ predicate, args }) => predicate === name && args.length === arity),
  );
}
