import type { LookupContext } from '../session/read-context.ts';
import type { Atom } from '../contract/language.ts';
import { compareText } from '../base/text-order.ts';
import { Dictionary } from '../store/dictionary.ts';
import type { FactStore } from '../store/fact-store.ts';
import { RelationNames, spellingOf } from '../store/relation-names.ts';
import type { RuleStore } from '../store/rule-store.ts';
import { atomsOf } from '../language/terms.ts';
import { renderAtom } from '../language/print.ts';
import type { Program } from '../datalog/model/program.ts';

/**
 * The predicates, arities and constants that a caller can mean: those of the tenant's stored facts and of the rules.
 *
 * What is stored is what counts as stored at the generation and time; of other tenants nothing is looked at. A look-up of a
 * name costs as much as it finds; what goes over names, constants or rows goes over so many at most, whatever there is.
 */
export interface KnownFrom {
  /** Stored facts, then those that a transaction adds. */
  readonly stores: readonly FactStore[];
  readonly rules: readonly RelationNames[];
  /** Constants that rules name. */
  readonly ruled: ReadonlySet<string>;
  readonly generation: number;
  readonly time: number;
}

/** So many names are compared with one that is not known. */
const mostNames = 50_000;
/** In so many constants another spelling is looked for; in more it is found by guessing alone. */
const mostConstants = 4_000_000;
/** So many places of constants are looked at to find where they are; what is past them counts as there. */
const mostPlaces = 16_000_000;
/** So many spellings of one constant are told apart. */
const mostSpellings = 16;

const namesOfPrograms = new WeakMap<Program, RelationNames>();

export class KnownNames {
  readonly #from: KnownFrom;
  #places = 0;

  constructor(from: KnownFrom) {
    this.#from = from;
  }

  /** What the context's reader can mean; with an overlay, what that adds too. */
  static of({ database, reader }: LookupContext): KnownNames {
    const { facts, generation, time, overlay, program } = reader;
    const rules = [database.rules.names];
    const ruled = program.constants;
    if (overlay === null) return new KnownNames({ stores: [facts], rules, ruled, generation, time });
    let own = namesOfPrograms.get(program);
    if (own === undefined) namesOfPrograms.set(program, (own = namesOf(program)));
    return new KnownNames({
      stores: [facts, overlay.added.facts],
      rules: [...rules, own],
      ruled,
      generation,
      time,
    });
  }

  /** What a writer can mean before the write; `store` null: the tenant has no facts. `own`: what its transaction asserts. */
  static forWriting(
    store: FactStore | null,
    rules: RuleStore,
    moment: Pick<KnownFrom, 'generation' | 'time'>,
    own: RelationNames | null = null,
  ): KnownNames {
    const stores = store === null ? [] : [store];
    const named = own === null ? [rules.names] : [rules.names, own];
    return new KnownNames({ stores, rules: named, ruled: new Set(), ...moment });
  }

  /** True where a fact is stored of it or a rule names it. */
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

  /** Ascending; none where the name is not known. */
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

  /** Known names that are written like this one, by code point; those of the arity first. Not itself. */
  spelledLike(name: string, arity: number): string[] {
    const found = new Set<string>();
    for (const names of this.#allNames())
      for (const each of names.spelledLike(name)) if (each !== name && this.isKnown(each)) found.add(each);
    return [...found].sort(
      (left, right) =>
        Number(this.has(right, arity)) - Number(this.has(left, arity)) || compareText(left, right),
    );
  }

  /** The known name nearest to this one, which is not known; null where none is like it. */
  nearest(name: string, arity: number): string | null {
    const [same] = this.spelledLike(name, arity);
    if (same !== undefined) return same;
    const ranked: { name: string; rank: number }[] = [];
    const likeness = new Likeness(name);
    let looked = 0;
    for (const names of this.#allNames())
      for (const each of names.names()) {
        if (++looked > mostNames) break;
        const rank = likeness.rank(each);
        if (rank !== null) ranked.push({ name: each, rank });
      }
    ranked.sort((left, right) => left.rank - right.rank || compareText(left.name, right.name));
    let first: string | null = null;
    for (const each of ranked.slice(0, mostSpellings)) {
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

  /** True where a stored fact has the constant, wherever. */
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

  /** True where a stored fact of the relation, of whatever truth value, has the constant at this position. */
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
    this.#places += relation.count + 64;
    if (this.#places > mostPlaces) return true;
    return relation.holdsAt(position, id, this.#from.generation, this.#from.time);
  }

  /**
   * Constants of stored facts that are written like this one: in another case, with other quotes, with `_` for a space, without
   * the full stop at the end. By code point; not itself.
   */
  otherSpellings(constant: string): string[] {
    const found = new Set(this.#guessed(constant));
    for (const { dictionary } of this.#from.stores)
      if (dictionary instanceof Dictionary && dictionary.size <= mostConstants)
        for (const id of alikeIn(dictionary, constant)) found.add(dictionary.text(id));
    found.delete(constant);
    const { ruled } = this.#from;
    for (const guess of guesses(constant)) if (ruled.has(guess)) found.add(guess);
    return [...found].filter((each) => ruled.has(each) || this.hasConstant(each)).sort(compareText);
  }

  /** As `otherSpellings`, of the relation at this position, in a few look-ups. */
  guessedAt(name: string, arity: number, position: number, constant: string): string[] {
    return this.#guessed(constant).filter((each) => this.hasConstantAt(name, arity, position, each));
  }

  /** True where the constant has never been stored. */
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

  /** True where the ground atom is stored, in whatever scope. */
  isStored({ predicate, args, negated }: Atom): boolean {
    const { stores, generation, time } = this.#from;
    return stores.some((store) =>
      store
        .versionsOf(predicate, args, !negated, { kind: 'all' })
        .some(({ relation, row }) => relation.isHeld(row, generation, time)),
    );
  }

  /** A stored fact of the relation, rendered; null where none is found at once. */
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

/** What was found of constants that were looked for last: ids, among those up to one. A dictionary only grows. */
const alikeBefore = new WeakMap<
  Dictionary,
  Map<string, { readonly through: number; readonly ids: number[] }>
>();
const mostRemembered = 256;

/** Ids of constants written like this one. Of one that was looked for before, only what is new since is looked at. */
function alikeIn(dictionary: Dictionary, constant: string): readonly number[] {
  let before = alikeBefore.get(dictionary);
  if (before === undefined) alikeBefore.set(dictionary, (before = new Map()));
  const { through, ids } = before.get(constant) ?? { through: 0, ids: [] };
  const { size } = dictionary;
  const room = mostSpellings - ids.length;
  const all =
    size === through || room <= 0 ? ids : [...ids, ...dictionary.alike(plainForms(constant), room, through)];
  before.delete(constant);
  before.set(constant, { through: size, ids: all });
  for (const [oldest] of before) {
    if (before.size <= mostRemembered) break;
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

/** The constant without quotes and space around it, and without what ends a sentence too. */
function plainForms(constant: string): string[] {
  const trimmed = constant.trim();
  const match = quoted.exec(trimmed);
  const inner = match === null ? trimmed : (match[2] ?? match[3] ?? match[4] ?? '');
  const forms = new Set([inner.trim(), inner.replace(/[\s.?!,;:]+$/u, '').trim()]);
  forms.delete('');
  return [...forms];
}

/** How somebody may have written it, the likeliest first; not itself. */
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

/** How like other names are to one. */
class Likeness {
  readonly #plain: string;
  readonly #letters: number;
  readonly #words: string[];
  readonly #most: number;

  constructor(name: string) {
    this.#plain = spellingOf(name);
    this.#letters = lettersOf(this.#plain);
    this.#words = wordsOf(name);
    this.#most = this.#plain.length <= 3 ? 1 : this.#plain.length <= 7 ? 2 : 3;
  }

  /** Lower is liker; null: they are not alike. */
  rank(other: string): number | null {
    const plain = spellingOf(other);
    const apart = bits(lettersOf(plain) ^ this.#letters);
    if (Math.abs(plain.length - this.#plain.length) <= this.#most && apart <= 2 * this.#most) {
      const distance = distanceOf(plain, this.#plain);
      if (distance <= this.#most && distance < Math.max(plain.length, this.#plain.length) - 1)
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

/** The words of a name, without those that say little. */
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

/** A bit for each letter that is there. */
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

/** Insertions, deletions, replacements, and neighbours exchanged, that make one text of the other. */
function distanceOf(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const here = [row];
    for (let at = 1; at <= right.length; at++) {
      const isSame = left[row - 1] === right[at - 1];
      let least = Math.min(
        (above[at] as number) + 1,
        (here[at - 1] as number) + 1,
        (above[at - 1] as number) + (isSame ? 0 : 1),
      );
      if (row > 1 && at > 1 && left[row - 1] === right[at - 2] && left[row - 2] === right[at - 1])
        least = Math.min(least, (before[at - 2] as number) + 1);
      here.push(least);
    }
    [before, above] = [above, here];
  }
  return above[right.length] as number;
}
