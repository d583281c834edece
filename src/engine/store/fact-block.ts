import { ExtrasBuilder, FactExtras } from './fact-extras.ts';
import { type FactIdentity, type FactToStore, isPlain } from './fact-to-store.ts';
import { textOfUtf8 } from './text-of-utf8.ts';

/** What many facts of a block share. */
export interface FactFrame {
  readonly predicate: string;
  readonly arity: number;
  readonly truthVal: boolean;
  readonly scope: string | null;
}

/** The facts of a write: as a list, or in columns if they are many. */
export type FactsToStore = readonly FactToStore[] | FactBlock;

/**
 * Many facts to store, in order, as columns: the way of a bulk load.
 *
 * The arguments of all facts are UTF-8 in one array, from which the log's record is written and the dictionary is filled,
 * without a string or an object for each fact. What iterates gets objects, made one at a time.
 */
export class FactBlock implements Iterable<FactToStore> {
  /** Number of facts. */
  readonly length: number;
  readonly frames: readonly FactFrame[];
  /** By fact: the index of its frame. */
  readonly frameOf: Int32Array;
  /** By fact: the index of its first argument among all; one more element, the number of all. */
  readonly firstText: Int32Array;
  /** The arguments as UTF-8, one after the other. */
  readonly bytes: Uint8Array;
  /** By argument: its end in `bytes`, where the next one begins. */
  readonly ends: Int32Array;
  /** How many facts will follow in further blocks of the same load, by an estimate. */
  readonly following: number;
  /** What facts give beside their identities; null: none gives anything. */
  readonly extras: FactExtras | null;

  constructor(columns: BlockColumns, extras: FactExtras | null, following: number) {
    this.following = following;
    this.length = columns.frameOf.length;
    this.frames = columns.frames;
    this.frameOf = columns.frameOf;
    this.firstText = columns.firstText;
    this.bytes = columns.bytes;
    this.ends = columns.ends;
    this.extras = extras;
  }

  /** The same facts, of a load in which so many will follow them; see `following`. */
  followedBy(following: number): FactBlock {
    return new FactBlock(this, this.extras, following);
  }

  /** The same facts with these beginnings of their validities; see `FactExtras`. */
  beginning(validFrom: Float64Array): FactBlock {
    const none = { validUntil: null, ttl: null, byTtl: null, metadata: null };
    const extras = new FactExtras({ ...none, ...this.extras, validFrom });
    return new FactBlock(this, extras, this.following);
  }

  /** The same facts at this time; see `FactExtras.resolved`. */
  resolved(now: number): FactBlock {
    const extras = this.extras?.resolved(now, this.length) ?? null;
    return extras === this.extras ? this : new FactBlock(this, extras, this.following);
  }

  /** True if no fact gives a validity or metadata. */
  get isPlain(): boolean {
    return this.extras === null;
  }

  /** True if the fact gives neither a validity nor metadata. */
  isPlainAt(index: number): boolean {
    return this.extras === null || this.extras.isNone(index);
  }

  /** The place in `bytes` where the argument with this index begins. */
  startOf(text: number): number {
    return text === 0 ? 0 : (this.ends[text - 1] as number);
  }

  frameAt(index: number): FactFrame {
    return this.frames[this.frameOf[index] as number] as FactFrame;
  }

  /** Bytes of the arguments and metadata of one fact. */
  bytesAt(index: number): number {
    const [first, end] = [this.firstText[index] as number, this.firstText[index + 1] as number];
    return this.startOf(end) - this.startOf(first) + (this.extras?.metadataBytes(index) ?? 0);
  }

  /** For how many milliseconds from its storing the fact is valid; null: it gives no `ttl`. */
  ttlAt(index: number): number | null {
    const ttl = this.extras?.ttl?.[index] ?? Number.NaN;
    return Number.isNaN(ttl) ? null : ttl;
  }

  /** The fact with this index, as an object, but for a `ttl`. */
  at(index: number): FactToStore {
    const { predicate, arity, truthVal, scope } = this.frameAt(index);
    const first = this.firstText[index] as number;
    const args: string[] = [];
    for (let text = first; text < first + arity; text++) args.push(this.#text(text));
    return { predicate, args, truthVal, scope, ...this.extras?.at(index) };
  }

  /** An argument of the fact with this index. */
  argumentAt(index: number, position: number): string {
    return this.#text((this.firstText[index] as number) + position);
  }

  #text(text: number): string {
    return textOfUtf8(this.bytes, this.startOf(text), this.ends[text] as number);
  }

  *[Symbol.iterator](): Generator<FactToStore> {
    for (let index = 0; index < this.length; index++) yield this.at(index);
  }

  /** The list that JSON has of it. */
  toJSON(): FactToStore[] {
    return [...this];
  }
}

type BlockColumns = Pick<FactBlock, 'frames' | 'frameOf' | 'firstText' | 'bytes' | 'ends'>;

/** Puts facts into a block, one after the other. */
export class FactBlockBuilder {
  /** Number of facts so far. */
  count = 0;
  readonly #frames: FactFrame[] = [];
  /** The frame of the last fact: facts of one relation mostly come together. */
  #frame = -1;
  #frameOf: Int32Array;
  #firstText: Int32Array;
  #texts = 0;
  #ends: Int32Array;
  #bytes: Uint8Array;
  #end = 0;
  readonly #extras: ExtrasBuilder;

  /** Makes room for so many facts whose arguments have so many bytes; it grows beyond. */
  constructor(facts = minFacts, bytes = minFacts * 16) {
    this.#frameOf = new Int32Array(facts);
    this.#firstText = new Int32Array(facts + 1);
    this.#ends = new Int32Array(facts * 2);
    this.#bytes = new Uint8Array(bytes);
    this.#extras = new ExtrasBuilder(facts);
  }

  /** A builder with room for as many facts as this block has, whose arguments are about as long; null: for a few. */
  static like(block: Pick<FactBlock, 'length' | 'bytes'> | null): FactBlockBuilder {
    if (block === null || block.length < minFacts) return new FactBlockBuilder();
    return new FactBlockBuilder(block.length, block.bytes.length + (block.bytes.length >>> 4));
  }

  /** Bytes of the arguments and metadata so far. */
  get textBytes(): number {
    return this.#end + this.#extras.metadataBytes;
  }

  /** Adds a fact. */
  add(fact: FactToStore): void {
    this.addPlain(fact.predicate, fact.args, fact.truthVal, fact.scope);
    if (!isPlain(fact)) this.#extras.give(this.count - 1, fact);
  }

  /** Says from when on the fact added last is valid: epoch milliseconds, -Infinity for always. */
  giveValidFrom(time: number): void {
    this.#extras.validFrom(this.count - 1, time);
  }

  /** Says until when the fact added last is valid: epoch milliseconds, Infinity for ever. */
  giveValidUntil(time: number): void {
    this.#extras.validUntil(this.count - 1, time);
  }

  /** Says for how many milliseconds from its storing the fact added last is valid. */
  giveTtl(duration: number): void {
    this.#extras.ttl(this.count - 1, duration);
  }

  /** Gives the fact added last metadata: JSON as JSON.stringify has it, these bytes of UTF-8. */
  giveMetadata(json: Uint8Array, start: number, end: number): void {
    this.#extras.metadata(this.count - 1, json, start, end);
  }

  /** Adds a fact without validity and metadata. */
  addPlain(predicate: string, args: readonly string[], truthVal: boolean, scope: string | null): void {
    this.begin(predicate, args.length, truthVal, scope);
    for (let position = 0; position < args.length; position++) this.#addText(args[position] as string);
  }

  /** Begins a fact without validity and metadata; its arguments follow, each with `addUtf8`. */
  begin(predicate: string, arity: number, truthVal: boolean, scope: string | null): void {
    const { count } = this;
    if (count === this.#frameOf.length) {
      this.#frameOf = enlarged(this.#frameOf, new Int32Array(count * 2));
      this.#firstText = enlarged(this.#firstText, new Int32Array(count * 2 + 1));
      this.#extras.grow(count * 2);
    }
    const frame = this.#frames[this.#frame];
    if (
      frame?.predicate !== predicate ||
      frame.arity !== arity ||
      frame.truthVal !== truthVal ||
      frame.scope !== scope
    )
      this.#frame = this.#frameFor({ predicate, arity, truthVal, scope });
    this.#frameOf[count] = this.#frame;
    this.count = count + 1;
    this.#firstText[count + 1] = this.#texts + arity;
  }

  /** Adds an argument of the fact begun last: well-formed UTF-8, these bytes of `from`. */
  addUtf8(from: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#reserve(length);
    const to = this.#end;
    if (length > maxLoopBytes) this.#bytes.set(from.subarray(start, end), to);
    else {
      const bytes = this.#bytes;
      for (let at = 0; at < length; at++) bytes[to + at] = from[start + at] as number;
    }
    this.#endText(to + length);
  }

  /** Adds the facts of a block from one index up to, not including, another. */
  addFrom(block: FactBlock, from: number, end: number): void {
    for (let index = from; index < end; index++) {
      const { predicate, arity, truthVal, scope } = block.frameAt(index);
      this.begin(predicate, arity, truthVal, scope);
      const first = block.firstText[index] as number;
      for (let text = first; text < first + arity; text++)
        this.addUtf8(block.bytes, block.startOf(text), block.ends[text] as number);
      if (block.extras !== null) this.#extras.giveAs(this.count - 1, block.extras, index);
    }
  }

  /** The block of all facts so far, to which nothing can be added any more. `following`: see `FactBlock.following`. */
  built(following = 0): FactBlock {
    const columns = {
      frames: this.#frames,
      frameOf: this.#frameOf.subarray(0, this.count),
      firstText: this.#firstText.subarray(0, this.count + 1),
      bytes: this.#bytes.subarray(0, this.#end),
      ends: this.#ends.subarray(0, this.#texts),
    };
    return new FactBlock(columns, this.#extras.built(this.count), following);
  }

  #addText(text: string): void {
    const { length } = text;
    this.#reserve(length);
    const bytes = this.#bytes;
    let end = this.#end;
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0x80) return this.#addAny(text);
      bytes[end++] = unit;
    }
    this.#endText(end);
  }

  #addAny(text: string): void {
    // A UTF-16 code unit takes at most three bytes.
    this.#reserve(text.length * 3);
    this.#endText(this.#end + encoder.encodeInto(text, this.#bytes.subarray(this.#end)).written);
  }

  #endText(end: number): void {
    if (this.#texts === this.#ends.length) this.#ends = enlarged(this.#ends, new Int32Array(this.#texts * 2));
    this.#ends[this.#texts++] = end;
    this.#end = end;
  }

  #reserve(length: number): void {
    const needed = this.#end + length;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = larger;
  }

  /** The index of an equal frame; adds it if there is none among the last ones. */
  #frameFor(wanted: FactFrame): number {
    const oldest = Math.max(0, this.#frames.length - maxFramesSearched);
    for (let at = this.#frames.length - 1; at >= oldest; at--) {
      const { predicate, arity, truthVal, scope } = this.#frames[at] as FactFrame;
      const isEqual =
        predicate === wanted.predicate &&
        arity === wanted.arity &&
        truthVal === wanted.truthVal &&
        scope === wanted.scope;
      if (isEqual) return at;
    }
    return this.#frames.push(wanted) - 1;
  }
}

/** The relations and scopes of the facts, some perhaps repeatedly. */
export function framesOf(facts: readonly FactIdentity[] | FactBlock): Iterable<FactFrame> {
  return facts instanceof FactBlock ? facts.frames : framesOfList(facts);
}

function* framesOfList(facts: readonly FactIdentity[]): Generator<FactFrame> {
  for (const { predicate, args, truthVal, scope } of facts)
    yield { predicate, arity: args.length, truthVal, scope };
}

const minFacts = 64;
/** Facts of many relations, in turn, share frames if so few others came in between. */
const maxFramesSearched = 16;
/** Up to this many bytes are copied one by one, which is faster than making a view. */
const maxLoopBytes = 64;
const encoder = new TextEncoder();

function enlarged(from: Int32Array, to: Int32Array): Int32Array {
  to.set(from);
  return to;
}
