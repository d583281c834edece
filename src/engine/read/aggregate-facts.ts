import type { InferenceContext } from './ask.ts';
import { invalid } from '../base/errors.ts';
import { scopeChoice } from '../session/read-context.ts';
import type { AggregateInput, AggregateResult, AggregateValue } from '../contract/aggregation.ts';
import { isVariable } from '../contract/language.ts';
import { DistinctAtoms, tupleAt, Tuples } from '../store/tuples.ts';
import { type Figure, newFigure, type Refused } from '../language/figure.ts';
import { relationKey } from '../language/terms.ts';
import { Constants } from '../datalog/model/constants.ts';
import { question } from '../datalog/tables/question.ts';
import { rowsByText } from '../datalog/tables/sorted.ts';

/**
 * One figure over the true atoms that match a pattern, and the same figure per group.
 *
 * Every atom of the view counts once, in however many scopes it is stored; with `infer`, derived atoms count too. Atoms
 * are streamed in no particular order and not stored: memory holds the groups and, with `distinct`, the values.
 * `language/figure` defines the arithmetic.
 */
export async function aggregateFacts(
  context: InferenceContext,
  input: AggregateInput,
): Promise<AggregateResult> {
  context.pacer.look();
  const patterns = patternsOf(context, input);
  const tallies = new Tallies(context, input, patterns.length > 1);
  for (const args of patterns) {
    const visit = tallies.visitorOf(args);
    await (input.infer
      ? eachDerivable(context, input, args, visit)
      : eachStored(context, input, args, visit));
  }
  return tallies.result();
}

/** The keys of the relations that are aggregated over. */
export function relationsAggregated(context: InferenceContext, input: AggregateInput): string[] {
  return patternsOf(context, input).map(({ length }) => relationKey(input.predicate, length, false));
}

/** The patterns to match: the given one, or a match-anything pattern for every arity of the predicate. */
function patternsOf({ tenant, reader }: InferenceContext, input: AggregateInput): string[][] {
  const { predicate, args, argIndex, infer } = input;
  if (args !== null) return [args];
  const arities = new Set<number>();
  for (const relation of tenant.facts.relations.values())
    if (relation.predicate === predicate && !relation.negated) arities.add(relation.arity);
  if (infer)
    for (const { arity, negated } of reader.program.conclusionsOf(predicate))
      if (!negated) arities.add(arity);
  return [...arities]
    .filter((arity) => argIndex === null || argIndex < arity)
    .sort((left, right) => left - right)
    .map((arity) => Array.from({ length: arity }, () => '?_'));
}

/**
 * Receives the argument ids of an atom, in a reused array, and the constants they refer to. Positions with a constant
 * in the pattern may have no id. Returns the number of characters it read.
 */
type Visit = (ids: Int32Array, constants: Constants) => number;

const workBetweenBreaths = 1024;

/** Yields after a number of atoms, sooner if the atoms are long. */
function breather({ pacer }: InferenceContext): (characters: number) => Promise<void> | null {
  let work = 0;
  return (characters) => {
    work += 1 + characters / 64;
    if (work < workBetweenBreaths) return null;
    work = 0;
    return pacer.breathe();
  };
}

async function eachStored(
  context: InferenceContext,
  input: AggregateInput,
  args: readonly string[],
  visit: Visit,
): Promise<void> {
  const { tenant, reader } = context;
  const { facts } = tenant;
  const view = scopeChoice(input);
  const constants = new Constants(facts.dictionary);
  // Within one scope an atom is stored only once.
  const seen = view.kind === 'all' && facts.scopeNames.length > 1 ? new DistinctAtoms(args.length) : null;
  const ids = new Int32Array(args.length);
  const breath = breather(context);
  const pattern = { predicate: input.predicate, args, truthVal: true, scope: view };
  for (const { relation, row } of facts.match(pattern, reader.generation, reader.time)) {
    const isNew = seen === null || seen.add(relation, row) >= 0;
    const breathing = breath(isNew ? visit(tupleAt(relation, row, ids), constants) : 0);
    if (breathing !== null) await breathing;
  }
}

async function eachDerivable(
  context: InferenceContext,
  input: AggregateInput,
  args: readonly string[],
  visit: Visit,
): Promise<void> {
  const { reasoner, reader, pacer } = context;
  const atom = { predicate: input.predicate, args: [...args], negated: false, naf: false };
  const asked = question(scopeChoice(input), [atom]);
  const matches = await reasoner.answers(asked, reader, pacer);
  const [concrete] = asked.body;
  const terms = concrete !== undefined && 'args' in concrete ? concrete.args : [];
  const columns = terms.map((term) => asked.variables.indexOf(term));
  const ids = new Int32Array(args.length).fill(-1);
  const breath = breather(context);
  for (let row = 0; row < matches.count; row++) {
    for (const [position, column] of columns.entries())
      if (column >= 0) ids[position] = (matches.columns[column] as Int32Array)[row] as number;
    const breathing = breath(visit(ids, matches.constants));
    if (breathing !== null) await breathing;
  }
}

interface Tally {
  matchedFacts: number;
  /** Number of values counted: with `distinct`, possibly fewer than atoms. */
  values: number;
  /** null: only the number of values is needed. */
  readonly figure: Figure | null;
}

/** Approximate bytes of a group with its result, beside the texts of its key. */
const bytesOfGroup = 300;

/** The tally of all atoms and, by number, of each group. */
class Tallies {
  readonly #context: InferenceContext;
  readonly #input: AggregateInput;
  readonly #refused: Refused;
  readonly #variables: readonly string[];
  readonly #all: Tally;
  readonly #groups: Tally[] = [];
  /** The key constants of each group. */
  readonly #keys: Tuples;
  readonly #key: Int32Array;
  /** The constants of the key ids; keys exist only if there is a single pattern. */
  #constants: Constants;
  /** Pairs of group number (-1: all) and a value already counted in it; null: every value counts. */
  readonly #counted: Tuples | null;
  readonly #countedValue = new Int32Array(2);
  /** For atoms of several relations: one id per text. */
  readonly #shared: Constants | null;

  constructor(context: InferenceContext, input: AggregateInput, areSeveral: boolean) {
    this.#context = context;
    this.#input = input;
    this.#refused = (message) => invalid(input.variable === null ? 'argIndex' : 'variable', message);
    this.#variables = [...new Set(input.groupBy)];
    this.#all = this.#newTally();
    this.#keys = new Tuples(this.#variables.length);
    this.#key = new Int32Array(this.#variables.length);
    this.#constants = new Constants(context.tenant.facts.dictionary);
    const hasValue = input.variable !== null || input.argIndex !== null;
    this.#counted = input.distinct && hasValue ? new Tuples(2) : null;
    this.#shared = areSeveral ? new Constants(context.tenant.facts.dictionary) : null;
  }

  /** The visitor that counts the atoms matching this pattern. */
  visitorOf(args: readonly string[]): Visit {
    const { variable, argIndex } = this.#input;
    const at = variable === null ? argIndex : args.indexOf(variable);
    const positions = this.#variables.map((name) => args.indexOf(name));
    const fixed = at === null || isVariable(args[at] as string) ? null : (args[at] as string);
    return (ids, constants) => {
      const id = at === null || fixed !== null ? -1 : (ids[at] as number);
      const isRead = this.#all.figure !== null && at !== null;
      const text = isRead ? (fixed ?? constants.text(id)) : '';
      const isShared = this.#shared !== null && this.#counted !== null && id >= 0;
      const value = isShared ? this.#shared.idOf(constants.text(id)) : id;
      this.#count(this.#all, -1, value, text);
      if (positions.length > 0) {
        this.#constants = constants;
        const group = this.#groupOf(positions, ids);
        this.#count(this.#groups[group] as Tally, group, value, text);
      }
      return text.length;
    };
  }

  async result(): Promise<AggregateResult> {
    const { pacer } = this.#context;
    const { operation } = this.#input;
    const result = resultOf(this.#all);
    const count = this.#groups.length;
    const { columns } = this.#keys;
    const order = await rowsByText(columns, count, this.#constants, pacer);
    const groups: AggregateResult['groups'] = [];
    for (const group of order) {
      const key: Record<string, string> = Object.create(null) as Record<string, string>;
      for (const [at, name] of this.#variables.entries())
        key[name.slice(1)] = this.#constants.text((columns[at] as Int32Array)[group] as number);
      const tally = this.#groups[group] as Tally;
      groups.push({ key, result: resultOf(tally), matchedFacts: tally.matchedFacts });
      if ((groups.length & 0x3ff) === 0) await pacer.breathe();
    }
    return { operation, result, matchedFacts: this.#all.matchedFacts, groups };
  }

  #newTally(): Tally {
    const { operation } = this.#input;
    const figure = operation === 'COUNT' ? null : newFigure(operation, this.#refused);
    return { matchedFacts: 0, values: 0, figure };
  }

  #groupOf(positions: readonly number[], ids: Int32Array): number {
    for (const [at, position] of positions.entries()) this.#key[at] = ids[position] as number;
    const made = this.#keys.insert(this.#key);
    if (made < 0) return this.#keys.find(this.#key);
    let bytes = bytesOfGroup;
    for (const id of this.#key) bytes += this.#constants.sizeOf(id);
    this.#context.pacer.memory.take(bytes);
    this.#groups.push(this.#newTally());
    return made;
  }

  #count(tally: Tally, group: number, value: number, text: string): void {
    tally.matchedFacts++;
    if (this.#counted !== null) {
      this.#countedValue[0] = group;
      this.#countedValue[1] = value;
      if (this.#counted.insert(this.#countedValue) < 0) return;
    }
    tally.values++;
    tally.figure?.add(text);
  }
}

function resultOf({ figure, values }: Tally): AggregateValue {
  return figure === null ? values : figure.value();
}
