import { compareText } from '../base/text-order.ts';
import type { Declaration } from '../contract/declarations.ts';
import type { AliasStore } from '../store/alias-store.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { type FactRow, indexedRows } from '../store/fact-matching.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { type ReadContext, visibleIn } from '../session/read-context.ts';
import type { Program } from '../datalog/model/program.ts';
import { atomsOf, relationOf } from '../language/terms.ts';
import { isStopWord, foldedName, stemmedName, stemOf, termsOf, wordsOf } from './words.ts';

/** Most facts of a constant that are counted. */
const maxCounted = 4_096;

/** Rows added to an index between two looks at the clock. */
const rowsInSlice = 4_096;

/** A relation that facts hold or rules conclude. */
export interface KnownRelation {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  /** True if a rule concludes it in the view. */
  readonly isConcluded: boolean;
}

/**
 * The stored facts of a view by the constants in them, and the names that a text can mean there: constants of visible
 * facts and of rules, and predicates.
 */
export class ViewNames {
  readonly context: ReadContext;
  readonly view: ScopeChoice;
  /** True for the predicates that count. */
  readonly isWanted: (predicate: string) => boolean;
  readonly #isVisible: (relation: StoredRelation, row: number) => boolean;
  readonly #present = new Map<number, boolean>();
  #relations: KnownRelation[] | null = null;
  #predicates: PredicateNames | null = null;
  #aliases: ReadonlyMap<string, readonly string[]> = new Map();
  #declared: ReadonlyMap<string, readonly Declaration[]> | null = null;
  readonly #terms = new Map<string, ReadonlySet<string>>();

  /** `predicates`: the only ones that count; null: all. */
  constructor(context: ReadContext, view: ScopeChoice, predicates: readonly string[] | null) {
    this.context = context;
    this.view = view;
    this.#isVisible = visibleIn(context, view);
    const wanted = predicates === null ? null : new Set(predicates);
    this.isWanted = (predicate) => wanted?.has(predicate) ?? true;
  }

  /** The wanted stored relations with rows, in order of creation. */
  *stored(): Generator<StoredRelation> {
    for (const relation of this.context.tenant.facts.relations.values())
      if (relation.count > 0 && this.isWanted(relation.predicate)) yield relation;
  }

  /** Builds the indexes that `factsWith` and `usesOf` look into, in slices: they would be built in one turn there. */
  async buildIndexes(): Promise<void> {
    for (const relation of this.stored())
      for (let position = 0; position < relation.arity; position++) {
        const index = relation.indexToBuild([position]);
        while (!index.takeIn(relation.count, rowsInSlice)) await this.context.pacer.breathe();
      }
  }

  /** True if the row is of a wanted relation, as it is now, and visible. */
  isVisible({ relation, row }: FactRow): boolean {
    const { facts } = this.context.tenant;
    const now = facts.relation(relation.predicate, relation.arity, relation.negated);
    return now === relation && this.isWanted(relation.predicate) && this.#isVisible(relation, row);
  }

  /**
   * The visible facts with this constant, once each: relation by relation, newest first, at most `most` of each
   * argument of a relation.
   */
  factsWith(constant: number, most: number): FactRow[] {
    const found: FactRow[] = [];
    for (const relation of this.stored())
      for (let position = 0; position < relation.arity; position++) {
        const index = relation.index([position]);
        let left = most;
        for (
          let next = index.firstOf(constant);
          next !== 0 && left > 0;
          next = index.next[next - 1] as number
        ) {
          const row = next - 1;
          if (this.#occursBefore(relation, row, position, constant) || !this.#isVisible(relation, row))
            continue;
          found.push({ relation, row });
          left--;
        }
      }
    return found;
  }

  /** About how many wanted facts have the constant, counted up to some thousands; the invisible too. */
  usesOf(constant: number): number {
    let uses = 0;
    for (const relation of this.stored())
      for (let position = 0; position < relation.arity; position++) {
        const index = relation.index([position]);
        for (let next = index.firstOf(constant); next !== 0; next = index.next[next - 1] as number)
          if (++uses === maxCounted) return uses;
      }
    return uses;
  }

  /** True if a visible fact has the constant. */
  has(constant: number): boolean {
    let isPresent = this.#present.get(constant);
    if (isPresent === undefined) {
      isPresent = this.#find(constant);
      this.#present.set(constant, isPresent);
    }
    return isPresent;
  }

  #find(constant: number): boolean {
    for (const relation of this.stored())
      for (let position = 0; position < relation.arity; position++) {
        const selection = { positions: [position], key: Int32Array.of(constant), equal: [], isGround: false };
        if (indexedRows(selection, relation, (row) => this.#isVisible(relation, row), 0) === null)
          return true;
      }
    return false;
  }

  #occursBefore({ columns }: StoredRelation, row: number, position: number, constant: number): boolean {
    for (let before = 0; before < position; before++)
      if ((columns[before] as Int32Array)[row] === constant) return true;
    return false;
  }

  /** Every wanted relation that holds a visible fact or that a rule concludes in the view; by name, arity, truth value. */
  relations(): readonly KnownRelation[] {
    if (this.#relations !== null) return this.#relations;
    const { program, generation, time } = this.context.reader;
    const found = new Map<string, KnownRelation>();
    for (const relation of program.conclusions()) {
      const key = relationOf({ ...relation, args: placeVariables(relation.arity) });
      if (this.isWanted(relation.predicate) && program.rulesFor(this.view, key).length > 0)
        found.set(key, { ...relation, isConcluded: true });
    }
    for (const relation of this.stored()) {
      const { predicate, arity, negated } = relation;
      const key = relationOf({ predicate, args: placeVariables(arity), negated });
      if (!found.has(key) && relation.holdsAny(generation, time))
        found.set(key, { predicate, arity, negated, isConcluded: false });
    }
    this.#relations = [...found.values()].sort(
      (left, right) =>
        compareText(left.predicate, right.predicate) ||
        left.arity - right.arity ||
        Number(left.negated) - Number(right.negated),
    );
    return this.#relations;
  }

  /** The terms of a predicate's name and of the names of its declared arguments, of every arity. */
  termsOfPredicate(predicate: string): ReadonlySet<string> {
    let terms = this.#terms.get(predicate);
    if (terms !== undefined) return terms;
    const named = this.#declarationsOf(predicate).flatMap((each) => each.arguments.map(({ name }) => name));
    terms = new Set([predicate, ...named].flatMap(termsOf));
    this.#terms.set(predicate, terms);
    return terms;
  }

  /** What declarations say of a predicate and its arguments, line by line; empty if nothing. */
  descriptionOf(predicate: string): string {
    return this.#declarationsOf(predicate)
      .flatMap((each) => [each.description, ...each.arguments.map(({ description }) => description)])
      .filter((text) => text !== null)
      .join('\n');
  }

  #declarationsOf(predicate: string): readonly Declaration[] {
    if (this.#declared === null) {
      const declared = new Map<string, Declaration[]>();
      for (const each of this.context.database.declarations.all()) {
        const others = declared.get(each.name);
        if (others === undefined) declared.set(each.name, [each]);
        else others.push(each);
      }
      this.#declared = declared;
    }
    return this.#declared.get(predicate) ?? [];
  }

  /**
   * The predicates with this name in any inflection, as `stemmedName` gives it, else those whose name is this but for
   * function words, as `live` is `lives_in`; by code point.
   */
  predicatesNamed(stemmed: string): readonly string[] {
    const { whole, bare } = this.#named();
    return whole.get(stemmed) ?? bare.get(stemmed) ?? [];
  }

  /** The stemmed names of all predicates. */
  predicateNames(): Iterable<string> {
    return this.#named().whole.keys();
  }

  #named(): PredicateNames {
    if (this.#predicates !== null) return this.#predicates;
    const names: PredicateNames = { whole: new Map(), bare: new Map() };
    for (const predicate of new Set(this.relations().map((relation) => relation.predicate))) {
      listIn(names.whole, stemmedName(predicate), predicate);
      const telling = wordsOf(predicate).filter(({ text }) => !isTooCommon(text));
      const bare = telling.map(({ text }) => stemOf(text)).join('');
      if (bare !== '') listIn(names.bare, bare, predicate);
    }
    this.#predicates = names;
    return names;
  }

  /** Takes the names of the tenant's aliases; call it before `aliasedNamed`. */
  async takeAliases(): Promise<void> {
    const { tenant, pacer } = this.context;
    const known = namesOfAliases.get(tenant.aliases);
    if (known?.version === tenant.aliases.version) {
      this.#aliases = known.names;
      return;
    }
    const { version } = tenant.aliases;
    const names = new Map<string, string[]>();
    for (const [at, { alias, entity }] of tenant.aliases.all().entries()) {
      if ((at & 0x1ff) === 0x1ff) await pacer.breathe();
      listIn(names, foldedName(alias), entity);
    }
    namesOfAliases.set(tenant.aliases, { version, names });
    this.#aliases = names;
  }

  /** The entities with an alias of this name that the view has. */
  aliasedNamed(name: string): string[] {
    return (this.#aliases.get(name) ?? []).filter((entity) => this.hasText(entity));
  }

  /** True if a visible fact or a rule has the constant. */
  hasText(constant: string): boolean {
    const { tenant, reader } = this.context;
    const id = tenant.facts.dictionary.find(constant);
    return (id >= 0 && this.has(id)) || reader.program.constants.has(constant);
  }

  /** The constants of rules with this name, by code point. */
  ruledNamed(name: string): readonly string[] {
    return ruledNames(this.context.reader.program).get(name) ?? [];
  }
}

/** Predicates by their stemmed name, and by it without function words. */
interface PredicateNames {
  readonly whole: Map<string, string[]>;
  readonly bare: Map<string, string[]>;
}

function listIn(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Variables for the arguments of an atom. */
export function placeVariables(arity: number): string[] {
  return Array.from({ length: arity }, (_, position) => `?x${position + 1}`);
}

/** The entities of a tenant's aliases by the folded name of the alias, as of a version of the aliases. */
const namesOfAliases = new WeakMap<
  AliasStore,
  { readonly version: number; readonly names: ReadonlyMap<string, readonly string[]> }
>();

const namesOfRules = new WeakMap<Program, Map<string, string[]>>();

/** The constants of a program's rules by their name. */
function ruledNames(program: Program): Map<string, string[]> {
  let names = namesOfRules.get(program);
  if (names !== undefined) return names;
  names = new Map();
  for (const constant of [...program.constants].sort(compareText)) {
    listIn(names, foldedName(constant), constant);
  }
  namesOfRules.set(program, names);
  return names;
}

/** The predicates of a rule's head and body, each once. */
export function predicatesOfRule(rule: Parameters<typeof atomsOf>[0]): string[] {
  return [...new Set([...atomsOf(rule)].map(({ predicate }) => predicate))];
}

/** True for a word that names something only where it is quoted or the whole text. */
export function isTooCommon(word: string): boolean {
  return isStopWord(word) || [...word].length === 1;
}
