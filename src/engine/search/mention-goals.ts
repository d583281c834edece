/**
 * Goals of what a text mentions: the mentioned predicates, or every relation, over the mentioned constants in every
 * order of arguments, kept where they hold.
 */
import { EngineError } from '../base/errors.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { Mention } from '../contract/mention.ts';
import { lookUpFew } from '../store/fact-matching.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { type Matches, question } from '../datalog/tables/question.ts';
import { isTelling } from './mentions.ts';
import { placeVariables, type KnownRelation, type ViewNames } from './view-names.ts';

const maxConstants = 8;
const maxTried = 256;
const maxKept = 100;

/** A goal with its answers. */
export interface MentionGoal {
  readonly goal: AtomLiteral;
  readonly isConcluded: boolean;
  readonly matches: Matches;
}

/** The goals that hold, in order, and how many were left out: not tried, or beyond those that are kept. */
export interface MentionGoals {
  readonly goals: readonly MentionGoal[];
  readonly leftOut: number;
}

/** The mentioned constants, in order of their first mention. */
export function firstConstants(mentions: readonly Mention[]): string[] {
  return [...new Set(mentions.flatMap(({ constants }) => constants))].slice(0, maxConstants);
}

/**
 * The goals of the mentions that hold: those with two mentioned constants, or those with one where none with two holds.
 * Where only goals with one hold of the mentioned predicates, those with two of the other relations come before them.
 * Goals of mentioned predicates come first, then by name, arity and places. At most 256 are evaluated, within `pacer`'s
 * time.
 */
export async function goalsOf(
  text: string,
  mentions: readonly Mention[],
  names: ViewNames,
  pacer: Pacer,
): Promise<MentionGoals> {
  const constants = firstConstants(mentions);
  if (constants.length === 0) return { goals: [], leftOut: 0 };
  const mentioned = new Set(mentions.flatMap(({ predicates }) => predicates));
  const relations = names.relations();
  const named = relations.filter(({ predicate }) => mentioned.has(predicate));
  const search = new GoalSearch(names, pacer);
  const pairs = async (of: readonly KnownRelation[]): Promise<void> => {
    if (constants.length > 1) await search.take(of, (relation) => pairGoals(relation, constants));
  };
  const telling = firstConstants(mentions.filter((mention) => isTelling(mention, text)));
  const singles = (of: readonly KnownRelation[]): Promise<void> =>
    search.take(of, (relation) => singleGoals(relation, telling));
  await pairs(named);
  if (search.kept.length > 0) return { goals: search.kept, leftOut: search.leftOut };
  // A verb of the text may be a predicate by chance, as in "I met Ann and Bob": what links the two is looked for too.
  await singles(named);
  const ofOne = search.kept.splice(0);
  const others = relations.filter(({ predicate }) => !mentioned.has(predicate));
  await pairs(others);
  if (search.kept.length + ofOne.length === 0) await singles(others);
  const goals = [...search.kept, ...ofOne];
  return { goals: goals.slice(0, maxKept), leftOut: search.leftOut + Math.max(0, goals.length - maxKept) };
}

class GoalSearch {
  readonly kept: MentionGoal[] = [];
  leftOut = 0;
  readonly #names: ViewNames;
  readonly #pacer: Pacer;
  #tried = 0;
  #isOver = false;

  constructor(names: ViewNames, pacer: Pacer) {
    this.#names = names;
    this.#pacer = pacer;
  }

  async take(
    relations: readonly KnownRelation[],
    goalsOver: (relation: KnownRelation) => Generator<AtomLiteral>,
  ): Promise<void> {
    let looked = 0;
    for (const relation of relations)
      for (const goal of goalsOver(relation)) {
        if ((++looked & 0xff) === 0) await this.#names.context.pacer.breathe();
        if (!relation.isConcluded && !this.#isStored(goal)) continue;
        const isTried = !this.#isOver && this.#tried < maxTried && this.kept.length < maxKept;
        if (!isTried || !(await this.#try(goal, relation))) this.leftOut++;
      }
  }

  /** Keeps the goal if it holds. False if it was not worked out. */
  async #try(goal: AtomLiteral, { isConcluded }: KnownRelation): Promise<boolean> {
    const { reasoner, reader } = this.#names.context;
    if (isConcluded) this.#tried++;
    try {
      const matches = await reasoner.answers(question(this.#names.view, [goal]), reader, this.#pacer);
      if (matches.count > 0) this.kept.push({ goal, isConcluded, matches });
      return true;
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'InferenceLimitExceeded') throw error;
      this.#isOver = true;
      return false;
    }
  }

  /** True if a visible fact matches the goal, or if there are too many rows to look at. */
  #isStored({ predicate, args, negated }: AtomLiteral): boolean {
    const { tenant, reader } = this.#names.context;
    const pattern = { predicate, args, truthVal: !negated, scope: this.#names.view };
    const found = lookUpFew(tenant.facts, pattern, reader.generation, reader.time, 1);
    return found === null || found.length > 0;
  }
}

/** The goals with two of the constants, at every two places. */
function* pairGoals(relation: KnownRelation, constants: readonly string[]): Generator<AtomLiteral> {
  for (let one = 0; one < relation.arity; one++)
    for (let other = 0; other < relation.arity; other++)
      if (one !== other)
        for (let first = 0; first < constants.length; first++)
          for (let second = first + 1; second < constants.length; second++)
            yield goalWith(relation, { [one]: constants[first], [other]: constants[second] });
}

/** The goals with one of the constants, at every place. */
function* singleGoals(relation: KnownRelation, constants: readonly string[]): Generator<AtomLiteral> {
  for (let place = 0; place < relation.arity; place++)
    for (const constant of constants) yield goalWith(relation, { [place]: constant });
}

function goalWith(
  { predicate, arity, negated }: KnownRelation,
  places: Readonly<Record<number, string | undefined>>,
): AtomLiteral {
  const args = placeVariables(arity).map((variable, position) => places[position] ?? variable);
  return { predicate, args, negated, naf: false };
}
