import { TextMap } from '../../base/text-map.ts';
import type { Atom, Literal } from '../../contract/language.ts';
import type { ScopeChoice } from '../../store/fact-store.ts';
import { isAggregate, isNamedVariable, isPositiveAtom, relationOf, wildcard } from '../../language/terms.ts';
import { present } from '../../base/assert.ts';
import type { Pacer } from '../tables/evaluation.ts';
import type { FactOverlay } from '../model/fact-overlay.ts';
import { type Program, type RelationShape, relationsRead } from '../model/program.ts';
import { matching, type Reader } from '../model/reader.ts';
import { matchesOf } from '../tables/question.ts';
import type { TableSet } from '../tables/table-set.ts';

/** One of two states of a tenant, with tables of its own; they are evaluated for this comparison only. */
export interface ComparedState {
  readonly reader: Reader & { readonly overlay: FactOverlay };
  readonly program: Program;
  readonly set: TableSet;
}

/** The arguments of an atom, or the values of a denial's variables. */
export type ConstantTuple = readonly string[];

/** Atoms of one relation, each once. */
export class AtomSet {
  readonly of: RelationShape;
  readonly tuples = new TextMap<ConstantTuple>();

  constructor(of: RelationShape) {
    this.of = of;
  }

  /** False if it was there already. */
  add(args: ConstantTuple): boolean {
    const key = tupleKey(args);
    if (this.tuples.has(key)) return false;
    this.tuples.set(key, args);
    return true;
  }
}

/** A body whose instances are forbidden. */
export interface Denial {
  readonly body: readonly Literal[];
  /** What tells its instances apart: the variables that atoms of the body bind. */
  readonly variables: readonly string[];
}

/** Instances of a denial that only one of the states has. */
export interface DenialDelta {
  readonly gained: readonly ConstantTuple[];
  readonly lost: readonly ConstantTuple[];
}

/** A body as one state evaluates it, and what it concludes. */
interface Conclusion {
  readonly body: readonly Literal[];
  readonly terms: readonly string[];
}

/** A place at which a body reads a relation. */
interface Occurrence {
  /** The relation that the body concludes; null: the denial. */
  readonly head: RelationShape | null;
  readonly conclusion: Conclusion;
  readonly index: number;
  readonly atom: Atom;
  /** `both`: inside braces, where atoms that come and atoms that go can change the value either way. */
  readonly effect: 'same' | 'opposite' | 'both';
}

type Direction = 'gained' | 'lost';

/** Atoms of a relation that came, or that went. */
interface Batch {
  readonly relation: string;
  readonly direction: Direction;
  readonly tuples: readonly ConstantTuple[];
}

const tuplesBetweenBreaths = 256;
/** Estimated bytes of a tuple in the maps of a delta, beside its texts. */
const bytesOfTuple = 160;

/**
 * How one view differs between two states, in proportion to the difference: the semi-naive evaluation of what changed.
 *
 * Begins with the atoms that a change touched. An atom that only one of the states has is joined with the bodies that read
 * it, each evaluated in the state in which it is true; whatever they conclude is looked up in the other state, and if that
 * lacks it, it is a change too. It ends when nothing new is found. Since both look-ups are complete, the order in which
 * changes are followed does not matter, through recursion, negation and aggregates alike. Only relations below the denials
 * are followed.
 */
export class ViewDelta {
  readonly #view: ScopeChoice;
  readonly #before: ComparedState;
  readonly #after: ComparedState;
  readonly #pacer: Pacer;
  readonly #changes = new Map<string, Record<Direction, AtomSet>>();
  /** Relations whose changes are complete. */
  readonly #followed = new Set<string>();
  #made = 0;

  constructor(view: ScopeChoice, before: ComparedState, after: ComparedState, pacer: Pacer) {
    this.#view = view;
    this.#before = before;
    this.#after = after;
    this.#pacer = pacer;
  }

  /**
   * Finds every atom of the relations that the denials read, directly or through rules, that one state lacks. `touched`:
   * every stored atom of the view that the change added or removed. Call it once, before `denied`.
   */
  async follow(touched: Iterable<AtomSet>, denials: readonly Denial[]): Promise<void> {
    const programs = [this.#before.program, this.#after.program];
    for (const program of programs)
      for (const relation of program.below(denials.flatMap(({ body }) => relationsRead(body))))
        this.#followed.add(relation);
    const queue: Batch[] = [];
    for (const { of, tuples } of touched) {
      const relation = keyOf(of);
      if (!this.#followed.has(relation)) continue;
      const all = [...tuples.values()];
      for (const direction of ['gained', 'lost'] as const) {
        const there = await this.#amongTrue(this.#having(direction), of, all);
        queue.push(...(await this.#record(of, direction, there)));
      }
    }
    queue.push(...(await this.#changedRules()));
    const occurrences = this.#occurrencesInRules();
    for (let batch = queue.pop(); batch !== undefined; batch = queue.pop()) {
      await this.#pacer.breathe();
      for (const direction of ['gained', 'lost'] as const)
        for (const occurrence of occurrences[direction].get(batch.relation) ?? []) {
          const found = await this.#joined(occurrence, batch, direction);
          queue.push(
            ...(await this.#record(present(occurrence.head, 'a rule has a head'), direction, found)),
          );
        }
    }
  }

  /** The instances of the denial that only one of the states has, in no order. */
  async denied(denial: Denial): Promise<DenialDelta> {
    const conclusion = { body: denial.body, terms: denial.variables };
    const found = { gained: new TextMap<ConstantTuple>(), lost: new TextMap<ConstantTuple>() };
    for (const occurrence of occurrencesIn(conclusion, null))
      for (const batch of this.#batchesOf(occurrence.atom))
        for (const direction of ['gained', 'lost'] as const)
          for (const tuple of await this.#joined(occurrence, batch, direction))
            found[direction].set(tupleKey(tuple), tuple);
    return {
      gained: await this.#without(denial, found.gained, this.#before),
      lost: await this.#without(denial, found.lost, this.#after),
    };
  }

  /** All instances of the denial in one of the states, in no order. */
  deniedIn(state: 'before' | 'after', { body, variables }: Denial): Promise<ConstantTuple[]> {
    return this.#evaluated(state === 'after' ? this.#after : this.#before, { body, terms: variables });
  }

  /** Those of the tuples that are no instances of the denial in the state. */
  async #without(
    { body, variables }: Denial,
    tuples: ReadonlyMap<string, ConstantTuple>,
    state: ComparedState,
  ): Promise<ConstantTuple[]> {
    if (tuples.size === 0) return [];
    const given = await this.#put(state, [...tuples.values()], variables);
    const there = await this.#evaluated(state, { body: [given, ...body], terms: variables });
    const known = new Set(there.map(tupleKey));
    return [...tuples].filter(([key]) => !known.has(key)).map(([, tuple]) => tuple);
  }

  /** The state that has what came, or what went. */
  #having(direction: Direction): ComparedState {
    return direction === 'gained' ? this.#after : this.#before;
  }

  #lacking(direction: Direction): ComparedState {
    return direction === 'gained' ? this.#before : this.#after;
  }

  /** Records those of the tuples, all true on their side, that the other state lacks. */
  async #record(of: RelationShape, direction: Direction, found: readonly ConstantTuple[]): Promise<Batch[]> {
    const relation = keyOf(of);
    const known = this.#changesOf(of)[direction];
    const fresh = found.filter((tuple) => !known.tuples.has(tupleKey(tuple)));
    if (fresh.length === 0) return [];
    const still = new Set((await this.#amongTrue(this.#lacking(direction), of, fresh)).map(tupleKey));
    const tuples: ConstantTuple[] = [];
    for (const tuple of fresh) if (!still.has(tupleKey(tuple)) && known.add(tuple)) tuples.push(tuple);
    this.#pay(tuples);
    return tuples.length === 0 ? [] : [{ relation, direction, tuples }];
  }

  /** Conclusions of rules that only one of the states has. */
  async #changedRules(): Promise<Batch[]> {
    const [now, then] = [this.#after.program, this.#before.program];
    if (now === then) return [];
    const changed = now.changedFrom(then);
    const found: Batch[] = [];
    for (const relation of changed) {
      if (!this.#followed.has(relation)) continue;
      for (const [direction, program, other] of [
        ['gained', now, then],
        ['lost', then, now],
      ] as const) {
        const same = new Set(other.rulesFor(this.#view, relation).map(({ record }) => record.rule));
        for (const { record } of program.rulesFor(this.#view, relation)) {
          if (same.has(record.rule)) continue;
          const { head, body } = record.rule;
          const tuples = await this.#evaluated(this.#having(direction), { body, terms: head.args });
          found.push(...(await this.#record(shapeOf(head), direction, tuples)));
        }
      }
    }
    return found;
  }

  /** Where the rules of the view read relations: those of the state after can gain conclusions, those before lose some. */
  #occurrencesInRules(): Record<Direction, Map<string, Occurrence[]>> {
    const found = { gained: new Map<string, Occurrence[]>(), lost: new Map<string, Occurrence[]>() };
    for (const direction of ['gained', 'lost'] as const) {
      const { program } = this.#having(direction);
      for (const relation of this.#followed)
        for (const { record } of program.rulesFor(this.#view, relation)) {
          const { head, body } = record.rule;
          for (const occurrence of occurrencesIn({ body, terms: head.args }, shapeOf(head))) {
            const key = relationOf(occurrence.atom);
            const list = found[direction].get(key);
            if (list === undefined) found[direction].set(key, [occurrence]);
            else list.push(occurrence);
          }
        }
    }
    return found;
  }

  *#batchesOf(atom: Atom): Generator<Batch> {
    const relation = relationOf(atom);
    const changes = this.#changes.get(relation);
    if (changes === undefined) return;
    for (const direction of ['gained', 'lost'] as const) {
      const tuples = [...changes[direction].tuples.values()];
      if (tuples.length > 0) yield { relation, direction, tuples };
    }
  }

  /** What the body concludes from the changed atoms at this place, in the state that `direction` is about. */
  async #joined(
    { conclusion: { body, terms }, index, atom, effect }: Occurrence,
    batch: Batch,
    direction: Direction,
  ): Promise<ConstantTuple[]> {
    const isSame = batch.direction === direction;
    if (effect !== 'both' && isSame !== (effect === 'same')) return [];
    const state = this.#having(direction);
    const isJoined = effect === 'same';
    // Elsewhere the atom only narrows the search: it must bind nothing that no atom of the body binds.
    const args = isJoined ? atom.args : narrowing(atom.args, boundByAtoms(body));
    const changed = await this.#put(state, batch.tuples, args);
    const rest = isJoined ? body.filter((_, at) => at !== index) : body;
    return this.#evaluated(state, { body: [changed, ...rest], terms });
  }

  /** Makes the tuples facts of a relation of their own that no rule can name; returns an atom of it. */
  async #put(
    { reader: { overlay } }: ComparedState,
    tuples: readonly ConstantTuple[],
    args: readonly string[],
  ): Promise<Literal> {
    const predicate = ` changed ${this.#made++}`;
    const scope = this.#view.kind === 'scope' ? this.#view.scope : null;
    for (const [at, tuple] of tuples.entries()) {
      overlay.store({ predicate, args: tuple, truthVal: true, scope });
      if (at % tuplesBetweenBreaths === tuplesBetweenBreaths - 1) await this.#pacer.breathe();
    }
    this.#pay(tuples);
    return { predicate, args: [...args], negated: false, naf: false };
  }

  /** The distinct instances of the terms, among the matches of the body in the state. */
  async #evaluated(state: ComparedState, { body, terms }: Conclusion): Promise<ConstantTuple[]> {
    const variables = [...new Set(terms.filter(isNamedVariable))];
    const asked = { view: this.#view, body: [...body], variables };
    const { columns, count, constants } = await matchesOf(asked, state.set, state.reader, this.#pacer);
    const places = terms.map((term) => variables.indexOf(term));
    const found = new TextMap<ConstantTuple>();
    for (let row = 0; row < count; row++) {
      const tuple = places.map((at, position) =>
        at < 0 ? (terms[position] as string) : constants.text((columns[at] as Int32Array)[row] as number),
      );
      found.set(tupleKey(tuple), tuple);
      if (row % tuplesBetweenBreaths !== tuplesBetweenBreaths - 1) continue;
      this.#pacer.memory.take(tuplesBetweenBreaths * bytesOfTuple);
      await this.#pacer.breathe();
    }
    return [...found.values()];
  }

  /** Those of the tuples that are true of the relation in the state. */
  async #amongTrue(
    state: ComparedState,
    of: RelationShape,
    tuples: readonly ConstantTuple[],
  ): Promise<readonly ConstantTuple[]> {
    if (tuples.length === 0) return [];
    const { predicate, arity, negated } = of;
    if (!state.set.isDerived(this.#view, keyOf(of))) {
      const found: ConstantTuple[] = [];
      for (const [at, args] of tuples.entries()) {
        const pattern = { predicate, args, truthVal: !negated, scope: this.#view };
        if (matching(state.reader, pattern).next().done !== true) found.push(args);
        if (at % tuplesBetweenBreaths === tuplesBetweenBreaths - 1) await this.#pacer.breathe();
      }
      return found;
    }
    const terms = Array.from({ length: arity }, (_, at) => `?${at}`);
    const given = await this.#put(state, tuples, terms);
    return this.#evaluated(state, {
      body: [given, { predicate, args: terms, negated, naf: false }],
      terms,
    });
  }

  #changesOf(of: RelationShape): Record<Direction, AtomSet> {
    const key = keyOf(of);
    let changes = this.#changes.get(key);
    if (changes === undefined)
      this.#changes.set(key, (changes = { gained: new AtomSet(of), lost: new AtomSet(of) }));
    return changes;
  }

  #pay(tuples: readonly ConstantTuple[]): void {
    let bytes = 0;
    for (const tuple of tuples) {
      bytes += bytesOfTuple;
      for (const text of tuple) bytes += text.length * 2;
    }
    this.#pacer.memory.take(bytes);
  }
}

/** The places at which a body reads stored or derived relations. */
function occurrencesIn(conclusion: Conclusion, head: RelationShape | null): Occurrence[] {
  const found: Occurrence[] = [];
  const inBraces = (literals: readonly Literal[], index: number): void => {
    for (const literal of literals)
      if (isAggregate(literal)) inBraces(literal.body, index);
      else if (relationsRead([literal]).length > 0)
        found.push({ head, conclusion, index, atom: literal, effect: 'both' });
  };
  for (const [index, literal] of conclusion.body.entries()) {
    if (isAggregate(literal)) inBraces(literal.body, index);
    else if (isPositiveAtom(literal)) found.push({ head, conclusion, index, atom: literal, effect: 'same' });
    else if (relationsRead([literal]).length > 0)
      found.push({ head, conclusion, index, atom: literal, effect: 'opposite' });
  }
  return found;
}

/** The variables that atoms of the body bind, in order of first occurrence. */
export function boundByAtoms(body: readonly Literal[]): Set<string> {
  const bound = new Set<string>();
  for (const literal of body)
    if (isPositiveAtom(literal)) for (const term of literal.args) if (isNamedVariable(term)) bound.add(term);
  return bound;
}

/** The arguments with `?_` for every variable that is not bound. */
function narrowing(args: readonly string[], bound: ReadonlySet<string>): string[] {
  return args.map((term) => (isNamedVariable(term) && !bound.has(term) ? wildcard : term));
}

function shapeOf({ predicate, args, negated }: Atom): RelationShape {
  return { predicate, arity: args.length, negated };
}

function keyOf({ predicate, arity, negated }: RelationShape): string {
  return `${negated ? '-' : ''}${predicate}/${arity}`;
}

function tupleKey(args: ConstantTuple): string {
  return JSON.stringify(args);
}
