import { compareText, TextComparisons } from '../base/text-order.ts';
import { ByteMeter } from '../base/byte-meter.ts';
import { EngineError } from '../base/errors.ts';
import type { ReadContext } from './read-context.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { tupleAt, Tuples } from '../store/tuples.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';
import { demand, type EvaluationLimits, type Pacer, settle } from '../datalog/tables/evaluation.ts';
import { apart } from '../datalog/model/fact-overlay.ts';
import type { Program, RelationShape } from '../datalog/model/program.ts';
import { matching, type Overlay, viewKey } from '../datalog/model/reader.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import type { TableSet } from '../datalog/tables/table-set.ts';

/** Conclusions that a change of facts and rules adds and removes. */
export interface Consequences {
  /** Conclusions that are true after the change and were not before. */
  readonly gained: number;
  /** Conclusions that were true before the change and are not after. */
  readonly lost: number;
  /** The lost conclusions as text, by code point; empty unless requested. */
  readonly lostAtoms: readonly string[];
  /** As many of both as were requested, the first by code point. */
  readonly first: { readonly gained: readonly string[]; readonly lost: readonly string[] };
  /** `predicate/arity` of relations not worked out, with a minus sign if negated, by code point. */
  readonly notWorkedOut: readonly string[];
}

export const noConsequences: Consequences = {
  gained: 0,
  lost: 0,
  lostAtoms: [],
  first: { gained: [], lost: [] },
  notWorkedOut: [],
};

/** Two states of one tenant. A conclusion in several views counts once if any of them gains or loses it. */
interface ComparedStates {
  readonly before: ReadContext;
  readonly after: ReadContext;
  /** Keys of the relations whose facts or rules differ. */
  readonly relations: Iterable<string>;
  readonly views: readonly ScopeChoice[];
  readonly listsLost?: boolean;
  /** How many gained and how many lost conclusions `first` has at most; absent: none. */
  readonly maxFirst?: number;
}

export type ConsequenceLimits = Pick<EvaluationLimits, 'timeoutMs' | 'maxDerivations' | 'signal'>;

/** Default time limit for consequences, in milliseconds. */
export const consequencesTimeoutMs = 2000;

/** The answer's fields about completeness; none if the consequences are complete. */
export function completenessPart({ notWorkedOut }: Pick<Consequences, 'notWorkedOut'>): {
  consequencesComplete?: false;
  notWorkedOut?: string[];
} {
  return notWorkedOut.length === 0 ? {} : { consequencesComplete: false, notWorkedOut: [...notWorkedOut] };
}

/** The view for the scope of a write; facts written without a scope are read in the view of everything. */
export function viewOfWrites(scope: string | null): ScopeChoice {
  return scope === null ? { kind: 'all' } : { kind: 'scope', scope };
}

/**
 * The conclusions that a change gains and loses, among all that rules can derive, whether or not anyone asked for them.
 *
 * Evaluates every relation that the change can reach, before and after, in temporary tables, and compares the results.
 * Relations are evaluated after the relations that they read. Each gets an equal share of the remaining time;
 * unfinished ones are retried once at the end with all time left. Those still unfinished are named, and the counts are
 * lower bounds. No cache keeps the results.
 *
 * Stored facts are not conclusions, even if rules also derive them: an asserted fact is not gained and a retracted one
 * is not lost.
 */
export async function consequencesOf(
  states: ComparedStates,
  limits: ConsequenceLimits,
): Promise<Consequences> {
  const goals = goalsOf(states);
  if (goals.length === 0) return noConsequences;
  const search = new Search(states, limits.signal);
  try {
    const open = await workThrough(goals, limits, search);
    const notWorkedOut = [...new Set(open.map(nameOf))].sort(compareText);
    const lostAtoms = await search.listed();
    const first = { gained: search.firstGained.sorted(), lost: search.firstLost.sorted() };
    return { gained: search.gained, lost: search.lost, lostAtoms, first, notWorkedOut };
  } finally {
    search.end();
  }
}

/** One relation in every view, and the relations that it reads. */
interface Goal extends RelationShape {
  readonly key: string;
  readonly level: number;
  readonly reads: ReadonlySet<string>;
}

/** The derived relations, before or after, that the change reaches, by level: a relation follows those it reads. */
function goalsOf({ before, after, relations, views }: ComparedStates): Goal[] {
  const programs = [before.reader.program, after.reader.program];
  const reached = new Set<string>();
  const from = [...relations];
  for (const program of programs) for (const each of program.reachedFrom(from)) reached.add(each);
  const goals = new Map<string, Goal>();
  for (const program of programs)
    for (const shape of program.conclusionsAmong(reached)) {
      const key = relationKey(shape.predicate, shape.arity, shape.negated);
      if (goals.has(key)) continue;
      const level = Math.max(...views.flatMap((view) => programs.map((each) => each.level(view, key))));
      goals.set(key, { ...shape, key, level, reads: readBy(programs, key) });
    }
  return [...goals.values()].sort(
    (left, right) => left.level - right.level || compareText(left.key, right.key),
  );
}

function readBy(programs: readonly Program[], key: string): Set<string> {
  const read = new Set(programs.flatMap((program) => [...program.below([key])]));
  read.delete(key);
  return read;
}

function nameOf({ predicate, arity, negated }: RelationShape): string {
  return `${negated ? '-' : ''}${predicate}/${arity}`;
}

/** Works out the goals in order, then retries the unfinished ones once. Resolves with those still unfinished. */
async function workThrough(
  goals: readonly Goal[],
  limits: ConsequenceLimits,
  search: Search,
): Promise<readonly Goal[]> {
  const end = performance.now() + limits.timeoutMs;
  let open = goals;
  for (let round = 0; round < 2 && open.length > 0; round++) {
    const failed: Goal[] = [];
    for (const [at, goal] of open.entries()) {
      const left = end - performance.now();
      // It would run into the same limit as a relation that it reads.
      const isVain = failed.some(({ key }) => goal.reads.has(key));
      const timeoutMs = left / (open.length - at);
      if (!isVain && left > 0 && (await search.compare(goal, { ...limits, timeoutMs }))) continue;
      failed.push(goal);
    }
    open = failed;
  }
  return open;
}

type ReaderApart = PinnedReader & { readonly overlay: Overlay };

const unlimited = Number.POSITIVE_INFINITY;
/** Bytes of a listed conclusion beside its text. */
const bytesOfListed = 96;

/** The two states with their tables, and the results so far. */
class Search {
  gained = 0;
  lost = 0;
  readonly firstGained: FirstTexts;
  readonly firstLost: FirstTexts;
  readonly #lostAtoms: string[] = [];
  /** Pays for the list of all goals, and sorts it. */
  readonly #listing: Pacer;
  readonly #texts = new TextComparisons();
  readonly #reasoner: Reasoner;
  readonly #views: readonly ScopeChoice[];
  readonly #listsLost: boolean;
  readonly #maxFirst: number;
  readonly #was: ReaderApart;
  readonly #now: ReaderApart;
  #sets: { readonly was: TableSet; readonly now: TableSet } | null = null;

  constructor(
    { before, after, views, listsLost = false, maxFirst = 0 }: ComparedStates,
    signal: ConsequenceLimits['signal'],
  ) {
    this.#reasoner = after.reasoner;
    this.#listing = after.reasoner.pacer({ timeoutMs: unlimited, maxDerivations: unlimited, signal });
    this.#views = views;
    this.#listsLost = listsLost;
    this.#maxFirst = maxFirst;
    this.firstGained = new FirstTexts(maxFirst);
    this.firstLost = new FirstTexts(maxFirst);
    this.#now = apart(after.reader);
    // Shared constants give equal texts equal ids in both states.
    this.#was = apart(before.reader, this.#now.overlay.constants);
  }

  /** Counts what the relation gains and loses. False if it reached a limit; nothing of the relation is counted then. */
  async compare(goal: Goal, limits: ConsequenceLimits): Promise<boolean> {
    const pacer = this.#reasoner.pacer(limits);
    try {
      const gained = new Tuples(goal.arity);
      const lost = new Tuples(goal.arity);
      for (const view of this.#views) await this.#compareIn(view, goal, { gained, lost }, pacer);
      const atoms = this.#listsLost ? await this.#rendered(goal, lost, pacer) : [];
      const first = [await this.#first(goal, gained, pacer), await this.#first(goal, lost, pacer)] as const;
      this.gained += gained.count;
      this.lost += lost.count;
      this.firstGained.add(first[0]);
      this.firstLost.add(first[1]);
      for (const atom of atoms) this.#lostAtoms.push(atom);
      return true;
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'InferenceLimitExceeded') throw error;
      // The tables are not at a fixpoint.
      this.end();
      return false;
    }
  }

  /** The lost conclusions as text, by code point. */
  async listed(): Promise<string[]> {
    const atoms = this.#lostAtoms;
    const [texts, pacer] = [this.#texts, this.#listing];
    // Sorting takes of what was taken for the list.
    pacer.memory.free(atoms.length * bytesOfListed);
    const compare = (left: number, right: number): number =>
      texts.compare(atoms[left] as string, atoms[right] as string);
    return Array.from(await sortedOrder(atoms.length, compare, pacer, texts), (at) => atoms[at] as string);
  }

  /** Releases the tables. */
  end(): void {
    if (this.#sets === null) return;
    const { memory } = this.#reasoner;
    for (const set of [this.#sets.was, this.#sets.now]) memory.forget(set);
    this.#sets = null;
  }

  async #compareIn(
    view: ScopeChoice,
    goal: Goal,
    { gained, lost }: { gained: Tuples; lost: Tuples },
    pacer: Pacer,
  ): Promise<void> {
    const { was, now } = (this.#sets ??= this.#newSets());
    for (const set of [was, now]) set.charge(pacer.memory);
    const then = await settledRows(was, this.#was, view, goal, pacer);
    const later = await settledRows(now, this.#now, view, goal, pacer);
    await this.#collectMissing(view, goal, [later, this.#now], [then, this.#was], gained, pacer);
    await this.#collectMissing(view, goal, [then, this.#was], [later, this.#now], lost, pacer);
  }

  #newSets(): { was: TableSet; now: TableSet } {
    const sets = { was: this.#reasoner.tablesOver(this.#was), now: this.#reasoner.tablesOver(this.#now) };
    for (const set of [sets.was, sets.now]) {
      set.holder = set;
      this.#reasoner.memory.use(set);
    }
    return sets;
  }

  /** Adds the rows of one side that are missing on the other and stored on neither. */
  async #collectMissing(
    view: ScopeChoice,
    goal: Goal,
    [rows, reader]: readonly [Tuples | null, ReaderApart],
    [others, otherReader]: readonly [Tuples | null, ReaderApart],
    missing: Tuples,
    pacer: Pacer,
  ): Promise<void> {
    if (rows === null) return;
    const tuple = new Int32Array(goal.arity);
    for (let row = 0; row < rows.count; row++) {
      if ((row & 0xff) === 0xff) {
        pacer.lookAtMemory(missing);
        await pacer.breathe();
      }
      if (rows.isDead(row)) continue;
      tupleAt(rows, row, tuple);
      const isThere = others === null ? isStored(goal, tuple, otherReader, view) : others.find(tuple) >= 0;
      if (!isThere && !isStored(goal, tuple, reader, view)) missing.insert(tuple);
    }
  }

  async #first({ predicate, negated }: Goal, rows: Tuples, pacer: Pacer): Promise<readonly string[]> {
    const first = new FirstTexts(this.#maxFirst);
    if (this.#maxFirst === 0) return [];
    const { constants } = this.#now.overlay;
    const tuple = new Int32Array(rows.arity);
    const meter = new ByteMeter();
    for (let row = 0; row < rows.count; row++) {
      const args = Array.from(tupleAt(rows, row, tuple), (id) => constants.text(id));
      const atom = renderAtom({ predicate, args, negated });
      first.add([atom]);
      if (meter.counts(atom.length)) await pacer.breathe();
    }
    return first.sorted();
  }

  async #rendered({ predicate, negated }: Goal, rows: Tuples, pacer: Pacer): Promise<string[]> {
    const { constants } = this.#now.overlay;
    const atoms: string[] = [];
    const tuple = new Int32Array(rows.arity);
    const meter = new ByteMeter();
    const { memory } = this.#listing;
    const before = memory.used;
    try {
      for (let row = 0; row < rows.count; row++) {
        const args = Array.from(tupleAt(rows, row, tuple), (id) => constants.text(id));
        const atom = this.#texts.see(renderAtom({ predicate, args, negated }));
        memory.takeText(atom, bytesOfListed);
        atoms.push(atom);
        if (meter.counts(atom.length)) await pacer.breathe();
      }
    } catch (error) {
      memory.free(memory.used - before);
      throw error;
    }
    return atoms;
  }
}

/** The first texts by code point of any number. */
class FirstTexts {
  readonly #max: number;
  readonly #texts: string[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(texts: readonly string[]): void {
    for (const text of texts) {
      this.#texts.push(text);
      if (this.#texts.length >= 2 * this.#max) this.#cut();
    }
  }

  sorted(): readonly string[] {
    this.#cut();
    return this.#texts;
  }

  #cut(): void {
    this.#texts.sort(compareText).splice(this.#max);
  }
}

/** All rows of the relation in the view, at a fixpoint; null: no rule derives it there. */
async function settledRows(
  set: TableSet,
  reader: ReaderApart,
  view: ScopeChoice,
  { predicate, arity, negated, key }: Goal,
  pacer: Pacer,
): Promise<Tuples | null> {
  if (!set.isDerived(view, key)) return null;
  const table = set.table({ view, predicate, arity, negated }, []);
  demand(set, table, new Int32Array(0));
  await settle(set, reader, pacer);
  return table.rows.rows;
}

function isStored(
  { predicate, negated }: RelationShape,
  tuple: Int32Array,
  reader: ReaderApart,
  view: ScopeChoice,
): boolean {
  const { constants } = reader.overlay;
  const args = Array.from(tuple, (id) => constants.text(id));
  return matching(reader, { predicate, args, truthVal: !negated, scope: view }).next().done !== true;
}

/** The distinct views of these scopes. */
export function viewsOfWrites(scopes: Iterable<string | null>): ScopeChoice[] {
  const views = new Map<string, ScopeChoice>();
  for (const scope of scopes) {
    const view = viewOfWrites(scope);
    views.set(viewKey(view), view);
  }
  return [...views.values()];
}
