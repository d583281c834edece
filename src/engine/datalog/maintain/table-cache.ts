import { EngineError } from '../../base/errors.ts';
import type { FactStore, ScopeChoice } from '../../store/fact-store.ts';
import type { StoredRelation } from '../../store/stored-relation.ts';
import type { Tuples } from '../../store/tuples.ts';
import type { ArgumentNames } from '../../language/argument-names.ts';
import { relationKey } from '../../language/terms.ts';
import {
  type EvaluationLimits,
  HandOver,
  type Pacer,
  settle,
  waitFor,
  abandonMaintenance,
  retest,
} from '../tables/evaluation.ts';
import { type Candidates, type KnownConclusions, plainRows } from '../model/known-conclusions.ts';
import type { MemoryHolder, MemoryBudget } from '../model/memory-budget.ts';
import type { Program, Tallies } from '../model/program.ts';
import { overdelete, phases } from '../model/derived.ts';
import { type Reader, sees, viewKey } from '../model/reader.ts';
import { TableSet } from '../tables/table-set.ts';
import type { Relation, Table } from '../model/table.ts';
import { type Withdrawals, Losses } from './withdrawals.ts';

/** A reader of the shared state, with what it needs to tell whether shared tables are valid for it. */
export interface PinnedReader extends Reader {
  /** The rules at the time it was pinned. */
  readonly program: Program;
  /** The declared names of arguments at that time. */
  readonly names: ArgumentNames;
  /** The reasoner's change counter when the reader was made. */
  readonly version: number;
}

/** What a table cache needs of its reasoner. */
export interface TableCacheHost {
  readonly facts: FactStore;
  readonly program: Program;
  readonly version: number;
  /** True while a table set has changes to process, or is processing them. */
  readonly isBehind: boolean;
  /** True if nothing is to be cached any more. */
  readonly isRetired: boolean;
  readonly known: KnownConclusions;
  readonly withdrawals: Withdrawals;
  /** Recordings of what the tables lose. */
  readonly watching: ReadonlySet<Losses>;
  readonly tallies: Tallies;
  readonly memory: MemoryBudget;
  /** Number of running reads that still need deleted rows. */
  readers: number;
  readonly onLeft: () => void;
  readonly onBug: (error: unknown) => void;
  pacer(limits: Omit<EvaluationLimits, 'memory'>): Pacer;
  reached(relations: Iterable<string>): Set<string>;
  reachedBy(facts: readonly number[]): Set<string>;
}

/** One run of incremental maintenance. */
export interface MaintenanceRun {
  /** The state to which it brings the table set. */
  readonly reader: PinnedReader;
  /** The relations whose rows it can change. */
  readonly reached: ReadonlySet<string>;
  readonly ending: AbortController;
  /** Resolves at its end. */
  done: Promise<void>;
}

/** A table whose rows are valid, with those rows. */
export type CachedTable = { readonly table: Table } & Pick<Candidates, 'rows' | 'count' | 'dead'>;

/**
 * Maintenance has the default limits of a question, and more time. If it takes longer, as when a new fact
 * makes rules count without end, the tables are dropped, and the next question derives them.
 */
const maintenanceLimits = { timeoutMs: 60_000, maxDerivations: 10_000_000 };

/** Below this number, changes are always processed one by one. */
const minChangesToDrop = 10_000;
const changesBetweenBreaths = 1024;

/**
 * One table set that a tenant's questions share, cached across questions and incrementally maintained.
 *
 * The set is valid through version `validThrough`; `changed` has the stored facts that changed since then, as far
 * as they can matter. Maintenance brings it up to date, or drops the affected tables if that is less work.
 * The set has one user at a time, a question or a maintenance run (`owner`). If a user leaves it unfinished
 * (a limit, an abort), it is replaced by a new one. Rows of dropped tables become known conclusions, and what
 * they lose is reported.
 */
export class TableCache implements MemoryHolder {
  set: TableSet;
  /** The version through which the set is valid. */
  validThrough: number;
  /** The running maintenance; meanwhile the relations that it reaches must not be read. */
  maintenance: MaintenanceRun | null = null;
  /** Numbers of the stored facts that changed since `validThrough`. */
  #changed: number[] = [];
  readonly #host: TableCacheHost;

  constructor(host: TableCacheHost, withHeights: boolean) {
    this.#host = host;
    this.set = this.#newSet(withHeights);
    this.validThrough = host.version;
  }

  get bytes(): number {
    return this.set.bytes;
  }

  evict(): boolean {
    if (this.set.owner !== null) return false;
    this.#renew();
    return true;
  }

  /** True if there are unprocessed changes. */
  get hasChanges(): boolean {
    return this.#changed.length > 0;
  }

  /** True if all changes have been processed. */
  get isUpToDate(): boolean {
    return !this.hasChanges && this.maintenance === null;
  }

  /** True if a question about the reader's state may use the set now. */
  isFor(reader: PinnedReader): boolean {
    return this.set.owner === null && this.validThrough === reader.version;
  }

  /** The relations whose rows may be out of date because of changes that are not being processed yet. */
  #doubtful(): Set<string> {
    return this.#host.reachedBy(this.#changed);
  }

  /** Switches to the reasoner's new rules; `affected` are the relations whose conclusions may differ. */
  takeRules(affected: ReadonlySet<string>): void {
    const { set } = this;
    const isBusy = set.owner !== null || this.hasChanges;
    // A local constant may occur in the new rules: one text would get two ids.
    if (isBusy || set.constants.ownCount > 0 || set.hasMuchGarbage) return this.#renew();
    this.#recordDrops(affected);
    set.take(this.#host.program, affected);
    this.validThrough = this.#host.version;
  }

  /**
   * Records changed facts, unless the set reads none of them and no question can still use it in the earlier
   * state: such a question could make it read them.
   */
  note(numbers: readonly number[]): void {
    this.#note(numbers);
    if (this.isUpToDate) this.validThrough = this.#host.version;
  }

  #note(numbers: readonly number[]): void {
    const { set } = this;
    const changed = this.#changed;
    if (set.tables.size === 0 && set.owner === null) {
      // A question without tables may have made a local constant that is now stored: one text would have two
      // ids.
      if (set.constants.ownCount > 0) this.#renew();
      // Such a question left no rows, so the changes do not matter. Recorded, they would keep the set at the
      // earlier version, and questions about that version could read facts whose changes are not recorded.
      this.#changed = [];
      return;
    }
    const keys = new Set<string>();
    let last: StoredRelation | null = null;
    for (const number of numbers) {
      const { relation, row } = this.#host.facts.versionOf(number);
      if (relation !== last) keys.add(relationKey(relation.predicate, relation.arity, relation.negated));
      last = relation;
      // The dictionary now has a constant for which the set made a local id: one text would have two ids.
      if (row >= 0 && set.constants.clashes(relation, row)) return this.#replace(numbers);
    }
    const isAtFixpoint = set.owner === null && changed.length === 0;
    if (isAtFixpoint && ![...keys].some((key) => set.reads(key))) return;
    for (const number of numbers) changed.push(number);
    if (changed.length <= minChangesToDrop || changed.length <= set.rowCount || set.owner !== null) return;
    const reached = this.#doubtful();
    this.#drop(reached, true);
    this.#host.withdrawals.doubt(reached);
    this.#changed = [];
  }

  /**
   * Runs `work` on the tables for a reader for whom the set is valid. null if tables of earlier questions
   * left too little memory; they have then been evicted.
   */
  async fill<Result>(
    reader: PinnedReader,
    pacer: Pacer,
    work: (set: TableSet) => Promise<Result>,
  ): Promise<{ readonly result: Result } | null> {
    const { set } = this;
    const wasUsed = set.tables.size > 0;
    set.owner = reader;
    set.charge(pacer.memory);
    let isSettled = false;
    try {
      const result = await work(set);
      isSettled = true;
      return { result };
    } catch (error) {
      // Not the question's fault: what it and earlier ones have derived stays known.
      if (error instanceof HandOver) for (const table of set.tables.values()) this.#keep(table, true);
      const isOverMemory = error instanceof EngineError && error.members['limit'] === 'memory';
      if (wasUsed && isOverMemory && !pacer.memory.isExhausted) return null;
      throw error;
    } finally {
      set.owner = null;
      set.charge(null);
      this.#release(set, isSettled);
    }
  }

  /**
   * Waits until the set is valid for the reader, starting maintenance if needed. Returns early if waiting
   * does not help: a question uses the set, the reader's state is past, or the relations of `about` are not
   * affected.
   */
  async caughtUp(reader: PinnedReader, pacer: Pacer, about: readonly string[] | null): Promise<void> {
    while (reader.overlay === null && reader.version >= 0) {
      this.begin(reader);
      const { maintenance } = this;
      if (maintenance === null) return;
      if (maintenance.reader.version !== reader.version && reader.version !== this.#host.version) return;
      if (about !== null && !about.some((relation) => maintenance.reached.has(relation))) return;
      if (!(await waitFor(maintenance.done, pacer))) return;
      if (this.validThrough === reader.version) return;
      // Others may have waited for the run that ended and need nothing more: they go first.
      await pacer.rest();
    }
  }

  /** Starts maintenance if the set needs it and is free, and if the reader's state is the current one. */
  begin(reader: PinnedReader): void {
    const { set, maintenance: present } = this;
    const changed = this.#changed;
    if (reader.overlay !== null || reader.version !== this.#host.version) return;
    if (present !== null || changed.length === 0 || set.owner !== null) return;
    const ending = new AbortController();
    const reached = this.#doubtful();
    const maintenance: MaintenanceRun = { reader, reached, ending, done: Promise.resolve() };
    this.#changed = [];
    this.maintenance = maintenance;
    set.owner = maintenance;
    // After a bug, waiting questions go on with whatever is left.
    maintenance.done = this.#maintain(maintenance, changed).catch(this.#host.onBug);
  }

  async #maintain({ reader, reached, ending }: MaintenanceRun, changed: readonly number[]): Promise<void> {
    const host = this.#host;
    const { set, validThrough: from } = this;
    const to = reader.version;
    const losses = new Losses(true, () => {});
    set.lost = (table, row) => {
      if (!table.isKnown) return;
      losses.add(table, row, set.constants);
      for (const each of host.watching) {
        each.add(table, row, set.constants);
        each.through = Math.max(each.through, to);
      }
    };
    let isSettled = false;
    let isComplete = false;
    host.readers++;
    try {
      const pacer = host.pacer({ ...maintenanceLimits, signal: ending.signal });
      if (await maintainTables(set, changed, reader, pacer)) {
        this.#dropMostlyDead();
        isComplete = true;
      } else {
        abandonMaintenance(set);
        // Which of these rows are gone is not known: subscribers are notified to read again, and retractions
        // check.
        this.#drop(reached, false);
      }
      isSettled = true;
    } catch (error) {
      // A limit: the set is dropped. An abort: it was dropped already.
      if (!(error instanceof EngineError) && !ending.signal.aborted) throw error;
    } finally {
      host.readers--;
      set.owner = null;
      if (!ending.signal.aborted) host.withdrawals.add({ from, to, losses: isComplete ? losses : null });
      if (this.set === set) {
        this.maintenance = null;
        this.validThrough = to;
        this.#release(set, isSettled);
      }
    }
  }

  /** After a user has left `set`: drops it if it is unfinished or too large. */
  #release(set: TableSet, isSettled: boolean): void {
    const host = this.#host;
    if (this.set === set) {
      const { bytes } = set;
      if (!isSettled || host.isRetired || !host.memory.fits(bytes, this)) {
        if (this.hasChanges) this.#addUnlisted(this.validThrough);
        this.#renew();
      } else host.memory.use(this, bytes);
    }
    if (host.isBehind || host.withdrawals.isPending) host.onLeft();
  }

  /** Replaces a set that cannot be used any more; its rows become known conclusions. */
  #replace(numbers: readonly number[]): void {
    const { maintenance } = this;
    if (maintenance !== null) this.#addUnlisted(this.validThrough);
    maintenance?.ending.abort();
    for (const table of this.set.tables.values()) this.#keep(table, true);
    this.#host.withdrawals.doubt(this.#host.reachedBy([...this.#changed, ...numbers]));
    this.#renew();
  }

  /** Reports that changes after this version deleted more than can be listed. */
  #addUnlisted(from: number): void {
    this.#host.withdrawals.add({ from, to: this.#host.version, losses: null });
  }

  /** Starts again with an empty set, valid for the current version. */
  #renew(): void {
    const { set } = this;
    this.#recordDrops(new Set([...set.tables.values()].map(({ relation }) => relation)));
    this.set = this.#newSet(set.withHeights);
    this.#changed = [];
    this.maintenance = null;
    this.validThrough = this.#host.version;
    this.#host.memory.forget(this);
  }

  #newSet(withHeights: boolean): TableSet {
    const { facts, program, tallies } = this.#host;
    const set = new TableSet(facts, program, { withHeights, isMaintained: true }, tallies);
    set.holder = this;
    return set;
  }

  /**
   * Drops tables whose rows, or auxiliary rows, are mostly tombstones, and bitset tables that have become
   * sparse.
   */
  #dropMostlyDead(): void {
    const mostlyDead = new Set<string>();
    for (const { relation, rows, extra, bits } of this.set.tables.values())
      if (bits?.isWasteful === true || [rows, ...extra].some((each) => isMostlyDead(each.rows)))
        mostlyDead.add(relation);
    if (mostlyDead.size > 0) this.#drop(this.#host.reached(mostlyDead), true);
  }

  /** Tells the recordings that these tables will be dropped. */
  #recordDrops(relations: ReadonlySet<string>): void {
    const { set } = this;
    const { watching } = this.#host;
    if (watching.size === 0) return;
    for (const relation of relations)
      for (const table of set.tablesOf(relation))
        if (table.isKnown) for (const losses of watching) losses.drop(table, set.constants);
  }

  /** Drops the tables of these relations; `isUpToDate` if their rows are valid through the processed changes. */
  #drop(relations: ReadonlySet<string>, isUpToDate: boolean): void {
    this.#recordDrops(relations);
    for (const table of this.#tablesOf(relations)) {
      this.#keep(table, isUpToDate);
      this.set.reset(table);
    }
  }

  #tablesOf(relations: ReadonlySet<string>): Table[] {
    return [...relations].flatMap((relation) => [...this.set.tablesOf(relation)]);
  }

  /**
   * Makes the rows of a dropped table known conclusions, which are no longer maintained; if they are valid,
   * losing them is still to be reported.
   */
  #keep(table: Table, isUpToDate: boolean): void {
    if (!table.isKnown) return;
    const { rows } = plainRows(table.rows.rows, this.set.constants);
    this.#host.known.add(table, rows);
    if (isUpToDate) this.#host.withdrawals.unwatch(table, rows);
  }

  /**
   * Called in the turn in which rules for these relations change, before the new rules are used: rows of
   * affected tables may become false.
   */
  doubtConcluded(heads: readonly string[]): void {
    const { withdrawals } = this.#host;
    if (this.maintenance !== null) this.#addUnlisted(this.validThrough);
    const reached = new Set([...this.#host.reached(heads), ...this.#doubtful()]);
    for (const table of this.#tablesOf(reached))
      if (table.isKnown) withdrawals.unwatch(table, plainRows(table.rows.rows, this.set.constants).rows);
    withdrawals.doubt(reached);
  }

  /** The rows of known tables of these relations; certain if no unprocessed change can affect them. */
  candidates(relations: ReadonlySet<string>): Candidates[] {
    const { set } = this;
    const found: Candidates[] = [];
    const doubtful = this.#doubtful();
    for (const relation of relations)
      for (const table of set.tablesOf(relation)) {
        const { rows } = table.rows;
        if (rows.live === 0 || !table.isKnown) continue;
        const demand = plainRows(table.demand.rows, set.constants).rows;
        const demanded = { boundPositions: table.boundPositions, demand: { rows: demand } };
        const isCertain = this.maintenance === null && !doubtful.has(relation);
        found.push({ ...table, ...plainRows(rows, set.constants), table: demanded, isCertain });
      }
    return found;
  }

  /** Known tables whose rows are valid for the reader, with those rows. */
  held(reader: PinnedReader): CachedTable[] {
    return this.#valid(reader, (table) => table.isKnown && table.rows.rows.live > 0);
  }

  /**
   * Tables of the view that have every row of their relation and are valid for the reader, with those rows.
   */
  whole(reader: PinnedReader, view: ScopeChoice): CachedTable[] {
    return this.#valid(
      reader,
      ({ boundPositions, demand, view: of }) =>
        boundPositions.length === 0 && demand.settled > 0 && viewKey(of) === viewKey(view),
    );
  }

  #valid(reader: PinnedReader, isWanted: (table: Table) => boolean): CachedTable[] {
    const { tables, constants } = this.set;
    const holds = this.holdsFor(reader);
    return [...tables.values()]
      .filter((table) => isWanted(table) && holds(table.relation))
      .map((table) => ({ table, ...plainRows(table.rows.rows, constants) }));
  }

  /** A predicate: whether the set's rows of a relation are those that the reader sees. */
  holdsFor(reader: PinnedReader): (relation: string) => boolean {
    const { maintenance } = this;
    if (maintenance === null && this.validThrough === reader.version) return () => true;
    if (reader.version !== this.#host.version) return () => false;
    const doubtful = this.#doubtful();
    return (relation) => !doubtful.has(relation) && maintenance?.reached.has(relation) !== true;
  }

  /** True if a table has the row, given as dictionary ids. */
  hasRow(of: Relation & { readonly relation: string }, tuple: Int32Array): boolean {
    const { constants } = this.set;
    const view = viewKey(of.view);
    const ids = constants.ownCount === 0 ? tuple : tuple.map((id) => constants.local(id));
    return this.set
      .tablesOf(of.relation)
      .some((table) => viewKey(table.view) === view && table.rows.rows.find(ids) >= 0);
  }
}

function isMostlyDead(rows: Tuples): boolean {
  return rows.deadCount > 1000 && rows.deadCount * 2 > rows.count;
}

/**
 * Incremental maintenance: brings a settled set to the reader's state, given the numbers of all stored facts
 * that changed since. False if deriving from scratch is cheaper; see `settle`.
 */
export async function maintainTables(
  set: TableSet,
  changed: readonly number[],
  reader: Reader,
  pacer: Pacer,
): Promise<boolean> {
  const { facts, work, justifications } = set;
  await justifications.writeRuns(() => pacer.breathe());
  const countBefore = justifications.count;
  for (const support of justifications.supports) support.markBaseline();
  const numbers = Int32Array.from(new Set(changed));
  // Later writes may come while this pauses; the versions that the reader sees are found before.
  const rows = new Int32Array(numbers.length);
  const relations: StoredRelation[] = [];
  for (const [at, number] of numbers.entries()) {
    const { relation, row: newest } = facts.versionOf(number);
    relations.push(relation);
    // A write that is not visible yet may be in progress.
    rows[at] = relation.versionAt(newest, reader.generation);
  }
  for (const [at, number] of numbers.entries()) {
    if (at % changesBetweenBreaths === changesBetweenBreaths - 1) await pacer.breathe();
    const relation = relations[at] as StoredRelation;
    const row = rows[at] as number;
    const key = relationKey(relation.predicate, relation.arity, relation.negated);
    if (row >= 0 && sees(reader, relation, row))
      for (const delta of set.deltasOf(key)) {
        delta.rows.push(row);
        work.add(delta, phases.stored);
      }
    else justifications.dependentsOfFact(number, (target, at) => overdelete(work, target, at));
    // A fact without any version left was processed with an earlier change.
    if (row >= 0) for (const watcher of set.watchersOf(key)) retest(set, watcher, relation.columns, row);
  }
  if (!(await settle(set, reader, pacer))) return false;
  justifications.garbage += justifications.count - countBefore;
  if (justifications.needsCompaction) await justifications.compact(() => pacer.breathe());
  return true;
}
