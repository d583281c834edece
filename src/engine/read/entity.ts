/**
 * The page of an entity: everything that is known about one constant.
 *
 * Facts are found by the indexes over single arguments, built in slices where they are missing. Counting looks at every
 * fact of the constant; only what is on the page is rendered.
 */
import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import { EngineError } from '../base/errors.ts';
import { compareText } from '../base/text-order.ts';
import type { EntityConclusion, EntityInput, EntityPage } from '../contract/entities.ts';
import type { AtomLiteral } from '../contract/language.ts';
import { Constants } from '../datalog/model/constants.ts';
import { isCandidate } from '../datalog/model/known-conclusions.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import { isAtomStored } from '../datalog/model/reader.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { question } from '../datalog/tables/question.ts';
import { leastRows, rowsByText } from '../datalog/tables/sorted.ts';
import { renderAtom } from '../language/print.ts';
import { traitsOf } from '../language/rule-traits.ts';
import { relationKey } from '../language/terms.ts';
import { eachRowWith } from './facts-with.ts';
import { defaultLimits, type ReadLimits } from '../session/read-limits.ts';
import {
  type IsVisible,
  type ReadContext,
  scopeChoice,
  storedFact,
  visibleIn,
} from '../session/read-context.ts';
import type { FactRow, ScopeChoice } from '../store/fact-matching.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { tupleAt, Tuples } from '../store/tuples.ts';

/** Rows looked at between two looks at the clock. */
const rowsBetweenBreaths = 0x400;
/** Bytes of a collected fact. */
const bytesOfFact = 24;
/** Bytes of a neighbour, and of a conclusion beside its arguments. */
const bytesOfTuple = 32;

/** The limits of reading a page: deriving has its own time, so that what was found is shown when that is over. */
export function entityLimits(timeoutMs: number): ReadLimits {
  return { ...defaultLimits, timeoutMs: timeoutMs + defaultLimits.timeoutMs };
}

/** The page of the constant in the view. */
export async function entityPage(context: ReadContext, input: EntityInput): Promise<EntityPage> {
  const view = scopeChoice(input);
  const { entity, aliases } = entityNamed(context, input.constant);
  const names = new Set([entity, ...aliases]);
  const knowledge = new EntityKnowledge(context, view, names);
  await knowledge.collectFacts();
  if (input.infer) await knowledge.derive(context.pacer.within(input.timeoutMs));
  else await knowledge.collectKnown();
  const { limit, offset } = input;
  const page: Page = { offset, end: offset + limit };
  const rules = await rulesNaming(names, view, context);
  const neighbours = await knowledge.neighbours(page);
  const facts = await knowledge.facts(page);
  const history = await knowledge.history(page);
  const conclusions = await knowledge.conclusions(page);
  const totals = {
    facts: knowledge.factCount,
    conclusions: knowledge.conclusionCount,
    neighbours: knowledge.neighbourCount,
    mentionsInRules: rules.length,
  };
  const goesOn = history.goesOn || Object.values(totals).some((total) => total > page.end);
  return {
    entity,
    aliases,
    asArgument: knowledge.asArgument(),
    facts,
    conclusions,
    ...knowledge.completeness(),
    neighbours,
    mentionsInRules: rules.slice(page.offset, page.end),
    history: history.changes,
    totals,
    nextOffset: goesOn ? page.end : null,
    generation: context.reader.generation,
  };
}

/** The entity that the constant or alias names, with its aliases by code point. */
function entityNamed(
  { tenant }: ReadContext,
  constant: string,
): { readonly entity: string; readonly aliases: string[] } {
  const entity = tenant.aliases.get(constant)?.entity ?? constant;
  return { entity, aliases: tenant.aliases.of(entity).sort(compareText) };
}

/** A part of every list: the entries from `offset` on, before `end`. */
interface Page {
  readonly offset: number;
  readonly end: number;
}

/** The rules of the view that name one of the constants, in order of creation. */
export async function rulesNaming(
  names: ReadonlySet<string>,
  view: ScopeChoice,
  { database, pacer }: ReadContext,
): Promise<EntityPage['mentionsInRules']> {
  const found: EntityPage['mentionsInRules'] = [];
  for (const [at, { id, rule, text, name, scope, enabled }] of database.rules.all().entries()) {
    if ((at & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
    const isInView = scope === null || view.kind === 'all' || (view.kind === 'scope' && view.scope === scope);
    if (isInView && traitsOf(rule).constants.some((constant) => names.has(constant)))
      found.push({ id, rule: text, name, scope, enabled });
  }
  return found;
}

/** Facts and conclusions with the constant at one argument of a relation, of both truth values. */
interface Occurrences {
  readonly predicate: string;
  readonly arity: number;
  readonly position: number;
  count: number;
  derived: number;
}

/** Conclusions of one relation with the constant. */
interface Concluded extends RelationShape {
  readonly tuples: Tuples;
}

/** What the view knows of the constants in `names`, as one thing. */
class EntityKnowledge {
  readonly #context: ReadContext;
  readonly #view: ScopeChoice;
  readonly #names: ReadonlySet<string>;
  /** The ids of the names that the dictionary has. */
  readonly #ids: Set<number>;
  readonly #isVisible: IsVisible;
  readonly #occurrences = new Map<string, Occurrences>();
  readonly #relations: StoredRelation[] = [];
  /** By fact: the index of its relation, and its row. */
  readonly #relationAt: number[] = [];
  readonly #rows: number[] = [];
  readonly #concluded = new Map<string, Concluded>();
  /** Pairs of a predicate's number and a neighbour's id, with their counts. */
  readonly #neighbours = new Tuples(2);
  readonly #pair = new Int32Array(2);
  readonly #counts: number[] = [];
  readonly #predicates: string[] = [];
  readonly #numberOfPredicate = new Map<string, number>();
  #isComplete = false;
  #notWorkedOut: readonly string[] | null = null;

  constructor(context: ReadContext, view: ScopeChoice, names: ReadonlySet<string>) {
    this.#context = context;
    this.#view = view;
    this.#names = names;
    const { dictionary } = context.tenant.facts;
    this.#ids = new Set(Array.from(names, (name) => dictionary.find(name)).filter((id) => id >= 0));
    this.#isVisible = visibleIn(context, view);
  }

  get factCount(): number {
    return this.#rows.length;
  }

  get conclusionCount(): number {
    let count = 0;
    for (const { tuples } of this.#concluded.values()) count += tuples.count;
    return count;
  }

  get neighbourCount(): number {
    return this.#neighbours.count;
  }

  /** Finds the visible facts, each once, and counts where the constant occurs and beside what. */
  async collectFacts(): Promise<void> {
    const { tenant, pacer } = this.#context;
    let ids = new Int32Array(0);
    await eachRowWith(tenant.facts, this.#ids, pacer, (relation, row, position) => {
      if (!this.#isVisible(relation, row)) return;
      this.#at(relation, position).count++;
      if (ids.length !== relation.arity) ids = new Int32Array(relation.arity);
      for (let at = 0; at < ids.length; at++) ids[at] = (relation.columns[at] as Int32Array)[row] as number;
      if (this.#occursBefore(ids, position)) return;
      pacer.memory.take(bytesOfFact);
      if (this.#relations.at(-1) !== relation) this.#relations.push(relation);
      this.#relationAt.push(this.#relations.length - 1);
      this.#rows.push(row);
      this.#countNeighbours(relation.predicate, ids);
    });
  }

  /** Takes the conclusions that were derived before. */
  async collectKnown(): Promise<void> {
    const { reasoner, reader, pacer, elsewhere } = this.#context;
    const tables = await reasoner.knownConclusions(this.#view, reader, pacer);
    const isKnownHere = (relation: RelationShape): boolean => this.#isConcludedInView(relation);
    for (const { table, rows, count, dead } of tables) {
      if (!isKnownHere(table)) continue;
      const tuple = new Int32Array(table.arity);
      for (let row = 0; row < count; row++) {
        if ((row & (rowsBetweenBreaths - 1)) === rowsBetweenBreaths - 1) await pacer.breathe();
        if (isCandidate({ dead }, row)) this.#conclude(table, tupleAt(rows, row, tuple));
      }
    }
    const there = (await elsewhere?.mentions(this.#context, this.#view, [...this.#names])) ?? [];
    const { dictionary } = reasoner.facts;
    for (const { atoms, ...relation } of there) {
      if (!isKnownHere(relation)) continue;
      for (const [at, args] of atoms.entries()) {
        if ((at & (rowsBetweenBreaths - 1)) === rowsBetweenBreaths - 1) await pacer.breathe();
        this.#conclude(
          relation,
          Int32Array.from(args, (text) => dictionary.intern(text)),
        );
      }
    }
    this.#isComplete = reader.program.conclusions().every((relation) => !this.#isConcludedInView(relation));
  }

  /** Derives every conclusion with the constant, as far as the limits of `pacer` go. */
  async derive(pacer: Pacer): Promise<void> {
    const { reader } = this.#context;
    const notWorkedOut = new Set<string>();
    for (const relation of reader.program.conclusions()) {
      if (!this.#isConcludedInView(relation)) continue;
      try {
        for (let position = 0; position < relation.arity; position++)
          for (const name of this.#names) await this.#ask(relation, position, name, pacer);
      } catch (error) {
        if (!(error instanceof EngineError) || error.code !== 'InferenceLimitExceeded') throw error;
        const { predicate, arity, negated } = relation;
        notWorkedOut.add(`${negated ? '-' : ''}${predicate}/${arity}`);
      }
    }
    this.#isComplete = notWorkedOut.size === 0;
    if (!this.#isComplete) this.#notWorkedOut = [...notWorkedOut].sort(compareText);
  }

  async #ask(relation: RelationShape, position: number, name: string, pacer: Pacer): Promise<void> {
    const { reasoner, reader } = this.#context;
    const { predicate, arity, negated } = relation;
    const args = Array.from({ length: arity }, (_, at) => (at === position ? name : `?x${at}`));
    const goal: AtomLiteral = { predicate, args, negated, naf: false };
    const {
      question: asked,
      columns,
      count,
      constants,
    } = await reasoner.answers(question(this.#view, [goal]), reader, pacer);
    if (count === 0) return;
    const columnOf = args.map((term) => columns[asked.variables.indexOf(term)]);
    const own = constants.dictionary.intern(name);
    this.#ids.add(own);
    const tuple = new Int32Array(arity);
    for (let row = 0; row < count; row++) {
      if ((row & (rowsBetweenBreaths - 1)) === rowsBetweenBreaths - 1) await pacer.breathe();
      for (let at = 0; at < arity; at++)
        tuple[at] = at === position ? own : constants.plain(columnOf[at]?.[row] as number);
      this.#conclude(relation, tuple);
    }
  }

  #isConcludedInView({ predicate, arity, negated }: RelationShape): boolean {
    const { program } = this.#context.reader;
    return program.rulesFor(this.#view, relationKey(predicate, arity, negated)).length > 0;
  }

  /** Takes a conclusion with dictionary ids if it has the constant and is not stored. */
  #conclude(relation: RelationShape, tuple: Int32Array): void {
    const { reader, pacer } = this.#context;
    const { predicate, arity, negated } = relation;
    const positions: number[] = [];
    for (let at = 0; at < arity; at++) if (this.#ids.has(tuple[at] as number)) positions.push(at);
    if (positions.length === 0 || isAtomStored(reader, this.#view, relation, tuple)) return;
    const key = relationKey(predicate, arity, negated);
    let concluded = this.#concluded.get(key);
    if (concluded === undefined)
      this.#concluded.set(key, (concluded = { predicate, arity, negated, tuples: new Tuples(arity) }));
    if (concluded.tuples.insert(tuple) < 0) return;
    pacer.memory.take(bytesOfTuple + 4 * arity);
    for (const position of positions) this.#at(relation, position).derived++;
    this.#countNeighbours(predicate, tuple);
  }

  #at({ predicate, arity }: RelationShape, position: number): Occurrences {
    const key = `${position} ${relationKey(predicate, arity, false)}`;
    let found = this.#occurrences.get(key);
    if (found === undefined)
      this.#occurrences.set(key, (found = { predicate, arity, position, count: 0, derived: 0 }));
    return found;
  }

  #occursBefore(ids: Int32Array, position: number): boolean {
    for (let before = 0; before < position; before++) if (this.#ids.has(ids[before] as number)) return true;
    return false;
  }

  #countNeighbours(predicate: string, ids: Int32Array): void {
    let number = this.#numberOfPredicate.get(predicate);
    if (number === undefined) {
      number = this.#predicates.push(predicate) - 1;
      this.#numberOfPredicate.set(predicate, number);
    }
    const pair = this.#pair;
    pair[0] = number;
    for (let position = 0; position < ids.length; position++) {
      const id = ids[position] as number;
      if (this.#ids.has(id) || (position > 1 && ids.indexOf(id) < position)) continue;
      pair[1] = id;
      const added = this.#neighbours.insert(pair);
      if (added >= 0) {
        this.#context.pacer.memory.take(bytesOfTuple);
        this.#counts.push(1);
        continue;
      }
      const known = this.#neighbours.find(pair);
      this.#counts[known] = (this.#counts[known] as number) + 1;
    }
  }

  completeness(): Pick<EntityPage, 'conclusionsComplete' | 'notWorkedOut'> {
    const notWorkedOut = this.#notWorkedOut;
    const open = notWorkedOut === null ? {} : { notWorkedOut: [...notWorkedOut] };
    return { conclusionsComplete: this.#isComplete, ...open };
  }

  asArgument(): EntityPage['asArgument'] {
    const { declarations } = this.#context.database;
    return [...this.#occurrences.values()]
      .sort(
        (left, right) =>
          compareText(left.predicate, right.predicate) ||
          left.arity - right.arity ||
          left.position - right.position,
      )
      .map((each) => ({
        ...each,
        name: declarations.get(each.predicate, each.arity)?.arguments[each.position]?.name ?? null,
      }));
  }

  async neighbours(page: Page): Promise<EntityPage['neighbours']> {
    const { tenant, pacer } = this.#context;
    const { dictionary } = tenant.facts;
    const counts = this.#counts;
    const [numbers, ids] = this.#neighbours.columns as [Int32Array, Int32Array];
    const predicateOf = (row: number): string => this.#predicates[numbers[row] as number] as string;
    const compare = (left: number, right: number): number =>
      (counts[right] as number) - (counts[left] as number) ||
      dictionary.compare(ids[left] as number, ids[right] as number) ||
      compareText(predicateOf(left), predicateOf(right));
    const rows = await leastRows(this.#neighbours.count, page.end, compare, pacer);
    return Array.from(rows.subarray(page.offset), (row) => ({
      entity: dictionary.text(ids[row] as number),
      via: predicateOf(row),
      count: counts[row] as number,
    }));
  }

  async facts(page: Page): Promise<EntityPage['facts']> {
    const { pacer } = this.#context;
    const newest = (left: number, right: number): number => this.#numberOf(right) - this.#numberOf(left);
    const order = await leastRows(this.#rows.length, page.end, newest, pacer);
    const meter = new ByteMeter();
    const found: EntityPage['facts'] = [];
    for (const at of order.subarray(page.offset)) {
      const fact = storedFact(this.#context, this.#factAt(at));
      found.push(fact);
      if (meter.counts(charactersOf(fact.args))) await pacer.breathe();
    }
    return found;
  }

  /** The newest changes; `goesOn`: there are more after the page. */
  async history(page: Page): Promise<{ changes: EntityPage['history']; goesOn: boolean }> {
    const { database, tenant, reader, pacer } = this.#context;
    const { facts } = tenant;
    const bornAt = (at: number): number => {
      const { relation, row } = this.#factAt(at);
      return relation.bornIn(row);
    };
    const compare = (left: number, right: number): number =>
      bornAt(right) - bornAt(left) || this.#numberOf(right) - this.#numberOf(left);
    // The latest change of a fact is the birth of its row: no other fact can have a change on the page.
    const order = await leastRows(this.#rows.length, page.end + 1, compare, pacer);
    const changes: { at: number; generation: number; change: 'asserted' | 'updated' }[] = [];
    for (const at of order) {
      const fact = this.#factAt(at);
      changes.push({ at, generation: facts.assertedIn(fact), change: 'asserted' });
      for (const generation of facts.changesOf(fact))
        if (generation <= reader.generation) changes.push({ at, generation, change: 'updated' });
      if ((changes.length & rowsBetweenBreaths) === 0) await pacer.breathe();
    }
    changes.sort(
      (left, right) =>
        right.generation - left.generation || this.#numberOf(right.at) - this.#numberOf(left.at),
    );
    const meter = new ByteMeter();
    const shown: EntityPage['history'] = [];
    for (const { at, generation, change } of changes.slice(page.offset, page.end)) {
      const fact = this.#factAt(at);
      const { predicate, negated } = fact.relation;
      const atom = renderAtom({ predicate, args: facts.argsOf(fact), negated });
      const [time, requestId] = [database.timeOf(generation), database.requestOf(generation)];
      shown.push({ time, generation, requestId, change, id: facts.idOf(fact), atom });
      if (meter.counts(atom.length)) await pacer.breathe();
    }
    return { changes: shown, goesOn: changes.length > page.end };
  }

  async conclusions({ offset, end }: Page): Promise<EntityConclusion[]> {
    const { tenant, pacer } = this.#context;
    const { dictionary } = tenant.facts;
    const relations = [...this.#concluded.values()].sort(
      (left, right) =>
        compareText(left.predicate, right.predicate) ||
        left.arity - right.arity ||
        Number(left.negated) - Number(right.negated),
    );
    const found: EntityConclusion[] = [];
    const meter = new ByteMeter();
    let before = 0;
    for (const { predicate, negated, tuples } of relations) {
      const [from, to] = [Math.max(0, offset - before), Math.min(tuples.count, end - before)];
      before += tuples.count;
      if (from >= to) continue;
      const { columns } = tuples;
      const places = { from, to };
      const rows = await rowsByText(columns, tuples.count, new Constants(dictionary), pacer, places);
      for (const row of rows) {
        const args = columns.map((column) => dictionary.text(column[row] as number));
        const atom = renderAtom({ predicate, args, negated });
        found.push({ atom, predicate, args, truthVal: !negated });
        if (meter.counts(atom.length)) await pacer.breathe();
      }
    }
    return found;
  }

  #factAt(at: number): FactRow {
    const relation = this.#relations[this.#relationAt[at] as number] as StoredRelation;
    return { relation, row: this.#rows[at] as number };
  }

  #numberOf(at: number): number {
    const { relation, row } = this.#factAt(at);
    return relation.number[row] as number;
  }
}
