import type { LookupContext } from '../session/read-context.ts';
import type { Atom } from '../contract/language.ts';
import { editDistance } from '../base/edit-distance.ts';
import { compareText } from '../base/text-order.ts';
import { Dictionary } from '../store/dictionary.ts';
import type { AliasStore } from '../store/alias-store.ts';
import type { FactStore } from '../store/fact-store.ts';
import { RelationNames, spellingOf } from '../store/relation-names.ts';
import type { RuleStore } from '../store/rule-store.ts';
import { atomsOf } from '../language/terms.ts';
import { renderAtom } from '../language/print.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import type { Program } from '../datalog/model/program.ts';

/** The sources of known names. */
export interface KnownFrom {
  /** Stored facts, then those that a transaction adds. */
  readonly stores: readonly FactStore[];
  readonly rules: readonly RelationNames[];
  /** Constants that rules mention. */
  readonly ruled: ReadonlySet<string>;
  readonly generation: number;
  readonly time: number;
  /** null: aliases are not looked at. */
  readonly aliases?: AliasStore | null;
  /** The declared names of arguments. */
  readonly names: ArgumentNames;
}

/** Maximum number of names compared with an unknown one. */
const maxNamesCompared = 50_000;
/** Maximum dictionary size for a full scan of spellings; larger ones are only probed with guesses. */
const maxConstantsScanned = 4_000_000;
/** Maximum number of rows scanned for constants; constants past it count as present. */
const maxRowsScanned = 16_000_000;
/** Maximum number of spellings collected for a constant. */
const maxSpellings = 16;

const namesOfPrograms = new WeakMap<Program, RelationNames>();

/**
 * The predicates, arities and constants that a caller can mean: those of the tenant's stored facts and of the rules.
 *
 * Facts count if stored at the generation and time; other tenants are never read. A name look-up costs as much as it
 * finds; scans of names, constants or rows are bounded.
 */
export class KnownNames {
  readonly #from: KnownFrom;
  #rowsScanned = 0;

  constructor(from: KnownFrom) {
    this.#from = from;
  }

  /** The names visible to the context's reader, including its overlay. */
  static of({ database, tenant: { aliases }, reader }: LookupContext): KnownNames {
    const { facts, generation, time, overlay, program, names } = reader;
    const rules = [database.rules.names];
    const ruled = program.constants;
    if (overlay === null)
      return new KnownNames({ stores: [facts], rules, ruled, generation, time, aliases, names });
    let own = namesOfPrograms.get(program);
    if (own === undefined) namesOfPrograms.set(program, (own = namesOf(program)));
    return new KnownNames({
      stores: [facts, overlay.added.facts],
      rules: [...rules, own],
      ruled,
      generation,
      time,
      aliases,
      names,
    });
  }

  /**
   * The names known before a write; `store` null: the tenant has no facts. `own`: relations that its transaction
   * asserts.
   */
  static forWriting(
    store: FactStore | null,
    rules: RuleStore,
    moment: Pick<KnownFrom, 'generation' | 'time' | 'names'>,
    own: RelationNames | null = null,
  ): KnownNames {
    const stores = store === null ? [] : [store];
    const named = own === null ? [rules.names] : [rules.names, own];
    return new KnownNames({ stores, rules: named, ruled: new Set(), ...moment });
  }

  /** The entity that the constant is an alias of; null: it is none. */
  entityOf(constant: string): string | null {
    return this.#from.aliases?.get(constant)?.entity ?? null;
  }

  /** The declared names of the arguments, in order; none if they have none. */
  argumentsOf(name: string, arity: number): readonly string[] {
    return this.#from.names.of(name, arity) ?? [];
  }

  /** True if a fact of it is stored or a rule mentions it. */
  has(name: string, arity: number): boolean {
    return this.#isStated(name, arity) || this.isRuled(name, arity);
  }

  isRuled(name: string, arity: number): boolean {
    for (const names of this.#from.rules)
      for (const each of names.arities(name)) if (each === arity) return true;
    return false;
  }

  #isStated(name: string, arity: number): boolean {
    const { stores, generation, time } = this.#from;
    for (const store of stores)
      for (const relation of store.relationsOf(name))
        if (relation.arity === arity && relation.holdsAny(generation, time)) return true;
    return false;
  }

  /** Ascending; empty if the name is unknown. */
  arities(name: string): number[] {
    const { stores, rules, generation, time } = this.#from;
    const found = new Set<number>();
    for (const names of rules) for (const arity of names.arities(name)) found.add(arity);
    for (const store of stores)
      for (const relation of store.relationsOf(name))
        if (relation.holdsAny(generation, time)) found.add(relation.arity);
    return [...found].sort((left, right) => left - right);
  }

  isKnown(name: string): boolean {
    return this.arities(name).length > 0;
  }

  /** Other known names with the same normalized spelling, those of the arity first, then by code point. */
  spelledLike(name: string, arity: number): string[] {
    const found = new Set<string>();
    for (const names of this.#allNames())
      for (const each of names.spelledLike(name)) if (each !== name && this.isKnown(each)) found.add(each);
    return [...found].sort(
      (left, right) =>
        Number(this.has(right, arity)) - Number(this.has(left, arity)) || compareText(left, right),
    );
  }

  /** The known name most similar to this unknown one; null if none is similar. */
  nearest(name: string, arity: number): string | null {
    const [same] = this.spelledLike(name, arity);
    if (same !== undefined) return same;
    const ranked: { name: string; rank: number }[] = [];
    const likeness = new Likeness(name);
    let looked = 0;
    for (const names of this.#allNames())
      for (const each of names.names()) {
        if (++looked > maxNamesCompared) break;
        const rank = likeness.rank(each);
        if (rank !== null) ranked.push({ name: each, rank });
      }
    ranked.sort((left, right) => left.rank - right.rank || compareText(left.name, right.name));
    let first: string | null = null;
    for (const each of ranked.slice(0, maxSpellings)) {
      if (each.rank > (ranked[0]?.rank ?? 0) + 1 && first !== null) break;
      if (!this.isKnown(each.name)) continue;
      if (this.has(each.name, arity)) return each.name;
      first ??= each.name;
    }
    return first;
  }

  #allNames(): RelationNames[] {
    const { stores, rules } = this.#from;
    return [...stores.map((store) => store.names), ...rules];
  }

  /** True if any stored fact has the constant. */
  hasConstant(constant: string): boolean {
    const { stores } = this.#from;
    return stores.some((store) => {
      const id = store.dictionary.find(constant);
      if (id < 0) return false;
      for (const relation of store.relations.values())
        for (let position = 0; position < relation.arity; position++)
          if (this.#isAt(relation, position, id)) return true;
      return false;
    });
  }

  /** True if a stored fact of the relation, of either truth value, has the constant at this position. */
  hasConstantAt(name: string, arity: number, position: number, constant: string): boolean {
    return this.#from.stores.some((store) => {
      const id = store.dictionary.find(constant);
      if (id < 0) return false;
      for (const relation of store.relationsOf(name))
        if (relation.arity === arity && this.#isAt(relation, position, id)) return true;
      return false;
    });
  }

  #isAt(relation: FactRelation, position: number, id: number): boolean {
    this.#rowsScanned += relation.count + 64;
    if (this.#rowsScanned > maxRowsScanned) return true;
    return relation.holdsAt(position, id, this.#from.generation, this.#from.time);
  }

  /**
   * Constants of stored facts with the same normalized spelling: another case, other quotes, `_` for a space, or
   * without the final full stop. By code point; without the constant itself.
   */
  otherSpellings(constant: string): string[] {
    const found = new Set(this.#guessed(constant));
    for (const { dictionary } of this.#from.stores)
      if (dictionary instanceof Dictionary && dictionary.size <= maxConstantsScanned)
        for (const id of alikeIn(dictionary, constant)) found.add(dictionary.text(id));
    found.delete(constant);
    const { ruled } = this.#from;
    for (const guess of guesses(constant)) if (ruled.has(guess)) found.add(guess);
    return [...found].filter((each) => ruled.has(each) || this.hasConstant(each)).sort(compareText);
  }

  /** `otherSpellings` for one position of a relation, with a few look-ups. */
  guessedAt(name: string, arity: number, position: number, constant: string): string[] {
    return this.#guessed(constant).filter((each) => this.hasConstantAt(name, arity, position, each));
  }

  /** True if the constant has never been stored. */
  isNew(constant: string): boolean {
    return this.#from.stores.every(({ dictionary }) => dictionary.find(constant) < 0);
  }

  /** Likely spellings that are in a dictionary. */
  #guessed(constant: string): string[] {
    const found: string[] = [];
    for (const guess of guesses(constant))
      if (this.#from.stores.some(({ dictionary }) => dictionary.find(guess) >= 0)) found.push(guess);
    return found;
  }

  /** True if the ground atom is stored in any scope. */
  isStored({ predicate, args, negated }: Atom): boolean {
    const { stores, generation, time } = this.#from;
    return stores.some((store) =>
      store
        .versionsOf(predicate, args, !negated, { kind: 'all' })
        .some(({ relation, row }) => relation.isHeld(row, generation, time)),
    );
  }

  /** A stored fact of the relation, rendered; null if none is found quickly. */
  example(name: string, arity: number): string | null {
    const { stores, generation, time } = this.#from;
    for (const store of stores)
      for (const relation of store.relationsOf(name))
        if (relation.arity === arity)
          for (let row = 0; row < Math.min(relation.count, 1000); row++)
            if (relation.isHeld(row, generation, time))
              return renderAtom({
                predicate: name,
                args: store.argsOf({ relation, row }),
                negated: relation.negated,
              });
    return null;
  }
}

/** LRU cache of similar constants: their ids up to `through`. A dictionary only grows. */
const alikeCache = new WeakMap<
  Dictionary,
  Map<string, { readonly through: number; readonly ids: number[] }>
>();
const maxCachedConstants = 256;

/** Ids of constants with a similar spelling. For a cached constant it scans only new entries. */
function alikeIn(dictionary: Dictionary, constant: string): readonly number[] {
  let before = alikeCache.get(dictionary);
  if (before === undefined) alikeCache.set(dictionary, (before = new Map()));
  const { through, ids } = before.get(constant) ?? { through: 0, ids: [] };
  const { size } = dictionary;
  const room = maxSpellings - ids.length;
  const all =
    size === through || room <= 0 ? ids : [...ids, ...dictionary.alike(plainForms(constant), room, through)];
  before.delete(constant);
  before.set(constant, { through: size, ids: all });
  for (const [oldest] of before) {
    if (before.size <= maxCachedConstants) break;
    before.delete(oldest);
  }
  return all;
}

type FactRelation = ReturnType<FactStore['relationsOf']>[number];

function namesOf(program: Program): RelationNames {
  const names = new RelationNames();
  for (const { rule } of program.rules)
    for (const { predicate, args } of atomsOf(rule)) names.add(predicate, args.length);
  return names;
}

const quoted = /^(["'`])(.*)\1$|^[“”„](.*)[“”]$|^[‘’](.*)[‘’]$/su;

/** The constant without surrounding quotes and space, and also without sentence punctuation. */
function plainForms(constant: string): string[] {
  const trimmed = constant.trim();
  const match = quoted.exec(trimmed);
  const inner = match === null ? trimmed : (match[2] ?? match[3] ?? match[4] ?? '');
  const forms = new Set([inner.trim(), inner.replace(/[\s.?!,;:]+$/u, '').trim()]);
  forms.delete('');
  return [...forms];
}

/** Likely spellings of the constant, most likely first; without itself. */
function guesses(constant: string): Set<string> {
  const found = new Set<string>();
  for (const form of plainForms(constant)) {
    const lower = form.toLowerCase();
    for (const each of [form, lower])
      for (const guess of [each, each.replaceAll(' ', '_'), each.replaceAll('_', ' ')]) found.add(guess);
    found.add(form.toUpperCase());
    found.add(capitalized(lower));
    found.add(
      lower.replace(
        /(^|[\s_-])(\p{L})/gu,
        (_, before: string, letter: string) => before + letter.toUpperCase(),
      ),
    );
  }
  found.delete(constant);
  return found;
}

function capitalized(text: string): string {
  return text.replace(/^\p{L}/u, (letter) => letter.toUpperCase());
}

/** Ranks names by similarity to a given one. */
class Likeness {
  readonly #plain: string;
  readonly #letters: number;
  readonly #words: string[];
  readonly #maxDistance: number;

  constructor(name: string) {
    this.#plain = spellingOf(name);
    this.#letters = lettersOf(this.#plain);
    this.#words = wordsOf(name);
    this.#maxDistance = this.#plain.length <= 3 ? 1 : this.#plain.length <= 7 ? 2 : 3;
  }

  /** Lower is more similar; null: not similar. */
  rank(other: string): number | null {
    const plain = spellingOf(other);
    const apart = bits(lettersOf(plain) ^ this.#letters);
    if (Math.abs(plain.length - this.#plain.length) <= this.#maxDistance && apart <= 2 * this.#maxDistance) {
      const distance = editDistance(plain, this.#plain);
      if (distance <= this.#maxDistance && distance < Math.max(plain.length, this.#plain.length) - 1)
        return distance;
    }
    const words = wordsOf(other);
    if (isWithin(words, this.#words) || isWithin(this.#words, words))
      return 10 + Math.abs(words.length - this.#words.length);
    let shared = 0;
    while (shared < plain.length && plain[shared] === this.#plain[shared]) shared++;
    return shared >= 4 && shared * 3 >= Math.max(plain.length, this.#plain.length) ? 200 - shared : null;
  }
}

const small = new Set(['is', 'of', 'a', 'the', 'has', 'in', 'to', 'by', 'for', 'was', 'are', 'not']);

/** The words of a name without stop words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/\/\d+$/, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .split(/[_\-.]+/)
    .filter((word) => word.length > 1 && !small.has(word));
}

function isWithin(some: readonly string[], all: readonly string[]): boolean {
  return some.length > 0 && some.every((word) => word.length >= 3 && all.includes(word));
}

/** A bit set of the letters in the text. */
function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) letters |= 1 << (text.charCodeAt(at) & 31);
  return letters;
}

function bits(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}
