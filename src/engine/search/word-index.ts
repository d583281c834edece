import type { MemoryHolder } from '../datalog/model/memory-budget.ts';
import type { FactRow } from '../store/fact-matching.ts';
import type { FactStore } from '../store/fact-store.ts';
import { finish, hashSeed, HashSlots } from '../store/hash-slots.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { Postings } from './postings.ts';
import { foldedName, termsAndName, termsOf } from './words.ts';

/** Longer constants are texts and not names: they are found by their words alone. */
const maxNameLength = 96;

/**
 * The words of a tenant's constants and of the texts in metadata, and the names that constants are.
 *
 * Constants are numbered in the order in which they were first stored and never change, and rows are only appended to
 * a relation. So the index takes in what is new before each search and needs no notice of writes. It knows constants
 * and rows of every version: the caller looks up which facts are visible. It is derived, and dropped when memory is
 * needed.
 */
export class WordIndex implements MemoryHolder {
  readonly #facts: FactStore;
  /** Documents are constants, by id. */
  readonly constants = new Postings();
  /** Documents are rows with metadata, by number; see `rowOf`. */
  readonly metadata = new Postings();
  readonly #rows: FactRow[] = [];
  /** Rows taken in of each relation. A compacted relation is another one. */
  readonly #through = new WeakMap<StoredRelation, number>();
  /** The hash of the name of each constant; constants by it. */
  #nameHashes = new Int32Array(64);
  #names = new HashSlots(64);
  #users = 0;

  private constructor(facts: FactStore) {
    this.#facts = facts;
  }

  /**
   * Runs `work` on the index of the facts, made on first use, with everything of now; it is not evicted meanwhile.
   * `breathe` is called between small steps.
   */
  static async using<Result>(
    facts: FactStore,
    breathe: () => Promise<void>,
    work: (index: WordIndex) => Promise<Result>,
  ): Promise<Result> {
    let index = indexes.get(facts);
    if (index === undefined) indexes.set(facts, (index = new WordIndex(facts)));
    index.#users++;
    try {
      await index.#takeInConstants(breathe);
      await index.#takeInMetadata(breathe);
      return await work(index);
    } finally {
      index.#users--;
    }
  }

  get bytes(): number {
    const rows = this.#rows.length * bytesOfRow;
    return (
      this.constants.bytes + this.metadata.bytes + this.#nameHashes.byteLength + this.#names.bytes + rows
    );
  }

  evict(): boolean {
    if (this.#users > 0) return false;
    indexes.delete(this.#facts);
    return true;
  }

  /** The row of a document of `metadata`; it may be dead, or of a relation that was compacted since. */
  rowOf(document: number): FactRow {
    return this.#rows[document] as FactRow;
  }

  /** The constants with this name, as `foldedName` gives it, unordered. */
  named(name: string): number[] {
    const found: number[] = [];
    const hash = hashOf(name);
    for (let slot = this.#names.first(hash); slot >= 0; slot = this.#names.next(slot, hash)) {
      const constant = this.#names.number(slot);
      if (this.#nameHashes[constant] === hash && foldedName(this.#facts.dictionary.text(constant)) === name)
        found.push(constant);
    }
    return found;
  }

  async #takeInConstants(breathe: () => Promise<void>): Promise<void> {
    const { dictionary } = this.#facts;
    let units = 0;
    while (this.constants.count < dictionary.size) {
      const constant = this.constants.count;
      const text = dictionary.text(constant);
      const { terms, name } = termsAndName(text);
      this.constants.add(terms);
      if (name !== '' && text.length <= maxNameLength) this.#addName(constant, hashOf(name));
      units += text.length + unitsOfText;
      if (units < unitsBetweenBreaths) continue;
      units = 0;
      await breathe();
    }
  }

  async #takeInMetadata(breathe: () => Promise<void>): Promise<void> {
    let units = 0;
    for (const relation of this.#facts.relations.values()) {
      if (relation.metadata.size === 0) continue;
      for (let row = this.#through.get(relation) ?? 0; row < relation.count; row++) {
        this.#through.set(relation, row + 1);
        const text = textOf(relation.metadata.get(row));
        if (text !== '') {
          this.metadata.add(termsOf(text));
          this.#rows.push({ relation, row });
        }
        units += text.length + unitsOfText;
        if (units < unitsBetweenBreaths) continue;
        units = 0;
        await breathe();
        // Another search may have gone on meanwhile.
        row = (this.#through.get(relation) as number) - 1;
      }
    }
  }

  #addName(constant: number, hash: number): void {
    if (constant >= this.#nameHashes.length) {
      const hashes = new Int32Array(constant * 2);
      hashes.set(this.#nameHashes);
      this.#nameHashes = hashes;
    }
    this.#nameHashes[constant] = hash;
    if (this.#names.isFull) {
      const names = new HashSlots(this.#names.count * 2);
      this.#names.forEach((each) => names.add(this.#nameHashes[each] as number, each));
      this.#names = names;
    }
    this.#names.add(hash, constant);
  }
}

const indexes = new WeakMap<FactStore, WordIndex>();

/** Work between two breaths, in characters; a text costs as much as these beside its own. */
const unitsBetweenBreaths = 16_384;
const unitsOfText = 32;
/** An object of two fields, and its place in the list. */
const bytesOfRow = 40;

/** The string values of metadata, at any depth. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textOf).filter(Boolean).join('\n');
}

function hashOf(name: string): number {
  let hash = hashSeed ^ name.length;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return finish(hash);
}
