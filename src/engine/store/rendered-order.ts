import { assert } from '../base/assert.ts';
import { compareText } from '../base/text-order.ts';
import { Dictionary } from './dictionary.ts';
import type { FactStore } from './fact-store.ts';
import type { StoredRelation } from './stored-relation.ts';
import { renderConstant } from '../language/print.ts';

const comma = 0x2c;
const parenthesis = 0x29;

/** A comparison of quoted constants decodes and renders both: as if it read them this often. */
const readsOfQuoted = 4;

const bare = 1;
const quoted = 2;

/** Bytes that can make a constant quoted; for non-ASCII bytes the whole text is checked. */
const suspicious = Uint8Array.from({ length: 256 }, (_, byte) => {
  const text = String.fromCharCode(byte);
  return byte >= 0x80 || renderConstant(text) !== text ? 1 : 0;
});

/**
 * Compares stored facts by their rendered atoms, by code point, and measures these atoms, without rendering
 * them.
 *
 * A bare constant contains no `,`, no `)` and no quote; a quoted one begins with a quote, and none is a
 * prefix of another. So two atoms compare by the first argument in which they differ, each read together with
 * the character that ends it. Whether a constant is quoted is decided once.
 */
export class RenderedOrder {
  readonly #facts: FactStore;
  readonly #dictionary: Dictionary;
  /** By id of a constant: how it is rendered, 0 while unknown. */
  #forms = new Uint8Array(64);
  /** Bytes that comparisons have read, at most, since it was last set: what a sort in this order costs. */
  work = 0;

  constructor(facts: FactStore) {
    const { dictionary } = facts;
    assert(dictionary instanceof Dictionary, 'stored facts have a dictionary of their own');
    this.#facts = facts;
    this.#dictionary = dictionary;
  }

  /** Bytes that one comparison of constants reads, at most. */
  get longest(): number {
    return this.#dictionary.longest;
  }

  get bytes(): number {
    return this.#forms.byteLength;
  }

  /** Compares two rows by their atoms; 0 if these are the same. */
  compareAtoms(left: StoredRelation, leftRow: number, right: StoredRelation, rightRow: number): number {
    if (left !== right) {
      const order = compareRelationTexts(left, right);
      if (order !== 0) return order;
    }
    const count = Math.min(left.arity, right.arity);
    for (let position = 0; position < count; position++) {
      const a = (left.columns[position] as Int32Array)[leftRow] as number;
      const b = (right.columns[position] as Int32Array)[rightRow] as number;
      const endOfA = position === left.arity - 1 ? parenthesis : comma;
      const endOfB = position === right.arity - 1 ? parenthesis : comma;
      const order = a === b ? endOfA - endOfB : this.#compareConstants(a, endOfA, b, endOfB);
      if (order !== 0) return order;
    }
    // The remaining case is an atom without arguments: `p()` against `p(a)`.
    return left.arity === right.arity ? 0 : this.#compareWithNone(left, leftRow, right, rightRow);
  }

  /** `compareAtoms`, then by the name of the scope, facts without scope first. */
  compare(left: StoredRelation, leftRow: number, right: StoredRelation, rightRow: number): number {
    const order = this.compareAtoms(left, leftRow, right, rightRow);
    if (order !== 0) return order;
    const a = (left.columns[left.arity] as Int32Array)[leftRow] as number;
    const b = (right.columns[right.arity] as Int32Array)[rightRow] as number;
    const { scopeNames } = this.#facts;
    return a === b ? 0 : compareText(scopeNames[a] ?? '', scopeNames[b] ?? '');
  }

  /** The length of the rendered atom in UTF-16 units. */
  lengthOf(relation: StoredRelation, row: number): number {
    const { predicate, arity, negated, columns } = relation;
    let length = predicate.length + (negated ? 1 : 0) + 2 + (arity > 1 ? 2 * (arity - 1) : 0);
    for (let position = 0; position < arity; position++) {
      const id = (columns[position] as Int32Array)[row] as number;
      length += this.#isBare(id)
        ? this.#dictionary.lengthOf(id)
        : renderConstant(this.#dictionary.text(id)).length;
    }
    return length;
  }

  #compareConstants(a: number, endOfA: number, b: number, endOfB: number): number {
    this.work += Math.min(this.#dictionary.sizeOf(a), this.#dictionary.sizeOf(b));
    if (this.#isBare(a) && this.#isBare(b)) return this.#dictionary.compareEnded(a, endOfA, b, endOfB);
    this.work += readsOfQuoted * (this.#dictionary.sizeOf(a) + this.#dictionary.sizeOf(b));
    const left = renderConstant(this.#dictionary.text(a)) + String.fromCharCode(endOfA);
    return compareText(left, renderConstant(this.#dictionary.text(b)) + String.fromCharCode(endOfB));
  }

  #compareWithNone(left: StoredRelation, leftRow: number, right: StoredRelation, rightRow: number): number {
    const [relation, row] = left.arity > 0 ? [left, leftRow] : [right, rightRow];
    const first = renderConstant(this.#dictionary.text((relation.columns[0] as Int32Array)[row] as number));
    const order = compareText(first, ')');
    return left.arity > 0 ? order : -order;
  }

  #isBare(id: number): boolean {
    const known = this.#forms[id];
    return known === undefined || known === 0 ? this.#look(id) === bare : known === bare;
  }

  #look(id: number): number {
    if (id >= this.#forms.length) {
      const grown = new Uint8Array(Math.max(id + 1, this.#dictionary.size));
      grown.set(this.#forms);
      this.#forms = grown;
    }
    this.work += this.#dictionary.sizeOf(id);
    const isClear = !this.#dictionary.hasMarked(id, suspicious) && this.#dictionary.lengthOf(id) > 0;
    const text = isClear ? '' : this.#dictionary.text(id);
    const form = isClear || renderConstant(text) === text ? bare : quoted;
    this.#forms[id] = form;
    return form;
  }
}

/** Compares the text before the arguments: `p(`, or `-p(`. */
export function compareRelationTexts(left: StoredRelation, right: StoredRelation): number {
  if (left.predicate === right.predicate && left.negated === right.negated) return 0;
  return compareText(beginning(left), beginning(right));
}

function beginning({ predicate, negated }: StoredRelation): string {
  return `${negated ? '-' : ''}${predicate}(`;
}
