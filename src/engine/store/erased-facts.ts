/**
 * Which stored facts are about an entity, and how they leave no trace: no snapshot that is taken afterwards has a byte of
 * them.
 *
 * A fact is about an entity if one of the entity's names is one of its arguments, or one of the values that it sums up as a
 * summary of a consolidation.
 */
import type { Consolidation } from '../contract/memory.ts';
import type { Metadata } from '../contract/facts.ts';
import type { FactRow, FactStore } from './fact-store.ts';

/** Whether facts are about an entity, by its names. */
export class ErasedFacts {
  readonly #names: ReadonlySet<string>;
  /** The names as JSON has them, also quoted within a text. */
  readonly #inJson: readonly string[];

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
    const forms = [...this.#names].flatMap((name) => [escaped(name), escaped(escaped(name))]);
    this.#inJson = [...new Set(forms)].filter((form) => form !== '');
  }

  /** Whether a fact with these arguments and this metadata is about the entity. */
  has(args: readonly string[], metadata: Metadata | null = null): boolean {
    return args.some((arg) => this.#names.has(arg)) || this.#isSummary(metadata);
  }

  /** Whether the text, or the name, is one of the entity's names. */
  isName(text: string): boolean {
    return this.#names.has(text);
  }

  /** Whether the JSON has one of the names, as a text or as words in one. */
  isIn(json: string): boolean {
    return this.#inJson.some((form) => {
      for (let at = json.indexOf(form); at >= 0; at = json.indexOf(form, at + 1))
        if (!isWithin(json, at) && !isWithin(json, at + form.length)) return true;
      return false;
    });
  }

  /** Whether the version in this row is of such a fact. */
  hasRow(facts: FactStore, { relation, row }: FactRow): boolean {
    return this.#test(facts)(
      (position) => (relation.columns[position] as Int32Array)[row] as number,
      relation.arity,
      relation.metadata.size === 0 ? null : (relation.metadata.get(row) ?? null),
    );
  }

  /** All rows of such facts, dead and alive; null now and then, to take a break. */
  *rowsOf(facts: FactStore): Generator<FactRow | null, void, undefined> {
    const test = this.#test(facts);
    let looked = 0;
    for (const relation of facts.relations.values()) {
      const { columns, metadata, arity, count } = relation;
      for (let row = 0; row < count; row++) {
        if (++looked % rowsInSlice === 0) yield null;
        const of = metadata.size === 0 ? null : (metadata.get(row) ?? null);
        if (test((position) => (columns[position] as Int32Array)[row] as number, arity, of))
          yield { relation, row };
      }
    }
  }

  /**
   * Leaves no trace of these rows, none of which is alive any more, and of what else is remembered of such facts, in later
   * snapshots. What can have changed them counts as changed in this generation.
   */
  erase(facts: FactStore, rows: Iterable<FactRow>, generation: number): void {
    for (const { relation, row } of rows) {
      relation.endCompaction();
      relation.erased ??= new Set();
      relation.erased.add(relation.number[row] as number);
      relation.forgottenThrough = Math.max(relation.forgottenThrough, generation);
    }
    const test = this.#test(facts);
    facts.forgetTraces((args, metadata) =>
      test((position) => args[position] as number, args.length, metadata),
    );
  }

  #test(
    facts: FactStore,
  ): (idAt: (position: number) => number, arity: number, metadata: Metadata | null) => boolean {
    const ids = new Set<number>();
    for (const name of this.#names) {
      const id = facts.dictionary.find(name);
      if (id >= 0) ids.add(id);
    }
    return (idAt, arity, metadata) => {
      for (let position = 0; position < arity; position++) if (ids.has(idAt(position))) return true;
      return metadata !== null && this.#isSummary(metadata);
    };
  }

  #isSummary(metadata: Metadata | null): boolean {
    const values = (metadata?.['consolidated'] as Partial<Consolidation> | undefined)?.values;
    return Array.isArray(values) && values.some((each) => this.#names.has(String(each?.value)));
  }
}

/** Whether the position is within a word; an escape before it is none. */
function isWithin(json: string, at: number): boolean {
  const [before = '', after = ''] = [json[at - 1], json[at]];
  if (!letter.test(before) || !letter.test(after)) return false;
  return !(json[at - 2] === '\\' && 'bfnrt'.includes(before));
}

const letter = /^[\p{L}\p{N}_]$/u;

/** The text as JSON has it between its quotation marks. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Rows looked at between two breaks. */
const rowsInSlice = 4096;
