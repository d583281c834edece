import { NumberList, type Numbers } from '../base/number-list.ts';
import { NumberMap } from '../base/number-map.ts';
import { assert, present } from '../base/assert.ts';
import type { FactRow, FactStore } from './fact-store.ts';
import { breakdown, type SalienceBreakdown, salienceOf, keptUses, type Uses } from './salience.ts';
import { SalienceBounds } from './salience-bounds.ts';

/** Uses of one fact by questions that another node has not been told of. */
export interface UntoldUses {
  count: number;
  /** The latest ones, at most `keptUses`, in the order in which they were noted. */
  readonly latest: number[];
}

/** Of further facts the uses are not gathered until those of the present ones are told. */
const MAX_UNTOLD = 10_000;

/**
 * The uses of a tenant's facts beyond their assertion: observed state, never logged by itself.
 *
 * Uses are keyed by the number of the fact, so they survive updates; a fact that was retracted and asserted
 * again is another fact. Only facts that were used again have an entry, since most never are.
 */
export class FactUses {
  /** Incremented by every change. */
  version = 0;
  readonly #facts: FactStore;
  #uses = new UseColumns();
  /**
   * While a moment is pinned: the uses, as of then, of facts that had some and have changed since.
   */
  #before: NumberMap<Uses> | null = null;
  #bounds: SalienceBounds | null = null;
  /** Collects the facts whose uses change, by number; null: nobody follows. */
  #changed: Set<number> | null = null;
  /** By fact; null: this node tells no other one. */
  #untold: Map<number, UntoldUses> | null = null;
  /** Uses that are noted when they are many, or when uses are read: the numbers of the facts, and the times. */
  #laterCount = 0;
  #laterNumbers = new Int32Array(0);
  #laterTimes = new Float64Array(0);
  #laterTimesOf: AssertionTimes | null = null;
  /** Facts that left in large writes and still have uses, which nobody can ask for but readers of an earlier moment. */
  #leaving: Numbers[] = [];
  /** How many of the first list of them have none any more. */
  #left = 0;

  constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /** Bounds of the saliences of many facts at once; made on first use. */
  get bounds(): SalienceBounds {
    this.#noteLater();
    this.#bounds ??= new SalienceBounds(this.#facts);
    return this.#bounds;
  }

  get bytes(): number {
    return this.#uses.bytes;
  }

  /** Forgets all uses. */
  clear(): void {
    this.version++;
    this.#uses = new UseColumns();
    this.#leaving = [];
    this.#left = 0;
    this.#bounds = null;
  }

  /**
   * From now on the facts whose uses change are collected, by number, instead of whatever
   * collected them before; up to `maxFollowed`, then that ends.
   */
  follow(changed: Set<number>): void {
    this.#noteLater();
    this.#changed = changed;
  }

  /** True until `follow` ends; all that was noted is collected then. */
  isFollowedBy(changed: Set<number>): boolean {
    this.#noteLater();
    return this.#changed === changed;
  }

  /** Ends `follow`, if it was for this one. */
  unfollow(changed: Set<number>): void {
    if (this.#changed === changed) this.#changed = null;
  }

  /** The numbers of all facts with recorded uses. */
  numbers(): Generator<number> {
    this.#noteLater();
    return this.#uses.numbers();
  }

  /** The recorded uses of these facts, for `enter`. */
  packed(numbers: readonly number[]): Float64Array {
    this.#noteLater();
    const packed = new Float64Array(numbers.length * (1 + width));
    for (const [at, number] of numbers.entries()) {
      packed[at * (1 + width)] = number;
      this.#uses.writeTo(number, packed.subarray(at * (1 + width) + 1, (at + 1) * (1 + width)));
    }
    return packed;
  }

  /** Takes the uses of facts from the store of which this is a copy. */
  enter(packed: Float64Array): void {
    this.version++;
    for (let at = 0; at < packed.length; at += 1 + width) {
      const number = packed[at] as number;
      this.#uses.readFrom(number, packed.subarray(at + 1, at + 1 + width));
      const uses = this.#uses.get(number);
      if (uses === null || this.#bounds === null || number >= this.#facts.numbers.count) continue;
      const newest = this.#facts.versionOf(number);
      if (newest.row < 0) continue;
      const time = uses.latest.at(-1) as number;
      this.#bounds.used(newest, uses, time, this.#facts.metadataOf(newest));
    }
  }

  /** Records one use. `assertedAt` is the time of the fact's assertion, its first use. */
  note(fact: FactRow, assertedAt: number, time: number): void {
    this.#noteLater();
    this.version++;
    this.#note(numberOf(fact), assertedAt, time);
  }

  /**
   * `note` for a fact that a question used, of which there may be many: recording them together waits for memory once and not
   * for each. No reader of uses sees a difference. `times` is the same for all facts. Such uses are in no record of the log.
   */
  noteLater(fact: FactRow, times: AssertionTimes, time: number): void {
    if (this.#laterNumbers.length === 0) {
      this.#laterNumbers = new Int32Array(maxLater);
      this.#laterTimes = new Float64Array(maxLater);
    }
    this.version++;
    this.#laterTimesOf = times;
    this.#laterNumbers[this.#laterCount] = numberOf(fact);
    this.#laterTimes[this.#laterCount++] = time;
    if (this.#untold !== null) this.#gather(this.#untold, numberOf(fact), time);
    if (this.#laterCount === maxLater) this.#noteLater();
  }

  #noteLater(): void {
    if (this.#laterCount === 0) return;
    const times = present(this.#laterTimesOf, 'they came with it');
    const count = this.#laterCount;
    this.#laterCount = 0;
    this.#uses.fetch(this.#laterNumbers, count);
    for (let at = 0; at < count; at++) {
      const number = this.#laterNumbers[at] as number;
      const time = this.#laterTimes[at] as number;
      this.#note(number, this.#uses.has(number) ? time : times.assertedAtOf(this.#facts, number), time);
    }
  }

  /** Records one more use of each of the facts with these numbers, which must all have recorded uses. */
  noteAgain(numbers: readonly number[], time: number): void {
    this.#noteLater();
    for (const number of numbers) {
      assert(this.#uses.has(number), 'a fact that is used again was used');
      this.version++;
      this.#note(number, time, time);
      if (this.#untold !== null) this.#gather(this.#untold, number, time);
    }
  }

  /** Records uses of which another node tells. */
  noteTold(fact: FactRow, assertedAt: number, { count, latest }: UntoldUses): void {
    this.#noteLater();
    this.version++;
    const number = numberOf(fact);
    for (const time of latest) this.#note(number, assertedAt, time);
    this.#uses.addEarlier(number, count - latest.length);
  }

  /** Gathers uses by questions from now on, for `takeUntold`. */
  gather(): void {
    this.#untold ??= new Map();
  }

  /** Takes what was gathered of uses by questions, by the numbers of facts; goes on gathering, or stops. */
  takeUntold(goesOn: boolean): ReadonlyMap<number, UntoldUses> {
    const untold = this.#untold ?? new Map<number, UntoldUses>();
    if (!goesOn) this.#untold = null;
    else if (this.#untold === null || untold.size > 0) this.#untold = new Map();
    return untold;
  }

  #gather(untold: Map<number, UntoldUses>, number: number, time: number): void {
    const known = untold.get(number);
    if (known === undefined) {
      if (untold.size < MAX_UNTOLD) untold.set(number, { count: 1, latest: [time] });
      return;
    }
    known.count++;
    known.latest.push(time);
    if (known.latest.length > keptUses) known.latest.shift();
  }

  #note(number: number, assertedAt: number, time: number): void {
    this.#keep(number);
    this.#uses.note(number, assertedAt, time);
    if (this.#bounds === null) return;
    const newest = this.#facts.versionOf(number);
    if (newest.row < 0) return;
    this.#bounds.used(newest, this.of(newest, assertedAt), time, this.#facts.metadataOf(newest));
  }

  /** Moves uses after this time to it: the clock was ahead when they were recorded, and has been set back. */
  turnBack(time: number): void {
    this.#noteLater();
    for (const number of this.#uses.numbers()) {
      const { count, first, latest } = present(this.#uses.get(number), 'it was used');
      if (first <= time && (latest.at(-1) as number) <= time) continue;
      this.version++;
      this.#keep(number);
      const earlier = (each: number): number => Math.min(each, time);
      this.#uses.set(number, { count, first: earlier(first), latest: latest.map(earlier) });
    }
    this.#bounds = null;
  }

  /**
   * Forgets the uses of facts that left, with these numbers, which no other fact gets. Those of many leave with `dropMore`; the list
   * must not change any more.
   */
  drop(numbers: Numbers): void {
    if (numbers.length === 0) return;
    this.#noteLater();
    this.version++;
    if (this.#uses.count === 0) return;
    if (numbers.length > maxDropped) this.#leaving.push(numbers);
    else numbers.forEach((number) => this.#drop(number));
  }

  /** True if `dropMore` has work now. It waits for a pinned moment, which would copy the uses. */
  get isDropping(): boolean {
    return this.#leaving.length > 0 && this.#before === null;
  }

  /** Forgets some of the uses that `drop` left. */
  dropMore(): void {
    const numbers = this.#leaving[0];
    if (numbers === undefined || !this.isDropping) return;
    this.#noteLater();
    const end = Math.min(numbers.length, this.#left + maxDropped);
    while (this.#left < end) this.#drop(present(numbers.at(this.#left++), 'it is one of the list'));
    if (end < numbers.length) return;
    this.#leaving.shift();
    this.#left = 0;
  }

  #drop(number: number): void {
    this.#untold?.delete(number);
    if ((this.#changed !== null || this.#before !== null) && this.#uses.has(number)) this.#keep(number);
    this.#uses.delete(number);
  }

  /** True if uses of the fact with this number beyond its assertion were recorded. */
  isNoted(number: number): boolean {
    this.#noteLater();
    return this.#uses.has(number);
  }

  of(fact: FactRow, assertedAt: number): Uses {
    this.#noteLater();
    return this.#uses.get(numberOf(fact)) ?? { count: 1, first: assertedAt, latest: [assertedAt] };
  }

  /** Number of facts with recorded uses. */
  get count(): number {
    this.#noteLater();
    return this.#uses.count;
  }

  /** Pins the current uses, to be read with `pinnedOf`, until `unpin`. One moment at a time. */
  pin(): void {
    this.#noteLater();
    assert(this.#before === null, 'one moment is pinned at a time');
    this.#before = new NumberMap();
    this.#uses.pin();
  }

  unpin(): void {
    this.#before = null;
    this.#uses.unpin();
  }

  /** The recorded uses of the fact with this number at the pinned moment, or null. */
  pinnedOf(number: number): Uses | null {
    this.#noteLater();
    const before = present(this.#before, 'a moment is pinned').get(number);
    if (before !== undefined) return before;
    return this.#uses.wasPinned(number) ? this.#uses.get(number) : null;
  }

  /**
   * Restores the uses of the fact with this number, unless it had left when they were saved; call it before the first use of
   * `bounds`.
   */
  restore(number: number, uses: Uses): void {
    this.#noteLater();
    const { relation, row } = this.#facts.versionOf(number);
    if (row < 0 || !relation.isAlive(row) || this.#facts.past.has(number)) return;
    this.#uses.set(number, uses);
  }

  /** S of the fact at the time `now`; see `breakdown`. */
  salienceOf(fact: FactRow, assertedAt: number, now: number): number {
    return salienceOf(this.of(fact, assertedAt), this.#facts.metadataOf(fact), now);
  }

  salience(fact: FactRow, assertedAt: number, now: number): SalienceBreakdown {
    return breakdown(this.of(fact, assertedAt), this.#facts.metadataOf(fact), now);
  }

  #keep(number: number): void {
    if (this.#changed !== null && this.#changed.add(number).size > maxFollowed) this.#changed = null;
    if (this.#before === null || !this.#uses.wasPinned(number) || this.#before.has(number)) return;
    this.#before.set(number, present(this.#uses.get(number), 'it had uses'));
  }
}

/** When facts were asserted. */
export interface AssertionTimes {
  /** When the fact with this number was asserted; for a restored fact, when it was asserted originally. */
  assertedAtOf(facts: FactStore, number: number): number;
}

/** Look-ups whose uses are noted together. */
const maxLater = 64;
/** Uses that are forgotten together. */
const maxDropped = 4096;

function numberOf(fact: FactRow): number {
  return fact.relation.number[fact.row] as number;
}

/**
 * Uses by fact number, in columns: an object for each would take twice the memory, and garbage collection
 * time with every question. `note` corresponds to `used` in salience.ts. The slot of a deleted fact is reused
 * by the next new one.
 *
 * Every look-up records a use, of any fact, so everything about a fact is in one slot, found without
 * hashing, in pages allocated for the numbers in use.
 */
export class UseColumns {
  /** By page: 1 + the slot of each of its numbers, 0 if there is none. */
  readonly #pages: (Int32Array | undefined)[] = [];
  readonly #free = new NumberList();
  #taken = 0;
  /**
   * By page of slots, of each: the number of uses, the first, how many of the latest are stored, and those: `keptUses` elements,
   * oldest first. In pages, since a copy of the uses of a million facts would be one long turn.
   */
  readonly #columns: Float64Array[] = [];

  /** While a moment is pinned: the slots from here on were taken since, and no free one is. */
  #pinned: number | null = null;

  /** From now on `wasPinned` tells apart the facts that have uses now, until `unpin`. */
  pin(): void {
    this.#pinned = this.#taken;
  }

  unpin(): void {
    this.#pinned = null;
  }

  /** True if the fact has had uses since before the pinned moment. */
  wasPinned(number: number): boolean {
    const slot = this.#slotOf(number);
    return slot >= 0 && slot < (this.#pinned ?? 0);
  }

  /** Number of facts with uses. */
  get count(): number {
    return this.#taken - this.#free.length;
  }

  get bytes(): number {
    const columns = this.#columns.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return columns + this.#pages.length * (pageMask + 1) * 4;
  }

  /** Writes the columns of the fact, all zero if it has no uses, into `columns`. */
  writeTo(number: number, columns: Float64Array): void {
    const slot = this.#slotOf(number);
    const at = placeOf(slot);
    if (slot >= 0) columns.set(this.#columnsOf(slot).subarray(at, at + width));
  }

  /** The reverse of `writeTo`. */
  readFrom(number: number, columns: Float64Array): void {
    if (columns[0] === 0) {
      this.delete(number);
      return;
    }
    const known = this.#slotOf(number);
    const slot = known < 0 ? this.#take(number) : known;
    this.#columnsOf(slot).set(columns, placeOf(slot));
  }

  /** True if the fact has uses. */
  has(number: number): boolean {
    return this.#slotOf(number) >= 0;
  }

  /** Reads what `note` will read first for these numbers; see `HashSlots.fetch`. */
  fetch(numbers: Int32Array, count: number): void {
    for (let at = 0; at < count; at++) slotsFetched[at] = this.#slotOf(numbers[at] as number);
  }

  /** A copy of the fact's uses; null if it has none. */
  get(number: number): Uses | null {
    const slot = this.#slotOf(number);
    if (slot < 0) return null;
    const columns = this.#columnsOf(slot);
    const at = placeOf(slot);
    const start = at + latestAt;
    const latest = Array.from(columns.subarray(start, start + (columns[at + keptAt] as number)));
    return { count: columns[at] as number, first: columns[at + firstAt] as number, latest };
  }

  set(number: number, { count, first, latest }: Uses): void {
    const known = this.#slotOf(number);
    const slot = known < 0 ? this.#take(number) : known;
    const columns = this.#columnsOf(slot);
    const at = placeOf(slot);
    columns[at] = count;
    columns[at + firstAt] = first;
    columns[at + keptAt] = latest.length;
    columns.set(latest, at + latestAt);
  }

  /** Records one more use; if there was none, the first is at `assertedAt`. */
  note(number: number, assertedAt: number, time: number): void {
    const known = this.#slotOf(number);
    const slot = known < 0 ? this.#take(number) : known;
    const columns = this.#columnsOf(slot);
    const at = placeOf(slot);
    if (known < 0) {
      columns[at] = 1;
      columns[at + firstAt] = assertedAt;
      columns[at + keptAt] = 1;
      columns[at + latestAt] = assertedAt;
    }
    columns[at] = (columns[at] as number) + 1;
    const kept = columns[at + keptAt] as number;
    const start = at + latestAt;
    const end = start + kept;
    let after = end;
    while (after > start && (columns[after - 1] as number) > time) after--;
    if (kept < keptUses) {
      for (let later = end; later > after; later--) columns[later] = columns[later - 1] as number;
      columns[after] = time;
      columns[at + keptAt] = kept + 1;
    } else if (after > start) {
      // The oldest one is dropped; if that is the new one, nothing changes.
      for (let before = start + 1; before < after; before++) columns[before - 1] = columns[before] as number;
      columns[after - 1] = time;
    }
  }

  /** Records this many more uses of a fact that was used, before its latest ones and after the first. */
  addEarlier(number: number, count: number): void {
    const slot = this.#slotOf(number);
    if (slot < 0 || count <= 0) return;
    const columns = this.#columnsOf(slot);
    const at = placeOf(slot);
    columns[at] = (columns[at] as number) + count;
  }

  /** The numbers of all facts with uses. */
  *numbers(): Generator<number> {
    for (const [page, slots] of this.#pages.entries())
      for (const [at, slot] of slots?.entries() ?? []) if (slot > 0) yield (page << pageBits) + at;
  }

  /** True if there were any. */
  delete(number: number): boolean {
    const slot = this.#slotOf(number);
    if (slot < 0) return false;
    (this.#pages[number >>> pageBits] as Int32Array)[number & pageMask] = 0;
    this.#free.push(slot);
    return true;
  }

  /** Negative if the fact has no uses. */
  #slotOf(number: number): number {
    const page = this.#pages[number >>> pageBits];
    return page === undefined ? -1 : (page[number & pageMask] as number) - 1;
  }

  #take(number: number): number {
    const slot = (this.#pinned === null ? this.#free.pop() : undefined) ?? this.#taken++;
    this.#makeRoomFor(slot);
    const page = (this.#pages[number >>> pageBits] ??= new Int32Array(pageMask + 1));
    page[number & pageMask] = slot + 1;
    return slot;
  }

  #columnsOf(slot: number): Float64Array {
    return this.#columns[slot >>> pageBits] as Float64Array;
  }

  /** The first page grows with its slots: most tenants use few facts. */
  #makeRoomFor(slot: number): void {
    const page = slot >>> pageBits;
    const known = this.#columns[page];
    const room = placeOf(slot) + width;
    if (known !== undefined && known.length >= room) return;
    const grown = new Float64Array(
      page > 0 ? slotsInPage * width : Math.max(16 * width, 2 * (known?.length ?? 0)),
    );
    if (known !== undefined) grown.set(known);
    this.#columns[page] = grown;
  }
}

/** Where a slot begins in the columns of its page. */
function placeOf(slot: number): number {
  return (slot & pageMask) * width;
}

/** Facts whose uses changed that are collected for a follower. */
const maxFollowed = 100_000;

const slotsFetched = new Int32Array(maxLater);
const firstAt = 1;
const keptAt = 2;
const latestAt = 3;
const width = latestAt + keptUses;
const pageBits = 10;
const slotsInPage = 1 << pageBits;
const pageMask = slotsInPage - 1;
