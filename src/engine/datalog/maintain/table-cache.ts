import { EngineError } from '../../base/errors.ts';
import type { FactStore, ScopeChoice } from '../../store/fact-store.ts';
import type { Tuples } from '../../store/tuples.ts';
import { relationKey } from '../../language/terms.ts';
import { type EvaluationLimits, type Pacer, settle, waitFor } from '../tables/evaluation.ts';
import { type Candidates, type KnownConclusions, plainRows } from '../model/known-conclusions.ts';
import { Losses } from '../model/delta.ts';
import type { MemoryHolder, MemoryBudget } from '../model/memory-budget.ts';
import type { Program } from '../model/program.ts';
import { overdelete, phases } from '../model/derived.ts';
import { type Reader, sees, viewKey } from '../model/reader.ts';
import { TableSet } from '../tables/table-set.ts';
import { type Tallies } from '../model/rule-tallies.ts';
import type { Relation, Table } from '../model/table.ts';
import { abandonMaintenance, retestWaiting } from '../tables/delete-rederive.ts';
import type { Withdrawals } from './withdrawals.ts';

/**
 * One set of tables that a tenant's questions share, and what becomes of it when facts change.
 *
 * The set holds what was to be seen at version `trueTo`; `changed` are the stored facts that changed since then, as far
 * as it can matter. Upkeep makes it true again, or drops the tables that the changes reach where that is less work. One
 * question or one upkeep is at the set at a time (`owner`). Whatever leaves it in a way that nobody can go on from (a
 * limit, an end) has a new set put in its place. What stood in tables that are given up becomes known, what they lost is
 * told.
 */
export interface PinnedReader extends Reader {
  /** The rules it was pinned with. */
  readonly program: Program;
  /** The reasoner's state of change when the reader was made. */
  readonly version: number;
}

/** What shared tables need of the reasoner that they belong to. */
export interface TableCacheHost {
  readonly facts: FactStore;
  readonly program: Program;
  readonly version: number;
  /** True while any of its tables has changes to take in, or takes them in. */
  readonly isBehind: boolean;
  /** True where nothing is to be kept any more. */
  readonly isRetired: boolean;
  readonly known: KnownConclusions;
  readonly withdrawals: Withdrawals;
  /** Those who watch for what the tables lose. */
  readonly watching: ReadonlySet<Losses>;
  readonly tallies: Tallies;
  readonly memory: MemoryBudget;
  /** Who reads now and must not lose what died since. */
  readers: number;
  readonly onLeft: () => void;
  readonly onBug: (error: unknown) => void;
  pacer(limits: Omit<EvaluationLimits, 'memory'>): Pacer;
  reached(relations: Iterable<string>): Set<string>;
  reachedBy(facts: readonly number[]): Set<string>;
}

export interface MaintenanceRun {
  /** The state that it makes the set true to. */
  readonly reader: PinnedReader;
  /** The relations whose rows it can change. */
  readonly reached: ReadonlySet<string>;
  readonly ending: AbortController;
  /** Resolves at its end. */
  done: Promise<void>;
}

/** A table whose rows hold, with those rows. */
export type CachedTable = { readonly table: Table } & Pick<Candidates, 'rows' | 'count' | 'dead'>;

/**
 * Upkeep is bounded as a question is that names no limits, and has more time: what goes on for longer, since a fact
 * that came lets rules count without end, is dropped and left to those who ask for it.
 */
const upkeepLimits = { timeoutMs: 60_000, maxDerivations: 10_000_000 };

/** So many changes are taken in one by one, whatever the tables hold. */
const fewChanges = 10_000;

export class TableCache implements MemoryHolder {
  set: TableSet;
  /** The version that the set is true to. */
  trueTo: number;
  /** While it is made true again: then the rows that this reaches are not to be read. */
  upkeep: MaintenanceRun | null = null;
  /** Numbers of the stored facts that changed since then. */
  #changed: number[] = [];
  readonly #keeper: TableCacheHost;

  constructor(keeper: TableCacheHost, withHeights: boolean) {
    this.#keeper = keeper;
    this.set = this.#newSet(withHeights);
    this.trueTo = keeper.version;
  }

  get bytes(): number {
    return this.set.bytes;
  }

  evict(): boolean {
    if (this.set.owner !== null) return false;
    this.#renew();
    return true;
  }

  /** True while stored facts are noted as changed. */
  get hasChanges(): boolean {
    return this.#changed.length > 0;
  }

  /** True where all that was noted has been taken in. */
  get isTrue(): boolean {
    return !this.hasChanges && this.upkeep === null;
  }

  /** True where a question about the reader's state may take the set now. */
  isFor(reader: PinnedReader): boolean {
    return this.set.owner === null && this.trueTo === reader.version;
  }

  /** The relations in which rows can differ from what holds since facts changed that are not being taken in yet. */
  doubtful(): Set<string> {
    return this.#keeper.reachedBy(this.#changed);
  }

  /** Takes the reasoner's new rules, others than before for the `affected` relations. */
  takeRules(affected: ReadonlySet<string>): void {
    const { set } = this;
    const isBusy = set.owner !== null || this.hasChanges;
    // A constant that the set made may be one of the new rules: one text would have two ids.
    if (isBusy || set.constants.ownCount > 0 || set.hasMuchGarbage) return this.#renew();
    this.#tellLosses(affected);
    set.take(this.#keeper.program, affected);
    this.trueTo = this.#keeper.version;
  }

  /**
   * Notes the facts for the set, unless it reads none of them and nobody can use it in the state that they changed: a
   * question about that state may yet have it read them.
   */
  note(numbers: readonly number[]): void {
    this.#note(numbers);
    if (this.isTrue) this.trueTo = this.#keeper.version;
  }

  #note(numbers: readonly number[]): void {
    const { set } = this;
    const changed = this.#changed;
    if (set.tables.size === 0 && set.owner === null) {
      // A question that needed no table may have made a constant that is stored now: one text would have two ids.
      if (set.constants.ownCount > 0) this.#renew();
      // Nothing rests on what was noted while such a question was at the set. With it the set would go on counting as
      // one for questions about the state before, and what they had it read would change unnoted.
      this.#changed = [];
      return;
    }
    const keys = new Set<string>();
    for (const number of numbers) {
      const { relation, row } = this.#keeper.facts.versionOf(number);
      keys.add(relationKey(relation.predicate, relation.arity, relation.negated));
      // The dictionary has come to know a constant that the set made for itself: one text would have two ids.
      if (row >= 0 && set.constants.clashes(relation, row)) return this.#replace(numbers);
    }
    const isAtRest = set.owner === null && changed.length === 0;
    if (isAtRest && ![...keys].some((key) => set.reads(key))) return;
    for (const number of numbers) changed.push(number);
    if (changed.length > fewChanges && changed.length > set.rowCount && set.owner === null)
      this.#dropChanged();
  }

  /**
   * Lets `work` fill the tables for a reader that the set is for. null where tables of earlier questions left too little
   * memory for it: those have been let go then.
   */
  async fill<Result>(
    reader: PinnedReader,
    work: (set: TableSet) => Promise<Result>,
  ): Promise<{ readonly result: Result } | null> {
    const { set } = this;
    const wasUsed = set.tables.size > 0;
    set.owner = reader;
    let isSettled = false;
    try {
      const result = await work(set);
      isSettled = true;
      return { result };
    } catch (error) {
      if (wasUsed && isOverMemory(error)) return null;
      throw error;
    } finally {
      set.owner = null;
      this.#release(set, isSettled);
    }
  }

  /**
   * Waits until the set holds what the reader sees, having it made so where need be. Ends early where waiting does not
   * help: a question is at the set, the reader's state is gone by, or `about` is not concerned.
   */
  async caughtUp(reader: PinnedReader, pacer: Pacer, about: readonly string[] | null): Promise<void> {
    while (reader.overlay === null && reader.version >= 0) {
      this.begin(reader);
      const { upkeep } = this;
      if (upkeep === null) return;
      if (upkeep.reader.version !== reader.version && reader.version !== this.#keeper.version) return;
      if (about !== null && !about.some((relation) => upkeep.reached.has(relation))) return;
      if (!(await waitFor(upkeep.done, pacer))) return;
      if (this.trueTo === reader.version) return;
      // Others waited for what has ended, and are content with it: they come first.
      await pacer.rest();
    }
  }

  /** Begins the upkeep that the set needs, where nobody is at it and the reader's state is the present one. */
  begin(reader: PinnedReader): void {
    const { set, upkeep: present } = this;
    const changed = this.#changed;
    if (reader.overlay !== null || reader.version !== this.#keeper.version) return;
    if (present !== null || changed.length === 0 || set.owner !== null) return;
    const ending = new AbortController();
    const reached = this.doubtful();
    const upkeep: MaintenanceRun = { reader, reached, ending, done: Promise.resolve() };
    this.#changed = [];
    this.upkeep = upkeep;
    set.owner = upkeep;
    // A question that waits goes on without what a bug left behind.
    upkeep.done = this.#keepTrue(upkeep, changed).catch(this.#keeper.onBug);
  }

  async #keepTrue({ reader, reached, ending }: MaintenanceRun, changed: readonly number[]): Promise<void> {
    const keeper = this.#keeper;
    const { set, trueTo: from } = this;
    const to = reader.version;
    const losses = new Losses(true, () => {});
    set.lost = (table, row) => {
      if (!table.isKnown) return;
      losses.add(table, row, set.constants);
      for (const each of keeper.watching) {
        each.add(table, row, set.constants);
        each.through = Math.max(each.through, to);
      }
    };
    let isSettled = false;
    let isTold = false;
    keeper.readers++;
    try {
      const pacer = keeper.pacer({ ...upkeepLimits, signal: ending.signal });
      if (await maintainTables(set, changed, reader, pacer)) {
        this.#dropWorn();
        isTold = true;
      } else {
        abandonMaintenance(set);
        // Some of these rows have gone: subscribers are told to read again, and retractions find out.
        this.#drop(reached, false);
      }
      isSettled = true;
    } catch (error) {
      // A limit: the set is dropped. An end: it was dropped already.
      if (!(error instanceof EngineError) && !ending.signal.aborted) throw error;
    } finally {
      keeper.readers--;
      set.owner = null;
      if (!ending.signal.aborted) keeper.withdrawals.add({ from, to, losses: isTold ? losses : null });
      if (this.set === set) {
        this.upkeep = null;
        this.trueTo = to;
        this.#release(set, isSettled);
      }
    }
  }

  /** When nobody is at the set any more that was `set`: lets go of one that is not settled, or too large. */
  #release(set: TableSet, isSettled: boolean): void {
    const keeper = this.#keeper;
    if (this.set === set) {
      if (!isSettled || keeper.isRetired || !keeper.memory.fits(set.bytes, this)) {
        if (this.hasChanges) this.#tooMuch(this.trueTo);
        this.#renew();
      } else keeper.memory.use(this);
    }
    if (keeper.isBehind || keeper.withdrawals.isPending) keeper.onLeft();
  }

  /** Puts a new set in the place of one that is not to be used again; what it held becomes known. */
  #replace(numbers: readonly number[]): void {
    const { upkeep } = this;
    if (upkeep !== null) this.#tooMuch(this.trueTo);
    upkeep?.ending.abort();
    for (const table of this.set.tables.values()) this.#keep(table, true);
    this.#keeper.withdrawals.doubt(this.#keeper.reachedBy([...this.#changed, ...numbers]));
    this.#renew();
  }

  /** What changed after this version took away more than can be told one by one. */
  #tooMuch(from: number): void {
    this.#keeper.withdrawals.add({ from, to: this.#keeper.version, losses: null });
  }

  /** Begins with an empty set, which is true to the present version. */
  #renew(): void {
    const { set } = this;
    this.#tellLosses(new Set([...set.tables.values()].map(({ relation }) => relation)));
    this.set = this.#newSet(set.withHeights);
    this.#changed = [];
    this.upkeep = null;
    this.trueTo = this.#keeper.version;
    this.#keeper.memory.forget(this);
  }

  #newSet(withHeights: boolean): TableSet {
    const { facts, program, tallies } = this.#keeper;
    const set = new TableSet(facts, program, { withHeights, isMaintained: true }, tallies);
    set.holder = this;
    return set;
  }

  #dropChanged(): void {
    const reached = this.doubtful();
    this.#drop(reached, true);
    this.#keeper.withdrawals.doubt(reached);
    this.#changed = [];
  }

  /**
   * Drops tables most of whose rows are dead, or most of what waits or is grouped for their rules, and those that are no
   * longer to be held as rows of bits.
   */
  #dropWorn(): void {
    const worn = new Set<string>();
    for (const { relation, rows, extra, bits } of this.set.tables.values())
      if (bits?.isWasteful === true || [rows, ...extra].some((each) => isWorn(each.rows))) worn.add(relation);
    if (worn.size > 0) this.#drop(this.#keeper.reached(worn), true);
  }

  /** Tells who watches that these tables will be dropped. */
  #tellLosses(relations: ReadonlySet<string>): void {
    const { set } = this;
    const { watching } = this.#keeper;
    if (watching.size === 0) return;
    for (const relation of relations)
      for (const table of set.tablesOf(relation))
        if (table.isKnown) for (const losses of watching) losses.drop(table, set.constants);
  }

  /** Gives up the tables of these relations; `isTrue` where their rows hold, as far as changes were taken in. */
  #drop(relations: ReadonlySet<string>, isTrue: boolean): void {
    this.#tellLosses(relations);
    for (const table of this.#tablesOf(relations)) {
      this.#keep(table, isTrue);
      this.set.reset(table);
    }
  }

  #tablesOf(relations: ReadonlySet<string>): Table[] {
    return [...relations].flatMap((relation) => [...this.set.tablesOf(relation)]);
  }

  /** The rows of a table that is given up are known, and kept true no longer; where they hold, their loss is to be told. */
  #keep(table: Table, isTrue: boolean): void {
    if (!table.isKnown) return;
    const { rows } = plainRows(table.rows.rows, this.set.constants);
    this.#keeper.known.add(table, rows);
    if (isTrue) this.#keeper.withdrawals.unwatch(table, rows);
  }

  /**
   * To be called in the turn in which rules change that conclude these relations, before they are taken: what stands in
   * the tables is in doubt.
   */
  doubtConcluded(heads: readonly string[]): void {
    const { withdrawals } = this.#keeper;
    if (this.upkeep !== null) this.#tooMuch(this.trueTo);
    const reached = new Set([...this.#keeper.reached(heads), ...this.doubtful()]);
    for (const table of this.#tablesOf(reached))
      if (table.isKnown) withdrawals.unwatch(table, plainRows(table.rows.rows, this.set.constants).rows);
    withdrawals.doubt(reached);
  }

  /** What stands in known tables of these relations; certain where nothing noted can have changed it. */
  candidates(relations: ReadonlySet<string>): Candidates[] {
    const { set } = this;
    const found: Candidates[] = [];
    const doubtful = this.doubtful();
    for (const relation of relations)
      for (const table of set.tablesOf(relation)) {
        const { rows } = table.rows;
        if (rows.live === 0 || !table.isKnown) continue;
        const demand = plainRows(table.demand.rows, set.constants).rows;
        const demanded = { boundPositions: table.boundPositions, demand: { rows: demand } };
        const isCertain = this.upkeep === null && !doubtful.has(relation);
        found.push({ ...table, ...plainRows(rows, set.constants), table: demanded, isCertain });
      }
    return found;
  }

  /** Known tables whose rows hold for the reader, with those rows. */
  held(reader: PinnedReader): CachedTable[] {
    const { set } = this;
    const holds = this.holdsFor(reader);
    const found: CachedTable[] = [];
    for (const table of set.tables.values())
      if (table.isKnown && table.rows.rows.live > 0 && holds(table.relation))
        found.push({ table, ...plainRows(table.rows.rows, set.constants) });
    return found;
  }

  /** Tables of the view that have every row of their relation, with those rows as they hold for the reader. */
  whole(reader: PinnedReader, view: ScopeChoice): CachedTable[] {
    const { set } = this;
    const holds = this.holdsFor(reader);
    const found: CachedTable[] = [];
    for (const table of set.tables.values()) {
      const isWhole = table.boundPositions.length === 0 && table.demand.settled > 0;
      if (isWhole && viewKey(table.view) === viewKey(view) && holds(table.relation))
        found.push({ table, ...plainRows(table.rows.rows, set.constants) });
    }
    return found;
  }

  /** True for the relations whose rows in the set are those that the reader sees. */
  holdsFor(reader: PinnedReader): (relation: string) => boolean {
    const { upkeep } = this;
    if (upkeep === null && this.trueTo === reader.version) return () => true;
    if (reader.version !== this.#keeper.version) return () => false;
    const doubtful = this.doubtful();
    return (relation) => !doubtful.has(relation) && upkeep?.reached.has(relation) !== true;
  }

  /** True where a table has the row, a tuple of ids of the dictionary. */
  stands(of: Relation & { readonly relation: string }, tuple: Int32Array): boolean {
    const { constants } = this.set;
    const view = viewKey(of.view);
    const ids = constants.ownCount === 0 ? tuple : tuple.map((id) => constants.local(id));
    return this.set
      .tablesOf(of.relation)
      .some((table) => viewKey(table.view) === view && table.rows.rows.find(ids) >= 0);
  }
}

function isWorn(rows: Tuples): boolean {
  return rows.deadCount > 1000 && rows.deadCount * 2 > rows.count;
}

function isOverMemory(error: unknown): boolean {
  return error instanceof EngineError && error.members['limit'] === 'memory';
}

/**
 * Brings the set to what the reader sees, given the numbers of all stored facts that changed since it was settled.
 * False where that is not worth it; see `settle`.
 */
export async function maintainTables(
  set: TableSet,
  changed: readonly number[],
  reader: Reader,
  pacer: Pacer,
): Promise<boolean> {
  const { facts, work, justifications } = set;
  const taken = justifications.count;
  for (const support of justifications.supports) support.markBaseline();
  for (const number of new Set(changed)) {
    const { relation, row: newest } = facts.versionOf(number);
    // A write that nobody sees yet may be under way.
    const row = relation.versionAt(newest, reader.generation);
    const key = relationKey(relation.predicate, relation.arity, relation.negated);
    if (row >= 0 && sees(reader, relation, row))
      for (const news of set.deltasOf(key)) {
        news.rows.push(row);
        work.add(news, phases.stored);
      }
    else justifications.dependentsOfFact(number, (target, at) => overdelete(work, target, at));
    // A fact of which nothing is left went in an earlier change.
    if (row >= 0)
      for (const watcher of set.watchersOf(key)) retestWaiting(set, watcher, relation.columns, row);
  }
  if (!(await settle(set, reader, pacer))) return false;
  justifications.garbage += justifications.count - taken;
  if (justifications.needsCompaction) await justifications.compact(() => pacer.breathe());
  return true;
}
