import type { Metadata } from '../contract/facts.ts';
import type { MetadataColumn } from './metadata-column.ts';
import { textOfUtf8 } from './text-of-utf8.ts';

/** What a fact may give beside its identity. */
export interface Extras {
  /** Absent: unchanged. 'always' and 'never' clear the bound. */
  readonly validFrom?: number | 'always';
  readonly validUntil?: number | 'never';
  /** True if `validUntil` comes from a `ttl`: once ended, the fact is kept for as long as the history. */
  readonly endsByTtl?: true | undefined;
  readonly metadata?: Metadata;
}

/**
 * What the facts of a block give beside their identities, as columns by fact: a validity and metadata. null: no fact gives
 * that.
 *
 * A time that is not given is NaN; 'always' is -Infinity, and 'never' Infinity.
 */
export class FactExtras {
  readonly validFrom: Float64Array | null;
  readonly validUntil: Float64Array | null;
  /** Milliseconds from when the facts are stored: a block with them is not stored before `resolved`. */
  readonly ttl: Float64Array | null;
  /** 1: the fact ends by a `ttl`. */
  readonly byTtl: Uint8Array | null;
  /** The metadata as JSON.stringify has it, in UTF-8; no bytes: not given. */
  readonly metadata: EncodedMetadata | null;

  constructor({ validFrom, validUntil, ttl, byTtl, metadata }: ExtraColumns) {
    this.validFrom = validFrom;
    this.validUntil = validUntil;
    this.ttl = ttl;
    this.byTtl = byTtl;
    this.metadata = metadata;
  }

  /** True if some fact gives a bound of its validity. */
  get givesValidity(): boolean {
    return this.validFrom !== null || this.validUntil !== null || this.ttl !== null;
  }

  /** True if the fact gives neither a validity nor metadata. */
  isNone(index: number): boolean {
    return !this.hasValidity(index) && this.metadataBytes(index) === 0;
  }

  /** True if the fact gives a bound of its validity. */
  hasValidity(index: number): boolean {
    return isGiven(this.validFrom, index) || isGiven(this.validUntil, index) || isGiven(this.ttl, index);
  }

  /** Bytes of the metadata; 0: not given. */
  metadataBytes(index: number): number {
    return this.metadata === null ? 0 : (this.metadata.ends[index] as number) - this.metadataStart(index);
  }

  /** Where the metadata begins, which must be given by some fact. */
  metadataStart(index: number): number {
    return index === 0 ? 0 : ((this.metadata as EncodedMetadata).ends[index - 1] as number);
  }

  /** What the fact gives, but for a `ttl`, as an object. */
  at(index: number): Extras {
    const extras: { -readonly [Field in keyof Extras]: Extras[Field] } = {};
    const [from, until] = [this.validFrom?.[index] ?? Number.NaN, this.validUntil?.[index] ?? Number.NaN];
    if (!Number.isNaN(from)) extras.validFrom = from === Number.NEGATIVE_INFINITY ? 'always' : from;
    if (!Number.isNaN(until)) extras.validUntil = until === Number.POSITIVE_INFINITY ? 'never' : until;
    if (this.byTtl?.[index] === 1) extras.endsByTtl = true;
    if (this.metadataBytes(index) > 0) extras.metadata = JSON.parse(this.metadataJson(index)) as Metadata;
    return extras;
  }

  /** The metadata as JSON, which must be given. */
  metadataJson(index: number): string {
    const { bytes, ends } = this.metadata as EncodedMetadata;
    return textOfUtf8(bytes, this.metadataStart(index), ends[index] as number);
  }

  /** Gives the row the metadata that the fact gives, if it has a field. */
  putMetadata(index: number, into: MetadataColumn, row: number): void {
    // An object without fields takes two bytes.
    if (this.metadata === null || this.metadataBytes(index) <= 2) return;
    const { bytes, ends } = this.metadata;
    into.setJson(row, bytes, this.metadataStart(index), ends[index] as number);
  }

  /**
   * The same at this time: a `ttl` becomes an end, unless the fact gives an earlier one. `count`: of the facts.
   */
  resolved(now: number, count: number): FactExtras {
    const { ttl } = this;
    if (ttl === null) return this;
    const until = this.validUntil?.slice() ?? new Float64Array(count).fill(Number.NaN);
    const byTtl = this.byTtl?.slice() ?? new Uint8Array(count);
    for (let index = 0; index < count; index++) {
      if (!isGiven(ttl, index)) continue;
      const end = now + (ttl[index] as number);
      const given = until[index] as number;
      if (Number.isFinite(given) && given < end) continue;
      until[index] = end;
      byTtl[index] = 1;
    }
    return new FactExtras({ ...this, validUntil: until, ttl: null, byTtl });
  }
}

/** What the facts of a run give: its first one has the index `first` in the columns. */
export interface RunExtras {
  readonly columns: FactExtras;
  readonly first: number;
}

/** Of the facts that `StoredRelation.fetch` was last called with: those from index `from` up to, not including, `end`. */
export interface FetchedRun {
  readonly ids: Int32Array;
  readonly start: number;
  readonly scopes: Int32Array;
  readonly from: number;
  readonly end: number;
  /** What they give beside their identities; null: nothing. */
  readonly extras: RunExtras | null;
}

/** From when on a new fact, by its index in the run, is valid; -Infinity: always. */
export function fromAt(extras: RunExtras | null, index: number): number {
  const time = extras?.columns.validFrom?.[extras.first + index] ?? Number.NaN;
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}

/** Until when a new fact, by its index in the run, is valid; Infinity: for ever. */
export function untilAt(extras: RunExtras | null, index: number): number {
  const time = extras?.columns.validUntil?.[extras.first + index] ?? Number.NaN;
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

type ExtraColumns = Pick<FactExtras, 'validFrom' | 'validUntil' | 'ttl' | 'byTtl' | 'metadata'>;

interface EncodedMetadata {
  readonly bytes: Uint8Array;
  /** By fact. */
  readonly ends: Int32Array;
}

function isGiven(column: Float64Array | null, index: number): boolean {
  return column !== null && !Number.isNaN(column[index]);
}

/** Puts what facts give beside their identities into columns, in the order of the facts. */
export class ExtrasBuilder {
  #validFrom: Float64Array | null = null;
  #validUntil: Float64Array | null = null;
  #ttl: Float64Array | null = null;
  #byTtl: Uint8Array | null = null;
  #ends: Int32Array | null = null;
  #bytes = new Uint8Array(0);
  /** Bytes of metadata so far, and of how many facts it is known where theirs ends. */
  #end = 0;
  #ended = 0;
  /** So many facts have room in the columns. */
  #room: number;

  /** Makes room for so many facts. */
  constructor(room: number) {
    this.#room = room;
  }

  /** Bytes of the metadata so far. */
  get metadataBytes(): number {
    return this.#end;
  }

  /** Makes room for so many facts. */
  grow(room: number): void {
    this.#room = room;
    const times = (column: Float64Array | null): Float64Array | null => {
      if (column === null) return null;
      const larger = new Float64Array(room).fill(Number.NaN, column.length);
      larger.set(column);
      return larger;
    };
    this.#validFrom = times(this.#validFrom);
    this.#validUntil = times(this.#validUntil);
    this.#ttl = times(this.#ttl);
    if (this.#byTtl !== null) {
      const larger = new Uint8Array(room);
      larger.set(this.#byTtl);
      this.#byTtl = larger;
    }
    if (this.#ends !== null) {
      const larger = new Int32Array(room);
      larger.set(this.#ends);
      this.#ends = larger;
    }
  }

  /** Notes what the fact with this index gives, as an object. */
  give(index: number, { validFrom, validUntil, endsByTtl, metadata }: Extras): void {
    if (validFrom !== undefined)
      this.validFrom(index, validFrom === 'always' ? Number.NEGATIVE_INFINITY : validFrom);
    if (validUntil !== undefined)
      this.validUntil(index, validUntil === 'never' ? Number.POSITIVE_INFINITY : validUntil);
    if (endsByTtl === true) this.#endsByTtl(index);
    if (metadata !== undefined) {
      const json = encoder.encode(JSON.stringify(metadata));
      this.metadata(index, json, 0, json.length);
    }
  }

  /** Notes what the fact with this index gives: what another of a block does. */
  giveAs(index: number, extras: FactExtras, other: number): void {
    const [from, until, ttl] = [
      extras.validFrom?.[other] ?? Number.NaN,
      extras.validUntil?.[other] ?? Number.NaN,
      extras.ttl?.[other] ?? Number.NaN,
    ];
    if (!Number.isNaN(from)) this.validFrom(index, from);
    if (!Number.isNaN(until)) this.validUntil(index, until);
    if (!Number.isNaN(ttl)) this.ttl(index, ttl);
    if (extras.byTtl?.[other] === 1) this.#endsByTtl(index);
    if (extras.metadata !== null && extras.metadataBytes(other) > 0)
      this.metadata(
        index,
        extras.metadata.bytes,
        extras.metadataStart(other),
        extras.metadata.ends[other] as number,
      );
  }

  /** In epoch milliseconds; -Infinity: always. */
  validFrom(index: number, time: number): void {
    this.#validFrom ??= new Float64Array(this.#room).fill(Number.NaN);
    this.#validFrom[index] = time;
  }

  /** In epoch milliseconds; Infinity: never. */
  validUntil(index: number, time: number): void {
    this.#validUntil ??= new Float64Array(this.#room).fill(Number.NaN);
    this.#validUntil[index] = time;
  }

  /** In milliseconds. */
  ttl(index: number, duration: number): void {
    this.#ttl ??= new Float64Array(this.#room).fill(Number.NaN);
    this.#ttl[index] = duration;
  }

  #endsByTtl(index: number): void {
    this.#byTtl ??= new Uint8Array(this.#room);
    this.#byTtl[index] = 1;
  }

  /** These bytes: JSON as JSON.stringify has it, in UTF-8. */
  metadata(index: number, json: Uint8Array, start: number, end: number): void {
    this.#ends ??= new Int32Array(this.#room);
    this.#endBefore(index);
    const length = end - start;
    if (this.#end + length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(minBytes, this.#end + length, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.#end));
      this.#bytes = larger;
    }
    const [bytes, to] = [this.#bytes, this.#end];
    for (let at = 0; at < length; at++) bytes[to + at] = json[start + at] as number;
    this.#end += length;
    this.#endBefore(index + 1);
  }

  /** Notes where the metadata of the facts before this one ends. */
  #endBefore(index: number): void {
    this.#ends?.fill(this.#end, this.#ended, index);
    this.#ended = index;
  }

  /** What the facts give, of which there are so many; null: nothing. Nothing can be noted any more. */
  built(count: number): FactExtras | null {
    const ends = this.#ends;
    const [validFrom, validUntil, ttl] = [this.#validFrom, this.#validUntil, this.#ttl];
    if (validFrom === null && validUntil === null && ttl === null && ends === null) return null;
    this.#endBefore(count);
    return new FactExtras({
      validFrom: validFrom?.subarray(0, count) ?? null,
      validUntil: validUntil?.subarray(0, count) ?? null,
      ttl: ttl?.subarray(0, count) ?? null,
      byTtl: this.#byTtl?.subarray(0, count) ?? null,
      metadata:
        ends === null ? null : { bytes: this.#bytes.subarray(0, this.#end), ends: ends.subarray(0, count) },
    });
  }
}

const minBytes = 1024;
const encoder = new TextEncoder();
