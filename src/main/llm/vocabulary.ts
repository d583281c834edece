/**
 * The relations of a knowledge base as a model sees them, and the spelling of a model's predicates.
 *
 * What the model sees is bounded, most used first, each with an example; the rest is known here all the same. An
 * unknown predicate is left as it is. One that differs only in case and punctuation from an existing predicate of the
 * same arity becomes that one, unless there are several.
 */
import type { Atom } from '../../engine/contract/language.ts';
import { canonicalName, type VocabularyEntry } from '../../engine/index.ts';

/** Maximum number of relations shown to a model. */
export const maxRelationsShown = 200;
/** Maximum characters of JSON for them. */
export const maxShownCharacters = 20_000;
/** Longer examples are left out. */
const maxExampleCharacters = 200;

/** A relation as a model sees it. */
export interface ShownRelation {
  readonly relation: string;
  readonly arguments: number;
  readonly facts: number;
  readonly concludedByRules?: number;
  readonly example?: string;
}

/** The relations of one knowledge base. */
export class Vocabulary {
  readonly #entries: readonly VocabularyEntry[];
  /** Predicate, arity and truth value of every relation. */
  readonly #relations = new Set<string>();
  /** Arities by predicate. */
  readonly #arities = new Map<string, Set<number>>();
  /** Predicates by canonical name and arity. */
  readonly #alike = new Map<string, Set<string>>();

  /** `entries`: most used first. */
  constructor(entries: readonly VocabularyEntry[]) {
    this.#entries = entries;
    for (const { predicate, arity, negated } of entries) {
      this.#relations.add(keyOf(predicate, arity, negated));
      addTo(this.#arities, predicate, arity);
      addTo(this.#alike, `${canonicalName(predicate)}/${arity}`, predicate);
    }
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Whether the predicate exists with this arity, with either truth value. */
  has(predicate: string, arity: number): boolean {
    return this.#arities.get(predicate)?.has(arity) ?? false;
  }

  /** Whether the atom's relation has stored facts or can be derived. */
  holds({ predicate, args, negated }: Readonly<Atom>): boolean {
    return this.#relations.has(keyOf(predicate, args.length, negated));
  }

  /** The predicate in its existing spelling. */
  spelt(predicate: string, arity: number): string {
    if (this.has(predicate, arity)) return predicate;
    const alike = this.#alike.get(`${canonicalName(predicate)}/${arity}`);
    if (alike === undefined || alike.size !== 1 || canonicalName(predicate) === '') return predicate;
    const [only = predicate] = alike;
    return only;
  }

  /** The known arities of the name, in words; null if there are none. */
  otherArities(predicate: string): string | null {
    const arities = [...(this.#arities.get(predicate) ?? [])].sort((a, b) => a - b);
    return arities.length === 0 ? null : arities.map((arity) => `${predicate}/${arity}`).join(', ');
  }

  shown(): ShownRelation[] {
    const shown: ShownRelation[] = [];
    let room = maxShownCharacters;
    for (const { predicate, arity, negated, facts, rules, example } of this.#entries) {
      if (shown.length === maxRelationsShown) break;
      const relation: ShownRelation = {
        relation: negated ? `-${predicate}` : predicate,
        arguments: arity,
        facts,
        ...(rules === 0 ? {} : { concludedByRules: rules }),
        ...(example === null || example.length > maxExampleCharacters ? {} : { example }),
      };
      room -= JSON.stringify(relation).length;
      if (room < 0) break;
      shown.push(relation);
    }
    return shown;
  }
}

function keyOf(predicate: string, arity: number, negated: boolean): string {
  return `${negated ? '-' : ''}${predicate}/${arity}`;
}

function addTo<Key, Value>(sets: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}
