import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import type { Slices } from '../base/slices.ts';
import { FactBlock, FactBlockBuilder, type FactFrame, type FactsToStore } from '../store/fact-block.ts';
import type { FactExtras } from '../store/fact-extras.ts';
import type { FactToStore } from '../store/fact-store.ts';
import type { DecidedWrite } from './commit-pipeline.ts';
import type { Operation } from '../state/operation.ts';

/** Items encoded in one slice; a write of no more is small. */
export const itemsInSlice = 256;

/**
 * The operation as a write; a large one is encoded for the log in slices, since JSON.stringify of a very long list would
 * block the thread. The bytes equal the UTF-8 of JSON.stringify. Facts of a large one are put into columns. `known` is JSON of
 * one field that the caller has already.
 */
export async function encodeWrite(
  given: Operation,
  slices: Pick<Slices, 'breathe'>,
  known: EncodedField | null = null,
): Promise<DecidedWrite> {
  if (itemsOf(given) <= itemsInSlice && !isLong(given)) return { operation: asList(given) };
  const operation = await inColumns(given, slices);
  const json = new JsonBytes(spare.length === 0 ? new Uint8Array(0x400) : spare);
  spare = new Uint8Array(0);
  for (const [at, [field, value]] of Object.entries(operation).entries()) {
    json.write(`${at === 0 ? '{' : ','}${JSON.stringify(field)}:`);
    if (field === known?.field) await writeTexts(json, known.texts, slices);
    else if (value instanceof FactBlock) await writeBlock(json, value, slices);
    else if (Array.isArray(value))
      await writeList<unknown>(
        json,
        value,
        (items) => json.write(JSON.stringify(items).slice(1, -1)),
        slices,
      );
    else json.write(JSON.stringify(value));
  }
  json.write('}');
  return { operation, encoded: json.bytes };
}

/**
 * Gives back the memory of an encoded write, which is durable, for the next large one: memory of its own for each would have
 * the collector look through everything, again and again. Nothing may read the bytes any more.
 */
export function giveBack({ encoded }: Pick<DecidedWrite, 'encoded'>): void {
  if (!(encoded?.buffer instanceof ArrayBuffer)) return;
  const { buffer } = encoded;
  if (buffer.byteLength <= maxSpareBytes && buffer.byteLength > spare.length) spare = new Uint8Array(buffer);
}

/** Memory for the next large write. */
let spare = new Uint8Array(0);
const maxSpareBytes = 0x10_0000;

/** The operation with the facts that it asserts as a list. */
function asList(operation: Operation): Operation {
  if (operation.kind !== 'assert' || !(operation.facts instanceof FactBlock)) return operation;
  return { ...operation, facts: [...operation.facts] };
}

/** The operation with the facts that it asserts in columns. */
async function inColumns(operation: Operation, slices: Pick<Slices, 'breathe'>): Promise<Operation> {
  if (operation.kind !== 'assert' || operation.facts instanceof FactBlock) return operation;
  const { facts } = operation;
  const builder = new FactBlockBuilder();
  for (let start = 0; start < facts.length; ) {
    const end = endOfSlice(facts, start);
    for (; start < end; start++) builder.add(facts[start] as FactToStore);
    await slices.breathe();
  }
  return { ...operation, facts: builder.built() };
}

/** A field whose value is a list, and the JSON of its items in pieces that are separated by commas, not empty. */
interface EncodedField {
  readonly field: string;
  readonly texts: readonly string[];
}

async function writeTexts(
  json: JsonBytes,
  texts: readonly string[],
  slices: Pick<Slices, 'breathe'>,
): Promise<void> {
  const meter = new ByteMeter();
  json.write('[');
  json.expect(Math.min(maxExpectedBytes, charactersOf(texts) + texts.length));
  for (const [at, text] of texts.entries()) {
    if (at > 0) json.write(',');
    json.write(text);
    if (meter.counts(text.length) || at % itemsInSlice === 0) await slices.breathe();
  }
  json.write(']');
}

/** Writes the list of the facts of a block. */
async function writeBlock(json: JsonBytes, block: FactBlock, slices: Pick<Slices, 'breathe'>): Promise<void> {
  json.write('[');
  json.expect(Math.min(maxExpectedBytes, bytesOfBlock(block)));
  for (let start = 0; start < block.length; ) {
    const end = endOfSlice(block, start);
    for (let at = start; at < end; at++) json.writeFact(block, at);
    start = end;
    await slices.breathe();
  }
  json.write(']');
}

/** About the bytes of the list of these facts: exactly, if all are like the first, and no character is escaped. */
function bytesOfBlock(block: FactBlock): number {
  const { predicate, truthVal, scope } = block.frameAt(0);
  const around = JSON.stringify({ predicate, args: [], truthVal, scope }).length + 1;
  const extras = block.extras === null ? 0 : JSON.stringify(block.extras.at(0)).length + 1;
  return block.bytes.length + block.ends.length * 3 + block.length * (around + extras);
}

/** Writes a list; `write` writes some items, separated by commas. */
async function writeList<Item>(
  json: JsonBytes,
  items: readonly Item[],
  write: (items: readonly Item[]) => void,
  slices: Pick<Slices, 'breathe'>,
): Promise<void> {
  json.write('[');
  const before = json.bytes.length;
  for (let start = 0; start < items.length; ) {
    const end = endOfSlice(items, start);
    if (start > 0) json.write(',');
    write(items.slice(start, end));
    // Estimates the total from the first items; a bad estimate wastes little.
    if (start === 0)
      json.expect(Math.min(maxExpectedBytes, ((json.bytes.length - before) * items.length * 1.1) / end));
    start = end;
    await slices.breathe();
  }
  json.write(']');
}

/** The end of the items that are encoded in one slice: some, or fewer if they are facts with long constants. */
function endOfSlice(items: readonly unknown[] | FactBlock, from: number): number {
  const most = Math.min(items.length, from + itemsInSlice);
  const meter = new ByteMeter();
  let end = from;
  if (items instanceof FactBlock) while (end < most && !meter.counts(items.bytesAt(end++)));
  else while (end < most && !meter.counts(lengthOf(items[end++])));
  return end;
}

/** Characters of the arguments if the item is a fact, and of a key; else 0. */
function lengthOf(item: unknown): number {
  if (typeof item === 'string') return item.length;
  if (Array.isArray(item)) return charactersOf(item.filter((each) => typeof each === 'string'));
  if (typeof item !== 'object' || item === null || !('args' in item)) return 0;
  return charactersOf(item.args as readonly string[]);
}

/** Whether the operation stores facts with so much text that one slice is too short for it. */
function isLong(operation: Operation): boolean {
  const facts: FactsToStore =
    operation.kind === 'restore' || operation.kind === 'assert'
      ? operation.facts
      : operation.kind === 'commit'
        ? operation.assert
        : [];
  return endOfSlice(facts, 0) < facts.length;
}

/** A growing buffer of JSON in UTF-8. */
class JsonBytes {
  #bytes: Uint8Array<ArrayBuffer>;
  #end = 0;
  readonly #encoder = new TextEncoder();
  /** The bytes before and after the arguments of facts of one relation and scope. */
  #framed: FramedFact | null = null;

  /** Writes to these bytes, and beyond them to others. */
  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#end);
  }

  /** Reserves room for about this many more bytes. */
  expect(count: number): void {
    this.#reserve(Math.ceil(count) + 0x400);
  }

  /** Writes JSON. */
  write(json: string): void {
    this.#reserve(json.length * 3);
    this.#end += this.#encoder.encodeInto(json, this.#bytes.subarray(this.#end)).written;
  }

  /** Writes a fact of a block, after a comma unless it is the first. */
  writeFact(block: FactBlock, at: number): void {
    if (at > 0) this.#put(comma);
    const frame = block.frameAt(at);
    const { before, after } = this.#framed?.frame === frame ? this.#framed : this.#frame(frame);
    this.#copy(before, 0, before.length);
    const first = block.firstText[at] as number;
    const end = first + frame.arity;
    for (let text = first; text < end; text++) {
      if (text > first) this.#put(comma);
      this.#writeText(block.bytes, block.startOf(text), block.ends[text] as number);
    }
    if (block.extras === null) this.#copy(after, 0, after.length);
    else {
      // Before the closing brace.
      this.#copy(after, 0, after.length - 1);
      this.#writeExtras(block.extras, at);
      this.#put(closingBrace);
    }
  }

  #writeExtras(extras: FactExtras, at: number): void {
    const [from, until] = [extras.validFrom?.[at] ?? Number.NaN, extras.validUntil?.[at] ?? Number.NaN];
    if (!Number.isNaN(from))
      this.#writeAscii(from === Number.NEGATIVE_INFINITY ? ',"validFrom":"always"' : `,"validFrom":${from}`);
    if (!Number.isNaN(until))
      this.#writeAscii(
        until === Number.POSITIVE_INFINITY ? ',"validUntil":"never"' : `,"validUntil":${until}`,
      );
    if (extras.byTtl?.[at] === 1) this.#writeAscii(',"endsByTtl":true');
    if (extras.metadata === null || extras.metadataBytes(at) === 0) return;
    this.#writeAscii(',"metadata":');
    this.#copy(extras.metadata.bytes, extras.metadataStart(at), extras.metadata.ends[at] as number);
  }

  #writeAscii(json: string): void {
    this.#reserve(json.length);
    const bytes = this.#bytes;
    let end = this.#end;
    for (let at = 0; at < json.length; at++) bytes[end++] = json.charCodeAt(at);
    this.#end = end;
  }

  #frame(frame: FactFrame): FramedFact {
    const { predicate, truthVal, scope } = frame;
    const encoded = (json: string): Uint8Array => this.#encoder.encode(json);
    const before = encoded(`{"predicate":${JSON.stringify(predicate)},"args":[`);
    const after = encoded(`],"truthVal":${truthVal},"scope":${JSON.stringify(scope)}}`);
    return (this.#framed = { frame, before, after });
  }

  #writeText(text: Uint8Array, start: number, stop: number): void {
    this.#reserve(stop - start + 2);
    const bytes = this.#bytes;
    let end = this.#end;
    bytes[end++] = quotationMark;
    for (let at = start; at < stop; at++) {
      const byte = text[at] as number;
      // A character that JSON escapes.
      if (byte < 0x20 || byte === quotationMark || byte === backslash) {
        this.write(JSON.stringify(decoder.decode(text.subarray(start, stop))));
        return;
      }
      bytes[end++] = byte;
    }
    bytes[end++] = quotationMark;
    this.#end = end;
  }

  /** Writes these bytes of another array. */
  #copy(from: Uint8Array, start: number, stop: number): void {
    this.#reserve(stop - start);
    const bytes = this.#bytes;
    let end = this.#end;
    for (let at = start; at < stop; at++) bytes[end++] = from[at] as number;
    this.#end = end;
  }

  #put(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#end++] = byte;
  }

  #reserve(count: number): void {
    if (this.#end + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#end + count));
    grown.set(this.bytes);
    this.#bytes = grown;
  }
}

interface FramedFact {
  readonly frame: FactFrame;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

const maxExpectedBytes = 0x100_0000;
const quotationMark = 0x22;
/** A text may begin with U+FEFF, which is not a byte order mark here. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const comma = 0x2c;
const backslash = 0x5c;
const closingBrace = 0x7d;

function itemsOf(operation: Operation): number {
  switch (operation.kind) {
    case 'assert':
    case 'restore':
      return operation.facts.length;
    case 'decay':
      return operation.facts.length + (operation.ended?.length ?? 0) + (operation.dropped?.length ?? 0);
    case 'commit':
      return (
        operation.retract.length +
        operation.assert.length +
        operation.rules.length +
        (operation.drops?.length ?? 0) +
        (operation.takes?.length ?? 0)
      );
    case 'consolidate':
      return operation.values.length;
    default:
      return 0;
  }
}
