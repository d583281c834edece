import { NumberMap } from '../base/number-map.ts';
import type { Metadata } from '../contract/facts.ts';
import { relationKey } from '../language/terms.ts';
import type { Bounds, StoredRelation } from './stored-relation.ts';

/** Everything that can differ between two versions of one fact. */
export interface FactVersion extends Bounds {
  /** null if there are none. */
  readonly metadata: Metadata | null;
}

/** The archived versions of one relation; a snapshot has the first `count` of them. */
export interface PinnedArchive {
  readonly relation: string;
  readonly versions: ArchivedVersions;
  readonly count: number;
}

/**
 * Dead versions of facts that a merge base still needs; see `MergeBases`.
 *
 * A merge base is the facts of a scope as of one generation. Most of them are alive; versions that were
 * updated or retracted since are copied here when they die, because compaction and snapshots drop dead rows.
 * So a base costs what changed since it was made. Changed by `apply` alone; a version that no base needs any
 * more is dropped with its base.
 */
export class VersionArchive {
  /**
   * By relation key. Replaced as a whole when versions are dropped, so that readers of the previous one can
   * continue.
   */
  #byRelation = new Map<string, ArchivedVersions>();
  /** By scope: the generations of its bases, ascending. */
  #pins: Pins = new Map();
  /** True if a base ended since versions were last dropped. */
  #mayDrop = false;

  get byRelation(): ReadonlyMap<string, ArchivedVersions> {
    return this.#byRelation;
  }

  get bytes(): number {
    let bytes = 0;
    for (const versions of this.#byRelation.values()) bytes += versions.bytes;
    return bytes;
  }

  /** The current versions; later changes only add to them. */
  pinned(): PinnedArchive[] {
    return Array.from(this.#byRelation, ([relation, versions]) => {
      return { relation, versions, count: versions.count };
    });
  }

  /** From now on archives versions for these bases. Existing versions stay until `pruned`. */
  keepFor(pins: Pins): void {
    for (const [scope, generations] of this.#pins)
      if (generations.some((generation) => pins.get(scope)?.includes(generation) !== true))
        this.#mayDrop = true;
    this.#pins = pins;
  }

  /** Called when a version dies in this generation: archives it if a base includes it. */
  died(relation: StoredRelation, row: number, version: FactVersion, generation: number): void {
    if (this.#pins.size === 0) return;
    const scope = (relation.columns[relation.arity] as Int32Array)[row] as number;
    const newest = this.#pins.get(scope)?.at(-1);
    const birth = relation.bornIn(row);
    if (newest === undefined || birth > newest) return;
    const { predicate, arity, negated } = relation;
    const identity = Int32Array.from(relation.columns, (column) => column[row] as number);
    this.#of(relationKey(predicate, arity, negated), arity).add(identity, birth, generation, version);
  }

  /** Restores saved versions, in their order. */
  restore(relation: string, versions: ArchivedVersions): void {
    this.#byRelation.set(relation, versions);
  }

  /** Drops the versions that no base needs, in slices; the returned step makes the result current. */
  *pruned(): Generator<'more', () => void, undefined> {
    if (!this.#mayDrop) return () => {};
    this.#mayDrop = false;
    const kept = new Map<string, ArchivedVersions>();
    let looked = 0;
    for (const [relation, versions] of this.#byRelation) {
      const wanted = new ArchivedVersions(versions.arity);
      for (let at = 0; at < versions.count; at++) {
        if (++looked % versionsInSlice === 0) yield 'more';
        if (this.#isNeeded(versions, at)) wanted.copy(versions, at);
      }
      if (wanted.count > 0) kept.set(relation, wanted.count === versions.count ? versions : wanted);
    }
    return () => void (this.#byRelation = kept);
  }

  /** Drops versions, by the ids of their arguments and their metadata. */
  erase(isErased: (args: Int32Array, metadata: Metadata | null) => boolean): void {
    const kept = new Map<string, ArchivedVersions>();
    for (const [relation, versions] of this.#byRelation) {
      const wanted = new ArchivedVersions(versions.arity);
      for (let at = 0; at < versions.count; at++)
        if (!isErased(versions.argsAt(at), versions.versionAt(at).metadata)) wanted.copy(versions, at);
      if (wanted.count > 0) kept.set(relation, wanted.count === versions.count ? versions : wanted);
    }
    this.#byRelation = kept;
  }

  #isNeeded(versions: ArchivedVersions, at: number): boolean {
    const pins = this.#pins.get(versions.scopeAt(at)) ?? [];
    return pins.some((generation) => versions.wasAlive(at, generation));
  }

  #of(relation: string, arity: number): ArchivedVersions {
    let versions = this.#byRelation.get(relation);
    if (versions === undefined) this.#byRelation.set(relation, (versions = new ArchivedVersions(arity)));
    return versions;
  }
}

/** By scope: the generations of its merge bases, ascending. */
export type Pins = ReadonlyMap<number, readonly number[]>;

const versionsInSlice = 4096;

/** Archived versions of one relation, in the order in which they died. Append-only. */
export class ArchivedVersions {
  readonly arity: number;
  count = 0;
  /** For each version the ids of its arguments, then the number of its scope; reallocated when full. */
  identities: Int32Array;
  births: Float64Array;
  deaths: Float64Array;
  froms: Float64Array;
  untils: Float64Array;
  readonly metadata = new NumberMap<Metadata>();

  constructor(arity: number, room = 16) {
    this.arity = arity;
    this.identities = new Int32Array(room * (arity + 1));
    this.births = new Float64Array(room);
    this.deaths = new Float64Array(room);
    this.froms = new Float64Array(room);
    this.untils = new Float64Array(room);
  }

  get bytes(): number {
    return this.identities.byteLength + this.births.byteLength * 4 + this.metadata.size * 100;
  }

  /** True if the version was alive in this generation. */
  wasAlive(at: number, generation: number): boolean {
    return (this.births[at] as number) <= generation && (this.deaths[at] as number) > generation;
  }

  scopeAt(at: number): number {
    return this.identities[at * (this.arity + 1) + this.arity] as number;
  }

  /** The ids of the arguments; valid until the next addition. */
  argsAt(at: number): Int32Array {
    const start = at * (this.arity + 1);
    return this.identities.subarray(start, start + this.arity);
  }

  versionAt(at: number): FactVersion {
    return {
      from: this.froms[at] as number,
      until: this.untils[at] as number,
      metadata: this.metadata.get(at) ?? null,
    };
  }

  add(identity: Int32Array, birth: number, death: number, { from, until, metadata }: FactVersion): void {
    const at = this.count;
    if (at === this.births.length) this.#grow();
    this.identities.set(identity, at * (this.arity + 1));
    this.births[at] = birth;
    this.deaths[at] = death;
    this.froms[at] = from;
    this.untils[at] = until;
    if (metadata !== null) this.metadata.set(at, metadata);
    this.count = at + 1;
  }

  copy(other: ArchivedVersions, at: number): void {
    const width = this.arity + 1;
    const identity = other.identities.subarray(at * width, (at + 1) * width);
    this.add(identity, other.births[at] as number, other.deaths[at] as number, other.versionAt(at));
  }

  #grow(): void {
    const room = Math.max(16, this.births.length * 2);
    this.identities = enlarged(this.identities, new Int32Array(room * (this.arity + 1)));
    this.births = enlarged(this.births, new Float64Array(room));
    this.deaths = enlarged(this.deaths, new Float64Array(room));
    this.froms = enlarged(this.froms, new Float64Array(room));
    this.untils = enlarged(this.untils, new Float64Array(room));
  }
}

function enlarged<Column extends Int32Array | Float64Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}

/** The end of a fact's validity, remembered after the fact was asserted again. */
export interface EndedFact {
  /** The ids of the arguments, and the number of the scope. */
  readonly identity: Int32Array;
  readonly until: number;
  /** The generation that asserted the fact again; readers of earlier ones see the version itself. */
  readonly replacedIn: number;
}

/** The entries at one moment, in the order of their relations. */
export interface PinnedEnds {
  readonly entries: { readonly relation: string; readonly fact: EndedFact }[];
  /** Number of entries at which the next sweep is due. */
  readonly sweepAt: number;
}

/** How long an ended validity is reported, in milliseconds. */
export const endRememberedFor = 86_400_000;

/** Limit per tenant; the earliest ends are dropped first. */
const maxRemembered = 100_000;
const minBetweenSweeps = 1024;

/**
 * Facts whose validity had ended when they were asserted again, so that explanations can still report it.
 *
 * An ended fact stays in its relation until it is asserted again; that version then dies, and compaction
 * drops it. Its end is kept here, the latest one for each fact, for a day and not much longer. Only `apply`
 * changes this, with the time of the record, so that every replica remembers the same.
 */
export class EndedFacts {
  /** Incremented by every change. */
  version = 0;
  readonly #byRelation = new Map<string, Map<string, EndedFact>>();
  #count = 0;
  #sweepAt = minBetweenSweeps;

  /** Approximate bytes: an entry, its key and its identity. */
  get bytes(): number {
    return this.#count * 250;
  }

  remember(relation: string, ended: EndedFact, time: number): void {
    if (ended.until <= time - endRememberedFor) return;
    this.#put(relation, ended);
    if (this.#count >= this.#sweepAt) this.#sweep(time);
  }

  /** The entries of a relation, perhaps older than a day. */
  of(relation: string): Iterable<EndedFact> {
    return this.#byRelation.get(relation)?.values() ?? [];
  }

  /** The entry of one fact, perhaps older than a day. */
  find(relation: string, identity: Int32Array): EndedFact | null {
    return this.#byRelation.get(relation)?.get(identity.join(',')) ?? null;
  }

  /** True if any entry is wanted. */
  has(isWanted: (ended: EndedFact) => boolean): boolean {
    for (const facts of this.#byRelation.values())
      for (const ended of facts.values()) if (isWanted(ended)) return true;
    return false;
  }

  /** Removes the wanted entries. */
  forget(isWanted: (ended: EndedFact) => boolean): void {
    for (const [relation, facts] of this.#byRelation) {
      for (const [key, ended] of facts) {
        if (!isWanted(ended)) continue;
        facts.delete(key);
        this.version++;
        this.#count--;
      }
      if (facts.size === 0) this.#byRelation.delete(relation);
    }
  }

  /** All current entries, and when the next sweep is due. */
  pin(): PinnedEnds {
    const entries: PinnedEnds['entries'] = [];
    for (const [relation, facts] of this.#byRelation)
      for (const fact of facts.values()) entries.push({ relation, fact });
    return { entries, sweepAt: this.#sweepAt };
  }

  /** Makes these the only entries. */
  replace(entries: PinnedEnds['entries']): void {
    this.#byRelation.clear();
    this.#count = 0;
    for (const { relation, fact } of entries) this.#put(relation, fact);
  }

  /** Restores pinned entries into an empty store. */
  restore({ entries, sweepAt }: PinnedEnds): void {
    for (const { relation, fact } of entries) this.#put(relation, fact);
    this.#sweepAt = sweepAt;
  }

  #put(relation: string, ended: EndedFact): void {
    this.version++;
    let facts = this.#byRelation.get(relation);
    if (facts === undefined) this.#byRelation.set(relation, (facts = new Map()));
    const key = ended.identity.join(',');
    if (!facts.has(key)) this.#count++;
    facts.set(key, ended);
  }

  /** Drops what ended more than a day ago, and half of the rest if that is still too much. */
  #sweep(time: number): void {
    this.#forgetUntil(time - endRememberedFor);
    if (this.#count > maxRemembered) {
      const ends = [...this.#byRelation.values()].flatMap((facts) =>
        Array.from(facts.values(), ({ until }) => until),
      );
      this.#forgetUntil(Float64Array.from(ends).sort()[ends.length >>> 1] as number);
    }
    this.#sweepAt = Math.max(minBetweenSweeps, Math.min(this.#count * 2, maxRemembered + 1));
  }

  #forgetUntil(time: number): void {
    this.forget(({ until }) => until <= time);
  }
}
