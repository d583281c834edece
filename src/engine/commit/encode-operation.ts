import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import type { Slices } from '../base/slices.ts';
import type { FactToStore } from '../store/fact-store.ts';
import type { DecidedWrite } from './commit-pipeline.ts';
import type { Operation } from '../state/operation.ts';

/** Items encoded in one slice. */
const itemsInSlice = 256;

/**
 * The operation as a write; a large one is encoded for the log in slices, since JSON.stringify of a very long list would
 * block the thread. The bytes equal the UTF-8 of JSON.stringify.
 */
export async function encodeWrite(
  operation: Operation,
  slices: Pick<Slices, 'breathe'>,
): Promise<DecidedWrite> {
  if (itemsOf(operation) <= itemsInSlice && !isLong(operation)) return { operation };
  const json = new JsonBytes();
  for (const [at, [field, value]] of Object.entries(operation).entries()) {
    json.write(`${at === 0 ? '{' : ','}${JSON.stringify(field)}:`);
    if (operation.kind === 'assert' && field === 'facts')
      await writeList(json, operation.facts, (facts) => json.writeFacts(facts), slices);
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
      json.expect(Math.min(maxExpectedBytes, ((json.bytes.length - before) * items.length) / end));
    start = end;
    await slices.breathe();
  }
  json.write(']');
}

/** The end of the items that are encoded in one slice: some, or fewer if they are facts with long constants. */
function endOfSlice(items: readonly unknown[], from: number): number {
  const most = Math.min(items.length, from + itemsInSlice);
  const meter = new ByteMeter();
  let end = from;
  while (end < most) if (meter.counts(lengthOf(items[end++]))) break;
  return end;
}

/** Characters of the arguments if the item is a fact; else 0. */
function lengthOf(item: unknown): number {
  if (typeof item !== 'object' || item === null || !('args' in item)) return 0;
  return charactersOf(item.args as readonly string[]);
}

/** Whether the operation stores facts with so much text that one slice is too short for it. */
function isLong(operation: Operation): boolean {
  const facts =
    operation.kind === 'assert' || operation.kind === 'restore'
      ? operation.facts
      : operation.kind === 'commit'
        ? operation.assert
        : [];
  return endOfSlice(facts, 0) < facts.length;
}

/** A growing buffer of JSON in UTF-8. */
class JsonBytes {
  #bytes = new Uint8Array(0x1_0000);
  #end = 0;
  readonly #encoder = new TextEncoder();
  /** The bytes before and after the arguments of facts of one relation and scope. */
  #frame: FactFrame | null = null;

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  /** Reserves room for about this many more bytes. */
  expect(count: number): void {
    this.#reserve(Math.ceil(count * 1.1));
  }

  /** Writes JSON. */
  write(json: string): void {
    this.#reserve(json.length * 3);
    this.#end += this.#encoder.encodeInto(json, this.#bytes.subarray(this.#end)).written;
  }

  /** Writes facts separated by commas. */
  writeFacts(facts: readonly FactToStore[]): void {
    for (let at = 0; at < facts.length; at++) {
      if (at > 0) this.#put(comma);
      this.#writeFact(facts[at] as FactToStore);
    }
  }

  #writeFact(fact: FactToStore): void {
    const { predicate, args, truthVal, scope } = fact;
    if (fact.validFrom !== undefined || fact.validUntil !== undefined || fact.metadata !== undefined) {
      this.write(JSON.stringify(fact));
      return;
    }
    let frame = this.#frame;
    if (frame?.predicate !== predicate || frame.truthVal !== truthVal || frame.scope !== scope)
      this.#frame = frame = this.#frameOf(fact);
    this.#copy(frame.before);
    for (let position = 0; position < args.length; position++) {
      if (position > 0) this.#put(comma);
      this.#writeText(args[position] as string);
    }
    this.#copy(frame.after);
  }

  #frameOf({ predicate, truthVal, scope }: FactToStore): FactFrame {
    const encoded = (json: string): Uint8Array => this.#encoder.encode(json);
    const before = encoded(`{"predicate":${JSON.stringify(predicate)},"args":[`);
    const after = encoded(`],"truthVal":${truthVal},"scope":${JSON.stringify(scope)}}`);
    return { predicate, truthVal, scope, before, after };
  }

  #writeText(text: string): void {
    const { length } = text;
    this.#reserve(length + 2);
    const bytes = this.#bytes;
    let end = this.#end;
    bytes[end++] = quotationMark;
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at);
      // A character that JSON escapes or that takes several bytes in UTF-8.
      if (unit < 0x20 || unit >= 0x80 || unit === quotationMark || unit === backslash) {
        this.write(JSON.stringify(text));
        return;
      }
      bytes[end++] = unit;
    }
    bytes[end++] = quotationMark;
    this.#end = end;
  }

  #copy(part: Uint8Array): void {
    this.#reserve(part.length);
    this.#bytes.set(part, this.#end);
    this.#end += part.length;
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

interface FactFrame {
  readonly predicate: string;
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

const maxExpectedBytes = 0x100_0000;
const quotationMark = 0x22;
const comma = 0x2c;
const backslash = 0x5c;

function itemsOf(operation: Operation): number {
  switch (operation.kind) {
    case 'assert':
    case 'decay':
    case 'restore':
      return operation.facts.length;
    case 'commit':
      return operation.retract.length + operation.assert.length + operation.rules.length;
    case 'consolidate':
      return operation.values.length;
    default:
      return 0;
  }
}
