import { Dictionary } from '../store/dictionary.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';

/**
 * A part of an atom that facts are looked through for, whatever the case of its letters.
 *
 * Atoms are compared as they are written. Most need not be: a part of nothing but ASCII letters, digits and underscores
 * goes over no bracket, comma or quote, and so lies within one constant, whose bytes tell unless it is written otherwise
 * than it is stored.
 */
export class AtomPart {
  readonly #text: string;
  /** null where it may go over more than one constant. */
  readonly #bytes: Uint8Array | null;

  constructor(text: string) {
    this.#text = text.toLowerCase();
    this.#bytes = /^[a-z0-9_]+$/.test(this.#text) ? new TextEncoder().encode(this.#text) : null;
  }

  /** True where every atom of the predicate has it. */
  isInName(predicate: string): boolean {
    return predicate.toLowerCase().includes(this.#text);
  }

  /** Whether the fact has it outside of the name. `work` is told how much was looked at, in steps of some hundred ns. */
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
