import { ByteMeter } from '../base/byte-meter.ts';
import { assert, present } from '../base/assert.ts';
import type { Metadata } from '../contract/facts.ts';
import type { MemoryHolder } from '../datalog/model/memory-budget.ts';
import { type Pacer, waitFor } from '../datalog/tables/evaluation.ts';
import { sliceMs } from '../base/slices.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { DatabaseState, TenantState } from '../state/state.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { Dictionary } from '../store/dictionary.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import type { PinnedEnds } from '../store/version-archive.ts';
import { relationKey } from '../language/terms.ts';
import { SalienceFeed } from './salience-feed.ts';
import type { CopiedVersion, Post, ToReasoningThread } from './messages.ts';

/**
 * What a question reaches: relations by their keys, and whether it reads ends of facts that were asserted again since, or
 * saliences.
 */
export interface Reached {
  readonly relations: Iterable<string>;
  readonly ends?: boolean;
  readonly salience?: boolean;
}

/** A relation of the copy. */
interface Followed {
  /** Resolves when it was posted, and rejects if it could not be; null: it was posted. */
  copying: Promise<void> | null;
  /** Facts that changed while it was copied. */
  readonly late: number[];
  /** The thread has taken it in. */
  isTaken: boolean;
}

const rowsBetweenBreaths = 1024;
const changesInMessage = 256;
const rulesInMessage = 100;
const metadataInMessage = 256;
const endsInMessage = 256;
/** Changes that wait for the next question; if there are more, the copy is dropped. */
const maxWaitingChanges = 100_000;
/** Rows that cross in a few milliseconds: a question may wait for so many. */
const maxPromptRows = 10_000;
/** A change takes as long as so many rows of a relation. */
const rowsOfChange = 10;
/** So many times as long as a slice takes, others run before the next one, if a copy is made beside questions. */
const turnsOfOthers = 25;
/** Relations without facts that questions named. */
const maxAbsentRelations = 10_000;

/** True if a question that reaches this does not wait for much of a copy; `feed` null: there is none. */
export function isAtHand(feed: CopyFeed | null, tenant: TenantState, reached: Reached): boolean {
  if (feed !== null) return feed.rowsLacking(reached) <= maxPromptRows;
  const { facts } = tenant;
  let rows = reached.salience === true ? facts.numbers.count : 0;
  for (const key of reached.relations) rows += facts.relations.get(key)?.count ?? 0;
  return rows <= maxPromptRows;
}

/**
 * The serving thread's end of the copy of one tenant's facts on a reasoning thread.
 *
 * It posts what questions reach, relation by relation and in slices, and afterwards what changed in those relations. A
 * question may be posted in a turn in which `isCurrent`: whatever was published before is then posted before it. All
 * versions posted at once get the generation of that moment: no question is posted in between, so none can tell.
 */
export class CopyFeed implements MemoryHolder {
  readonly number: number;
  /** The tenant's name. */
  readonly #name: string;
  readonly tenant: TenantState;
  /** Of the copy, and of what is derived from it, as the thread last said. */
  bytes = 0;
  /** Conclusions in tables of the copy, as the thread last said. */
  derived = 0;
  /** Questions that use it. */
  users = 0;
  /** Those of them that wait for what it lacks. */
  #waiting = 0;
  /** Relations that are being copied, each by a read. */
  #copying = 0;
  /** True once it was asked anything but exports. */
  isAsked = false;
  isDropped = false;
  readonly #post: Post<ToReasoningThread>;
  readonly #dropped: () => void;
  readonly #relations = new Map<string, Followed>();
  readonly #constants = new NewConstants();
  readonly #salience: SalienceFeed;
  #scopes = 1;
  #writes = 0;
  /** In the order of their last changes, which is that of their rows: the copy has them in the same one. */
  readonly #changed = new Set<number>();
  /** Changes of relations that are being copied. */
  #late = 0;
  #rules = new Map<string, RuleRecord>();
  #rulesVersion = -1;
  /** Of the ends of facts, and of the facts that only the past has, that were posted. */
  #endsVersions = { ended: 0, past: 0 };
  #declarations: { readonly store: DeclarationStore; readonly version: number } | null = null;
  /** The thread has taken in what it needs to read saliences. */
  #hasSalience = false;
  /** Ends of the present waits of `leaveTurns`: of what copies a relation, and of what waits for that. */
  readonly #waits = new Set<() => void>();

  /** `dropped` is called when memory is short and the copy was dropped. */
  constructor(
    number: number,
    name: string,
    tenant: TenantState,
    post: Post<ToReasoningThread>,
    dropped: () => void,
  ) {
    this.number = number;
    this.#name = name;
    this.tenant = tenant;
    this.#post = post;
    this.#dropped = dropped;
    this.#salience = new SalienceFeed(number, tenant, post);
  }

  evict(): boolean {
    if (this.users > 0) return false;
    this.drop();
    this.#dropped();
    return true;
  }

  /** Call it when the thread of the copy is gone. */
  lost(): void {
    this.isDropped = true;
    this.#hurry();
    this.#salience.close();
  }

  drop(): void {
    if (this.isDropped) return;
    this.lost();
    this.#post({ kind: 'drop', copy: this.number }, []);
  }

  /** Records changed facts, by number, in the turn of the change. False: there are too many to follow. */
  changed(numbers: readonly number[]): boolean {
    const { facts } = this.tenant;
    let last: StoredRelation | null = null;
    let followed: Followed | undefined;
    for (const number of numbers) {
      const { relation } = facts.versionOf(number);
      if (relation !== last) {
        last = relation;
        followed = this.#relations.get(keyOf(relation));
      }
      if (followed?.copying === null) this.#hasChanged(number);
      else if (followed !== undefined) {
        followed.late.push(number);
        this.#late++;
      }
      // A write of a million facts comes in one turn, and the copy goes with it.
      if (this.#changed.size + this.#late > maxWaitingChanges) return false;
    }
    return true;
  }

  #hasChanged(number: number): void {
    this.#changed.delete(number);
    this.#changed.add(number);
  }

  /** True if it follows so many relations, of which most cannot exist, that it is better made again. */
  get isOvergrown(): boolean {
    return this.users === 0 && this.#relations.size > maxAbsentRelations + this.tenant.facts.relations.size;
  }

  /** True if the copy has what is reached, every change, and all rules, declarations and scopes. */
  isCurrent({ relations, ends = false, salience = false }: Reached, database: DatabaseState): boolean {
    if (this.isDropped || this.#changed.size > 0 || this.#rulesVersion !== database.rules.version)
      return false;
    if (!this.#hasDeclarations(database) || this.tenant.facts.scopeNames.length > this.#scopes) return false;
    if (ends && !this.#hasEnds()) return false;
    if (salience && !this.#salience.isCurrent(database)) return false;
    for (const key of relations) if (this.#relations.get(key)?.copying !== null) return false;
    return true;
  }

  /** Call it when the thread has answered a question that reached this. */
  noteTaken({ relations, salience = false }: Reached): void {
    for (const key of relations) {
      const followed = this.#relations.get(key);
      if (followed?.copying === null) followed.isTaken = true;
    }
    this.#hasSalience ||= salience;
  }

  /** Rows that the thread has yet to take in of what is reached, about. */
  rowsLacking({ relations, salience = false }: Reached): number {
    const { facts } = this.tenant;
    let rows = rowsOfChange * this.#changed.size;
    if (salience && !this.#hasSalience) rows += facts.numbers.count;
    for (const key of relations)
      if (this.#relations.get(key)?.isTaken !== true) rows += facts.relations.get(key)?.count ?? 0;
    return rows;
  }

  /** `follow` for a question that waits for it: what others copy beside questions is copied at once from now on. */
  async followNow(reached: Reached, context: ReadContext): Promise<void> {
    this.#waiting++;
    this.#hurry();
    try {
      await this.follow(reached, context);
    } finally {
      this.#waiting--;
    }
  }

  /** Waits for questions that run beside what is copied, unless others wait for that. */
  async leaveTurns(reasoner: ReadContext['reasoner']): Promise<void> {
    if (this.#waiting > 0 || this.isDropped || reasoner.readers <= this.#copying) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waits.delete(end);
        resolve();
      };
      const timer = setTimeout(end, turnsOfOthers * sliceMs);
      timer.unref();
      this.#waits.add(end);
    });
  }

  #hurry(): void {
    for (const end of this.#waits) end();
  }

  /** Bytes of these relations where they are not copied yet, about. */
  bytesOf(relations: Iterable<string>): number {
    let bytes = 0;
    for (const key of relations)
      if (!this.#relations.has(key)) bytes += this.tenant.facts.relations.get(key)?.bytes ?? 0;
    return bytes;
  }

  /** Posts what the copy lacks of what is reached. Afterwards something may have changed again. */
  async follow({ relations, ends = false, salience = false }: Reached, context: ReadContext): Promise<void> {
    const { pacer, database } = context;
    for (const key of relations) {
      let followed = this.#relations.get(key);
      if (followed === undefined) {
        followed = { copying: null, late: [], isTaken: false };
        this.#relations.set(key, followed);
        const relation = this.tenant.facts.relations.get(key);
        if (relation !== undefined) {
          followed.copying = this.#copy(key, followed, relation, context);
          // The questions that wait for it may have left.
          followed.copying.catch(context.reasoner.onBug);
        }
      }
      // However long that takes: without the relation the question cannot be posted, so patience is of no use here.
      if (followed.copying !== null) await waitFor(followed.copying, pacer, Number.POSITIVE_INFINITY);
      if (this.isDropped) return;
    }
    await this.#postRules(database, pacer);
    await this.#postChanges(database, pacer);
    if (ends) await this.#postEnds(pacer);
    if (salience) await this.#salience.follow(database, pacer);
    this.#postNumbers();
    if (this.#hasDeclarations(database)) return;
    const { declarations: store } = database;
    this.#post({ kind: 'declarations', copy: this.number, declarations: store.all() }, []);
    this.#declarations = { store, version: store.version };
  }

  #hasEnds(): boolean {
    const { ended, past } = this.tenant.facts;
    return this.#endsVersions.ended === ended.version && this.#endsVersions.past === past.version;
  }

  async #postEnds(pacer: Pacer): Promise<void> {
    if (this.#hasEnds()) return;
    const { ended, past } = this.tenant.facts;
    this.#endsVersions = { ended: ended.version, past: past.version };
    const numbers = past.numbers();
    let entries: PinnedEnds['entries'] = [];
    for (const entry of ended.pin().entries) {
      for (const id of entry.fact.identity.subarray(0, -1))
        if (this.#constants.add(id, this.#dictionary)) this.#postConstants();
      if (entries.push(entry) < endsInMessage) continue;
      this.#postConstants();
      this.#post({ kind: 'ends', copy: this.number, entries, past: null }, []);
      entries = [];
      await pacer.breathe();
    }
    this.#postConstants();
    this.#post({ kind: 'ends', copy: this.number, entries, past: numbers }, [numbers.buffer as ArrayBuffer]);
  }

  #hasDeclarations({ declarations }: DatabaseState): boolean {
    return this.#declarations?.store === declarations && this.#declarations.version === declarations.version;
  }

  /** Copies a relation, for this and later questions: no limit of the question ends it. It rejects only for a bug. */
  async #copy(
    key: string,
    followed: Followed,
    relation: StoredRelation,
    context: ReadContext,
  ): Promise<void> {
    const { reasoner } = context;
    const pacer = reasoner.pacer(copyLimits, () => this.leaveTurns(reasoner));
    reasoner.readers++;
    this.#copying++;
    try {
      await this.leaveTurns(reasoner);
      await this.#postRelation(relation, context.database.generationOf(this.#name), pacer);
      followed.copying = null;
      for (const number of followed.late) this.#hasChanged(number);
    } catch (error) {
      this.#relations.delete(key);
      throw error;
    } finally {
      this.#late -= followed.late.length;
      followed.late.length = 0;
      this.#copying--;
      reasoner.readers--;
    }
  }

  async #postRelation(relation: StoredRelation, generation: number, pacer: Pacer): Promise<void> {
    const { predicate, arity, negated } = relation;
    const end = relation.rowsAt(generation);
    const columns = Array.from({ length: arity + 1 }, () => new Int32Array(end));
    const number = new Int32Array(end);
    const validFrom = new Float64Array(relation.validFrom === null ? 0 : end);
    const validUntil = new Float64Array(relation.validUntil === null ? 0 : end);
    let entries: [number, Metadata][] = [];
    const births: [number, number][] = [];
    let count = 0;
    for (let row = 0; row < end; row++) {
      if (row % rowsBetweenBreaths === rowsBetweenBreaths - 1) {
        await pacer.breathe();
        // Nobody wants it any more.
        if (this.isDropped) return;
      }
      if (!relation.wasAlive(row, generation)) continue;
      for (let position = 0; position <= arity; position++) {
        const id = (relation.columns[position] as Int32Array)[row] as number;
        (columns[position] as Int32Array)[count] = id;
        if (position < arity && this.#constants.add(id, this.#dictionary)) {
          this.#postConstants();
          await pacer.breathe();
        }
      }
      number[count] = relation.number[row] as number;
      const birth = relation.bornIn(row);
      if (births.at(-1)?.[1] !== birth) births.push([count, birth]);
      const { from, until } = relation.boundsOf(row);
      // A bound that a row got meanwhile is of a row that was born later.
      if (validFrom.length > 0) validFrom[count] = from;
      if (validUntil.length > 0) validUntil[count] = until;
      const metadata = relation.metadata.get(row);
      if (metadata !== undefined && entries.push([count, metadata]) === metadataInMessage) {
        this.#post({ kind: 'metadata', copy: this.number, relation: keyOf(relation), entries }, []);
        entries = [];
        await pacer.breathe();
      }
      count++;
    }
    this.#postConstants();
    this.#postNumbers();
    if (entries.length > 0)
      this.#post({ kind: 'metadata', copy: this.number, relation: keyOf(relation), entries }, []);
    const { hasLives } = relation;
    const runs = {
      rows: Int32Array.from(births, ([row]) => row),
      generations: Float64Array.from(births, ([, birth]) => birth),
    };
    const shape = { predicate, arity, negated, count, columns, number, births: runs, hasLives };
    const bounds = {
      validFrom: validFrom.length === 0 ? null : validFrom,
      validUntil: validUntil.length === 0 ? null : validUntil,
    };
    const transfer = [...columns, number, validFrom, validUntil].map(({ buffer }) => buffer);
    this.#post({ kind: 'relation', copy: this.number, ...shape, ...bounds }, transfer);
  }

  /** Posts scopes and writes that are new. */
  #postNumbers(): void {
    const { facts } = this.tenant;
    const { scopeNames } = facts;
    if (scopeNames.length > this.#scopes) {
      const names = scopeNames.slice(this.#scopes).map((name) => present(name, 'a later scope has a name'));
      this.#post({ kind: 'scopes', copy: this.number, names }, []);
      this.#scopes = scopeNames.length;
    }
    const { generations, firsts } = facts.numbers.writesFrom(this.#writes);
    if (generations.length === 0) return;
    this.#writes += generations.length;
    const transfer = [generations.buffer, firsts.buffer] as ArrayBuffer[];
    this.#post({ kind: 'writes', copy: this.number, generations, firsts }, transfer);
  }

  #postConstants(): void {
    const taken = this.#constants.take(this.#dictionary);
    if (taken === null) return;
    const transfer = [taken.bytes.buffer, taken.ends.buffer, taken.ids.buffer] as ArrayBuffer[];
    this.#post({ kind: 'constants', copy: this.number, ...taken }, transfer);
  }

  get #dictionary(): Dictionary {
    const { dictionary } = this.tenant.facts;
    assert(dictionary instanceof Dictionary, 'stored facts have a dictionary of their own');
    return dictionary;
  }

  async #postRules({ rules }: DatabaseState, pacer: Pacer): Promise<void> {
    while (this.#rulesVersion !== rules.version) {
      const { version } = rules;
      const all = rules.all();
      const known = this.#rules;
      const changed = all.filter((rule) => known.get(rule.id) !== rule);
      // Once they changed again, another question may have posted the newer ones: older ones must not follow.
      for (let from = 0; from < changed.length && rules.version === version; from += rulesInMessage) {
        const some = changed.slice(from, from + rulesInMessage);
        this.#post({ kind: 'rules', copy: this.number, rules: some }, []);
        await pacer.breathe();
      }
      if (rules.version !== version) continue;
      this.#post({ kind: 'order', copy: this.number, ids: all.map(({ id }) => id) }, []);
      this.#rules = new Map(all.map((rule) => [rule.id, rule]));
      this.#rulesVersion = version;
    }
  }

  async #postChanges(database: DatabaseState, pacer: Pacer): Promise<void> {
    while (this.#changed.size > 0) {
      const generation = database.generationOf(this.#name);
      const meter = new ByteMeter();
      const versions: CopiedVersion[] = [];
      for (const number of this.#changed) {
        this.#changed.delete(number);
        const version = this.#versionOf(number, generation);
        if (version !== null) versions.push(version);
        if (versions.length >= changesInMessage || meter.counts(this.#constants.bytes)) break;
      }
      this.#postConstants();
      this.#postNumbers();
      this.#post({ kind: 'changes', copy: this.number, generation, versions }, []);
      await pacer.breathe();
    }
  }

  /** The fact as it is in this generation, the last published one; null: it is of a later one. */
  #versionOf(number: number, generation: number): CopiedVersion | null {
    const { relation, row: newest } = this.tenant.facts.versionOf(number);
    const { predicate, arity, negated } = relation;
    const gone = {
      predicate,
      arity,
      negated,
      number,
      identity: null,
      birth: 0,
      validFrom: 0,
      validUntil: 0,
      metadata: null,
    };
    // The rows of dead facts are dropped in time.
    if (newest < 0) return gone;
    const row = relation.versionAt(newest, generation);
    if (row < 0) return null;
    if (!relation.wasAlive(row, generation)) return gone;
    const identity: number[] = [];
    for (const [position, column] of relation.columns.entries()) {
      const id = column[row] as number;
      identity.push(id);
      if (position < arity) this.#constants.add(id, this.#dictionary);
    }
    const { from: validFrom, until: validUntil } = relation.boundsOf(row);
    return {
      ...gone,
      identity,
      birth: relation.bornIn(row),
      validFrom,
      validUntil,
      metadata: relation.metadata.get(row) ?? null,
    };
  }
}

/** Of what is copied for all. */
export const copyLimits = {
  timeoutMs: Number.POSITIVE_INFINITY,
  maxDerivations: Number.POSITIVE_INFINITY,
  signal: new AbortController().signal,
};

function keyOf({ predicate, arity, negated }: StoredRelation): string {
  return relationKey(predicate, arity, negated);
}

const maxConstantBytes = 64 * 1024;
const maxConstants = 1024;

/** Constants whose texts are to be posted, before anything that names them. */
class NewConstants {
  /** Of their texts. */
  bytes = 0;
  #ids: number[] = [];
  /** By id of the dictionary: 1 if it was added. */
  #isAdded = new Uint8Array(1024);

  /** Adds the constant if it is new; true: it is time to post. */
  add(id: number, dictionary: Dictionary): boolean {
    if (id >= this.#isAdded.length) {
      const larger = new Uint8Array(Math.max(dictionary.size, this.#isAdded.length * 2));
      larger.set(this.#isAdded);
      this.#isAdded = larger;
    }
    if (this.#isAdded[id] === 1) return false;
    this.#isAdded[id] = 1;
    this.bytes += dictionary.sizeOf(id);
    return this.#ids.push(id) >= maxConstants || this.bytes >= maxConstantBytes;
  }

  /** Takes the constants in the form in which they are posted; null: there are none. */
  take(dictionary: Dictionary): { bytes: Uint8Array; ends: Int32Array; ids: Int32Array } | null {
    if (this.#ids.length === 0) return null;
    const ids = Int32Array.from(this.#ids);
    const ends = new Int32Array(ids.length);
    const bytes = new Uint8Array(this.bytes);
    let end = 0;
    for (const [at, id] of ids.entries()) {
      const text = dictionary.utf8(id);
      bytes.set(text, end);
      end += text.length;
      ends[at] = end;
    }
    this.#ids = [];
    this.bytes = 0;
    return { bytes, ends, ids };
  }
}
