import { type ReadContext, type ViewFields, visibleIn } from '../session/read-context.ts';
import { compareText } from '../base/text-order.ts';
import { entryOf } from './recall.ts';
import type { ContextEntry } from '../contract/memory.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { renderAtom } from '../language/print.ts';

/**
 * Finds parts of a text that may name a constant or a predicate: runs of words, in the usual spellings of names.
 *
 * "New York" may mean `New York`, `new york`, `new_york` or `New_York`. The dictionary knows which constants exist;
 * this module reads no facts.
 */

/** Maximum number of words in a name. */
export const maxWordsInName = 5;

const word = /[\p{L}\p{N}\p{M}_]+/gu;

/** A run of words of a text, with everything between them. */
interface WordRun {
  readonly words: readonly string[];
  readonly raw: string;
}

/** For each word of the text in order, the runs of 1 to `maxWordsInName` words that begin there. */
export function* wordRuns(text: string): Generator<readonly WordRun[]> {
  const words = [...text.matchAll(word)].map(({ 0: found, index }) => ({ found, index }));
  for (let first = 0; first < words.length; first++) {
    const runs: WordRun[] = [];
    const start = words[first]?.index ?? 0;
    const last = Math.min(first + maxWordsInName, words.length);
    for (let next = first; next < last; next++) {
      const { found, index } = words[next] as { found: string; index: number };
      runs.push({
        words: words.slice(first, next + 1).map((each) => each.found),
        raw: text.slice(start, index + found.length),
      });
    }
    yield runs;
  }
}

/** Possible spellings of a constant that the run names, the run itself first. */
export function spellingsOf({ words, raw }: WordRun): Set<string> {
  const spellings = new Set([raw]);
  const cases = [words, words.map((each) => each.toLowerCase()), words.map(capitalized)];
  for (const spelt of cases) {
    spellings.add(spelt.join('_'));
    if (words.length > 1) spellings.add(spelt.join(' '));
    if (words.length > 1) spellings.add(spelt.join('-'));
  }
  spellings.add(raw.toLowerCase());
  return spellings;
}

/**
 * A name without the variations people use: case, white space, `_`, `-` and other signs. Two names with the same
 * canonical form probably mean the same. Empty if the name has neither letters nor digits.
 */
export function canonicalName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]/gu, '');
}

function capitalized(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

/**
 * What a text is about: the tenant's constants that it mentions, and the facts about them.
 *
 * Facts with a mentioned constant come before those of a mentioned predicate, each group by salience, highest first.
 * Being found is not a use of a fact.
 */

const betweenBreaths = 1024;

/** The names in a text. */
interface Named {
  /** Ids of constants. */
  readonly constants: ReadonlySet<number>;
  /** Canonical names of all word runs. */
  readonly names: ReadonlySet<string>;
}

/** The constants of the tenant that the text mentions, by code point. */
export async function mentionedConstants(context: ReadContext, text: string): Promise<string[]> {
  const { dictionary } = context.tenant.facts;
  const { constants } = await namedIn(context, text);
  return Array.from(constants, (id) => dictionary.text(id)).sort(compareText);
}

/** The stored facts of the view that the text is about, at most `maxFacts`. */
export async function mentionedFacts(
  context: ReadContext,
  view: ScopeChoice,
  text: string,
  maxFacts: number,
): Promise<ContextEntry[]> {
  const { tenant, reader, pacer } = context;
  const isVisible = visibleIn(context, view);
  const named = await namedIn(context, text);
  const best = new Best(context, maxFacts);
  for (const relation of tenant.facts.relations.values()) {
    const isNamed = named.names.has(canonicalName(relation.predicate));
    if (!isNamed && named.constants.size === 0) continue;
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & (betweenBreaths - 1)) === 0) await pacer.breathe();
      const hasConstant = mentionsConstant(relation, row, named.constants);
      if (!hasConstant && !isNamed) continue;
      if (isVisible(relation, row)) best.offer({ relation, row }, hasConstant ? 1 : 0);
    }
  }
  return best.entries();
}

async function namedIn({ tenant, pacer }: ReadContext, text: string): Promise<Named> {
  const { dictionary } = tenant.facts;
  const constants = new Set<number>();
  const names = new Set<string>();
  let looked = 0;
  for (const runs of wordRuns(text)) {
    for (const run of runs) {
      names.add(canonicalName(run.raw));
      for (const spelling of spellingsOf(run))
        for (const constant of [spelling, tenant.aliases.get(spelling)?.entity ?? spelling]) {
          const id = dictionary.find(constant);
          if (id >= 0) constants.add(id);
        }
    }
    if ((++looked & 0xf) === 0) await pacer.breathe();
  }
  return { constants, names };
}

function mentionsConstant(
  { columns, arity }: StoredRelation,
  row: number,
  ids: ReadonlySet<number>,
): boolean {
  for (let at = 0; at < arity; at++) if (ids.has((columns[at] as Int32Array)[row] as number)) return true;
  return false;
}

interface Offered {
  readonly fact: FactRow;
  readonly rank: number;
  readonly salience: number;
  /** Rendered on first comparison. */
  atom: string | null;
}

/** The best of many facts: higher rank first, then higher salience, ties by atom and scope by code point. */
class Best {
  readonly #context: ReadContext;
  readonly #maxFacts: number;
  #offered: Offered[] = [];

  constructor(context: ReadContext, maxFacts: number) {
    this.#context = context;
    this.#maxFacts = maxFacts;
  }

  offer(fact: FactRow, rank: number): void {
    const { database, tenant, reader } = this.#context;
    const { createdAt } = database.timesOf(tenant.facts, fact);
    const { salience } = tenant.uses.salience(fact, createdAt, reader.time);
    this.#offered.push({ fact, rank, salience, atom: null });
    if (this.#offered.length >= 2 * this.#maxFacts + betweenBreaths) this.#prune();
  }

  entries(): ContextEntry[] {
    this.#prune();
    return this.#offered.map(({ fact }) => entryOf(this.#context, fact));
  }

  #prune(): void {
    this.#offered.sort((a, b) => b.rank - a.rank || b.salience - a.salience || this.#compareAtoms(a, b));
    this.#offered.length = Math.min(this.#offered.length, this.#maxFacts);
  }

  #compareAtoms(a: Offered, b: Offered): number {
    const { facts } = this.#context.tenant;
    return (
      compareText(this.#atomOf(a), this.#atomOf(b)) ||
      compareText(facts.scopeOf(a.fact) ?? '', facts.scopeOf(b.fact) ?? '')
    );
  }

  #atomOf(offered: Offered): string {
    const { predicate, negated } = offered.fact.relation;
    const args = this.#context.tenant.facts.argsOf(offered.fact);
    return (offered.atom ??= renderAtom({ predicate, args, negated }));
  }
}

export interface AboutInput extends ViewFields {
  /** Natural language or statements to search for mentions. */
  readonly text: string;
  readonly maxFacts: number;
}

/**
 * The entity of each name: of the alias that is spelt like it, else of the only one with its canonical form, else the name
 * itself, as it is where facts have it.
 */
export async function entitiesNamed(
  { tenant: { aliases, facts }, pacer }: ReadContext,
  names: readonly string[],
): Promise<string[]> {
  if (aliases.size === 0) return [...names];
  /** null: aliases of several entities have the form. */
  const byForm = new Map<string, string | null>();
  for (const [at, { alias, entity }] of aliases.all().entries()) {
    if ((at & (betweenBreaths - 1)) === 0) await pacer.breathe();
    const form = canonicalName(alias);
    const known = byForm.get(form);
    byForm.set(form, known === undefined || known === entity ? entity : null);
  }
  return names.map((name) => {
    const spelt = aliases.get(name)?.entity;
    if (spelt !== undefined || facts.dictionary.find(name) >= 0) return spelt ?? name;
    return byForm.get(canonicalName(name)) ?? name;
  });
}
