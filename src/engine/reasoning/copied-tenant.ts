import { present } from '../base/assert.ts';
import type { Scheduler } from '../base/scheduler.ts';
import { Slices } from '../base/slices.ts';
import type { Metadata } from '../contract/facts.ts';
import { type PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import { maxInDoubt } from '../datalog/maintain/withdrawals.ts';
import { type Candidates, isCandidate } from '../datalog/model/known-conclusions.ts';
import type { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program, type Tallies } from '../datalog/model/program.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import { relationKey } from '../language/terms.ts';
import type { KnownAtoms } from '../session/read-context.ts';
import { DatabaseState, newTenant, type TenantState } from '../state/state.ts';
import type { AliasRecord } from '../store/alias-store.ts';
import { DeclarationStore } from '../store/declaration-store.ts';
import { type RuleRecord, RuleStore } from '../store/rule-store.ts';
import { StoredRelation } from '../store/stored-relation.ts';
import type { PinnedEnds } from '../store/version-archive.ts';
import { tupleAt } from '../store/tuples.ts';
import type {
  CopiedRelation,
  CopiedVersion,
  PastMessage,
  RemoteConclusionReads,
  RemoteConclusions,
  ToReasoningThread,
} from './messages.ts';

/** A message about the contents of a copy. */
export type CopyMessage = Exclude<
  ToReasoningThread,
  { readonly kind: 'open' | 'drop' | 'ask' | 'cancel' | 'taken' | PastMessage['kind'] }
>;

/** Rows that a question derived, or rests on. */
interface Derived extends Pick<Candidates, 'rows' | 'count' | 'dead'> {
  readonly of: Pick<Candidates, 'view' | 'predicate' | 'arity' | 'negated' | 'relation'>;
}

const constantsBetweenBreaths = 256;
/** Sets of goals, of each of which it is remembered what was said of their conclusions. */
const maxGoalsRemembered = 100;
/** Conclusions about a constant that are told. */
const maxMentions = 100_000;

/**
 * The copy of one tenant's facts on a reasoning thread: those of the relations that questions reached, under the numbers
 * of the facts and scopes that they have in the original, with the rules and declarations of the database, and a reasoner
 * over them.
 *
 * Constants have ids of their own here, since evaluation adds some; two columns translate.
 */
export class CopiedTenant {
  readonly database: DatabaseState;
  readonly tenant: TenantState;
  readonly reasoner: Reasoner;
  /** Those posted, some of which may not be in the order yet. */
  readonly #rules = new Map<string, RuleRecord>();
  readonly #tallies: Tallies = new Map();
  /** How often each rule had fired when that was last said. */
  readonly #firedSaid = new Map<string, number>();
  /** By id of the original, and by id here: the other id; -1: none. */
  #ownIds: Int32Array = new Int32Array(1024).fill(-1);
  #originalIds: Int32Array = new Int32Array(1024).fill(-1);
  /** Ends of facts that were asserted again since, of which more follow. */
  #ends: PinnedEnds['entries'] = [];
  /** Aliases, of which more follow. */
  readonly #aliases: AliasRecord[] = [];
  /** By key of a relation that is being posted. */
  readonly #metadata = new Map<string, (readonly [number, Metadata])[]>();
  #time = Number.NEGATIVE_INFINITY;
  /** Of the last question. */
  #generation = 0;
  /** What was last said of conclusions, by the goals. */
  readonly #conclusionsSaid = new Map<string, string>();
  /** What questions derived in tables of their own, by their readers. */
  readonly #keptFor = new WeakMap<PinnedReader, Derived[]>();
  /** Relations that questions asked about, also those that a read implies, by their readers. */
  readonly #askedBy = new WeakMap<PinnedReader, Set<string>>();
  readonly #slices: Slices;

  constructor(
    { database, tenant }: { readonly database: string; readonly tenant: string },
    scheduler: Scheduler,
    memory: MemoryBudget,
    onBug: (error: unknown) => void,
  ) {
    this.database = new DatabaseState(database, 0);
    this.tenant = newTenant(0);
    const owner = { database, tenant };
    this.#slices = new Slices(scheduler.pauseOf(owner, 'copy facts'));
    const { facts } = this.tenant;
    const pause = scheduler.pauseOf(owner, 'ask');
    this.reasoner = new Reasoner(facts, new Program([]), this.#tallies, pause, memory);
    this.reasoner.onBug = onBug;
    this.reasoner.onKept = (of, rows, reader) => {
      const { count, dead } = rows;
      this.#keptFor.get(reader)?.push({ of, rows, count, dead });
    };
    this.reasoner.onAsked = (relations, reader) => {
      for (const each of relations) this.#askedBy.get(reader)?.add(each);
    };
  }

  get bytes(): number {
    return this.tenant.facts.bytes + this.tenant.uses.bytes + this.reasoner.bytes;
  }

  /** Takes in what was posted. Call it in the order of the messages, and await each. */
  async take(message: CopyMessage): Promise<void> {
    switch (message.kind) {
      case 'constants':
        return this.#takeConstants(message);
      case 'scopes':
        for (const name of message.names) this.tenant.facts.internScope(name);
        return;
      case 'writes':
        return this.tenant.facts.numbers.enterWrites(message);
      case 'metadata': {
        const known = this.#metadata.get(message.relation) ?? [];
        this.#metadata.set(message.relation, known);
        for (const entry of message.entries) known.push(entry);
        return;
      }
      case 'relation':
        return this.#takeRelation(message);
      case 'changes':
        return this.#takeChanges(message.versions, message.generation);
      case 'rules':
        for (const rule of message.rules) this.#rules.set(rule.id, rule);
        return;
      case 'order':
        return this.#takeOrder(message.ids);
      case 'ends':
        return this.#takeEnds(message);
      case 'times':
        return this.database.generations.enter(message);
      case 'restored':
        for (const [number, time] of message.facts) this.tenant.facts.numbers.setCreatedAt(number, time);
        return;
      case 'relationOrder':
        return this.#takeRelationOrder(message.relations);
      case 'aliases':
        this.#aliases.push(...message.records);
        if (message.isLast) this.tenant.aliases.replace(this.#aliases.splice(0));
        return;
      case 'uses':
        if (message.restarts) this.tenant.uses.clear();
        return this.tenant.uses.enter(message.packed);
      case 'declarations':
        this.database.declarations = new DeclarationStore();
        for (const declaration of message.declarations) this.database.declarations.put(declaration);
        this.reasoner.declared = this.database.declarations;
        return;
    }
  }

  /** A reader of what was taken in, at this generation and time. */
  readerAt(generation: number, time: number): PinnedReader {
    const { boundaries } = this.tenant.facts;
    if (boundaries.next <= time) this.reasoner.passed(boundaries.takeUntil(time), time);
    this.#time = time;
    this.#generation = generation;
    const reader = this.reasoner.reader(generation, time);
    this.#keptFor.set(reader, []);
    this.#askedBy.set(reader, new Set());
    return reader;
  }

  /** These goals, and the relations that the read of this reader asked about. */
  goalsOf(goals: readonly string[], reader: PinnedReader): string[] {
    return [...new Set([...goals, ...(this.#askedBy.get(reader) ?? [])])];
  }

  /** Call it when a question has ended. */
  settle(): void {
    const { reasoner } = this;
    const { withdrawals, validThrough } = reasoner;
    // What changes withdraw is told where the facts are.
    withdrawals.evict();
    withdrawals.take(validThrough);
    withdrawals.forgetThrough(validThrough);
    if (reasoner.readers === 0 && !reasoner.holdsFacts) this.#compact();
  }

  /** Drops dead rows: nobody reads them, and later questions see later generations. */
  #compact(): void {
    const { facts } = this.tenant;
    const left = facts.compact([...facts.relations.keys()], this.#generation);
    for (const key of left) {
      const compaction = facts.relations.get(key)?.compacting ?? null;
      while (compaction?.isNearlyWhole === false) compaction.step();
    }
    facts.compact(left, this.#generation);
  }

  /** How often rules fired since the last call. */
  fired(): [string, number][] {
    const found: [string, number][] = [];
    for (const [id, { fired }] of this.#tallies) {
      const said = this.#firedSaid.get(id) ?? 0;
      if (fired > said) found.push([id, fired - said]);
      this.#firedSaid.set(id, fired);
    }
    return found;
  }

  /**
   * The conclusions on which an answer to these goals rests, all of them true for its reader; those in shared tables only
   * if there are others than when this was last asked. Call it in the turn in which the answer is there.
   */
  conclusions(goals: readonly string[], reader: PinnedReader): RemoteConclusions[] {
    const { reasoner } = this;
    const found = this.#keptFor.get(reader) ?? [];
    const { tables, isWhole } = reasoner.heldBy(reader, reasoner.program.below(goals));
    const key = goals.join('\n');
    const state = `${reasoner.version} ${reasoner.conclusions}`;
    if (!isWhole || this.#conclusionsSaid.get(key) !== state)
      for (const { table, ...rows } of tables) found.push({ of: table, ...rows });
    if (this.#conclusionsSaid.size >= maxGoalsRemembered) this.#conclusionsSaid.clear();
    // Tables that the reader does not see yet say more later.
    if (isWhole) this.#conclusionsSaid.set(key, state);
    const isTooMuch = found.reduce((sum, { rows }) => sum + rows.live, 0) > maxInDoubt;
    return found.map(({ of: { view, predicate, arity, negated, relation }, rows, count, dead }) => {
      const of = { view, predicate, arity, negated, relation };
      if (isTooMuch) return { ...of, columns: null, count: 0, texts: [] };
      const texts: string[] = [];
      const tuples: number[][] = [];
      const tuple = new Int32Array(arity);
      for (let row = 0; row < count; row++) {
        if (!isCandidate({ dead }, row)) continue;
        tuples.push(Array.from(tupleAt(rows, row, tuple), (id) => this.#originalOr(id, texts)));
      }
      const columns = Array.from({ length: arity }, (_, at) =>
        Int32Array.from(tuples, (each) => each[at] as number),
      );
      return { ...of, columns, count: tuples.length, texts };
    });
  }

  /** Known conclusions of the view with one of the constants, those first found if there are too many. */
  async mentions(
    { view, names }: RemoteConclusionReads['mentions'],
    reader: PinnedReader,
    pacer: Pacer,
  ): Promise<KnownAtoms[]> {
    const { dictionary } = this.tenant.facts;
    const ids = new Set(names.map((name) => dictionary.find(name)));
    const found: KnownAtoms[] = [];
    let left = maxMentions;
    for (const { table, rows, count, dead } of await this.reasoner.knownConclusions(view, reader, pacer)) {
      const { predicate, arity, negated } = table;
      const atoms: string[][] = [];
      const tuple = new Int32Array(arity);
      for (let row = 0; row < count && left > 0; row++) {
        if (row % rowsBetweenBreaths === rowsBetweenBreaths - 1) await pacer.breathe();
        if (!isCandidate({ dead }, row) || !tupleAt(rows, row, tuple).some((id) => ids.has(id))) continue;
        left--;
        atoms.push(Array.from(tuple, (id) => dictionary.text(id)));
      }
      if (atoms.length > 0) found.push({ predicate, arity, negated, atoms });
    }
    return found;
  }

  #originalOr(id: number, texts: string[]): number {
    const original = this.#originalIds[id] ?? -1;
    return original >= 0 ? original : -texts.push(this.tenant.facts.dictionary.text(id));
  }

  async #takeConstants({ bytes, ends, ids }: Extract<CopyMessage, { kind: 'constants' }>): Promise<void> {
    const { dictionary } = this.tenant.facts;
    const owns = new Int32Array(ids.length);
    for (let from = 0; from < ids.length; from += constantsBetweenBreaths) {
      const end = Math.min(ids.length, from + constantsBetweenBreaths);
      dictionary.internEncoded({ bytes, ends }, from, end, owns.subarray(from));
      await this.#slices.breathe();
    }
    for (const [at, original] of ids.entries()) {
      const own = owns[at] as number;
      this.#ownIds = withRoom(this.#ownIds, original);
      this.#originalIds = withRoom(this.#originalIds, own);
      this.#ownIds[original] = own;
      this.#originalIds[own] = original;
    }
  }

  async #takeRelation(copied: CopiedRelation): Promise<void> {
    const { predicate, arity, negated, count, births, columns, validFrom, validUntil } = copied;
    // The buffers came with the message: they are the copy's.
    const own = columns.map((column) => exactly(column, count));
    for (const column of own.slice(0, arity)) await this.#toOwn(column);
    const birth = new Float64Array(count);
    for (const [at, first] of births.rows.entries())
      birth.fill(births.generations[at] as number, first, births.rows[at + 1] ?? count);
    const number = exactly(copied.number, count);
    const bounds = {
      validFrom: validFrom === null ? null : exactly(validFrom, count),
      validUntil: validUntil === null ? null : exactly(validUntil, count),
    };
    const { hasLives } = copied;
    const rows = { predicate, arity, negated, count, columns: own, birth, number, death: null, hasLives };
    const relation = await StoredRelation.restored({ ...rows, ...bounds, forgottenThrough: 0 }, this.#slices);
    const key = keyOf(relation);
    for (const [row, metadata] of this.#metadata.get(key) ?? []) relation.metadata.set(row, metadata);
    this.#metadata.delete(key);
    const { facts } = this.tenant;
    facts.register(relation);
    facts.version++;
    for (let row = 0; row < count; row++) {
      facts.numbers.enter(number[row] as number, relation.storeIndex, row);
      const { from, until } = relation.boundsOf(row);
      facts.boundaries.note(number[row] as number, from, until, this.#time);
      if (row % rowsBetweenBreaths === rowsBetweenBreaths - 1) await this.#slices.breathe();
    }
  }

  async #toOwn(column: Int32Array): Promise<void> {
    for (let row = 0; row < column.length; row++) {
      column[row] = this.#ownIds[column[row] as number] as number;
      if (row % rowsBetweenBreaths === rowsBetweenBreaths - 1) await this.#slices.breathe();
    }
  }

  /** In one turn: a question that runs meanwhile sees none of them. */
  #takeChanges(versions: readonly CopiedVersion[], generation: number): void {
    const { facts } = this.tenant;
    const changed: number[] = [];
    facts.version++;
    for (const {
      predicate,
      arity,
      negated,
      number,
      identity,
      birth,
      validFrom,
      validUntil,
      metadata,
    } of versions) {
      const known = number < facts.numbers.count ? facts.numbers.place(number).row : -1;
      const relation =
        facts.relation(predicate, arity, negated) ?? this.#newRelation(predicate, arity, negated);
      if (known < 0 && identity === null) continue;
      if (known >= 0 && relation.isAlive(known)) relation.kill(known, generation);
      if (identity !== null) {
        const own = Int32Array.from(identity, (id, at) => (at < arity ? (this.#ownIds[id] as number) : id));
        const row = relation.append(own, birth, number, validFrom, validUntil, metadata);
        facts.numbers.enter(number, relation.storeIndex, row);
        facts.boundaries.note(number, validFrom, validUntil, this.#time);
      }
      changed.push(number);
    }
    if (changed.length > 0) this.reasoner.touched(changed, generation);
  }

  #takeRelationOrder(keys: readonly string[]): void {
    const { relations } = this.tenant.facts;
    for (const key of keys) {
      const relation = relations.get(key);
      if (relation === undefined) continue;
      relations.delete(key);
      relations.set(key, relation);
    }
  }

  #takeEnds({ entries, past }: Extract<CopyMessage, { kind: 'ends' }>): void {
    for (const { identity } of entries.map(({ fact }) => fact))
      for (let at = 0; at < identity.length - 1; at++)
        identity[at] = this.#ownIds[identity[at] as number] as number;
    this.#ends.push(...entries);
    if (past === null) return;
    this.tenant.facts.ended.replace(this.#ends);
    this.tenant.facts.past.replace(past);
    this.#ends = [];
  }

  #newRelation(predicate: string, arity: number, negated: boolean): StoredRelation {
    const relation = new StoredRelation(predicate, arity, negated);
    this.tenant.facts.register(relation);
    return relation;
  }

  #takeOrder(ids: readonly string[]): void {
    const rules = ids.map((id) => present(this.#rules.get(id) ?? null, 'a rule is posted before its place'));
    if (rules.length < this.#rules.size) {
      this.#rules.clear();
      for (const rule of rules) this.#rules.set(rule.id, rule);
    }
    this.database.rules = new RuleStore();
    for (const rule of rules) this.database.rules.put(rule);
    this.reasoner.use(new Program(rules, this.reasoner.program));
  }
}

const rowsBetweenBreaths = 4096;

function keyOf({ predicate, arity, negated }: StoredRelation): string {
  return relationKey(predicate, arity, negated);
}

/** The column without the room behind its first elements. */
function exactly<Column extends Int32Array | Float64Array>(column: Column, count: number): Column {
  return column.length === count ? column : (column.slice(0, count) as Column);
}

function withRoom(ids: Int32Array, id: number): Int32Array {
  if (id < ids.length) return ids;
  const larger = new Int32Array(Math.max(id + 1, ids.length * 2)).fill(-1);
  larger.set(ids);
  return larger;
}
