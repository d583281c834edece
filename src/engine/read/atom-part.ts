import { Dictionary } from '../store/dictionary.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';

/**
 * A case-insensitive substring filter over rendered atoms.
 *
 * A substring of ASCII letters, digits and underscores contains no bracket, comma or quote and so lies within one
 * constant; its bytes decide unless the constant is rendered differently from how it is stored. Other substrings are
 * searched in the rendered atom.
 */
export class AtomPart {
  readonly #text: string;
  /** null: may span several constants. */
  readonly #bytes: Uint8Array | null;

  constructor(text: string) {
    this.#text = text.toLowerCase();
    this.#bytes = /^[a-z0-9_]+$/.test(this.#text) ? new TextEncoder().encode(this.#text) : null;
  }

  /** True if the predicate's name contains it, and so every atom does. */
  isInName(predicate: string): boolean {
    return predicate.toLowerCase().includes(this.#text);
  }

  /**
   * True if the fact contains it outside the predicate's name. Adds the cost to `work`, in steps of some hundred ns.
   */
  isIn(facts: FactStore, { relation, row }: FactRow, work: { steps: number }): boolean {
    const { predicate, arity, negated, columns } = relation;
    const { dictionary } = facts;
    if (this.#bytes !== null && dictionary instanceof Dictionary) {
      let isSure = true;
      for (let position = 0; position < arity && isSure; position++) {
        const id = (columns[position] as Int32Array)[row] as number;
        work.steps += dictionary.sizeOf(id) / 64;
        const holds = dictionary.holds(id, this.#bytes);
        if (holds === true) return true;
        isSure = holds === false;
      }
      if (isSure) return false;
    }
    const atom = renderAtom({ predicate, args: facts.argsOf({ relation, row }), negated });
    work.steps += 4 + atom.length / 16;
    return atom.toLowerCase().includes(this.#text);
  }
}
