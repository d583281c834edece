import { TextSet } from '../base/text-map.ts';
import { compareText } from '../base/text-order.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { Mention } from '../contract/mention.ts';
import type { HitKind, Signal } from '../contract/search.ts';
import { leastRows, rowsByText } from '../datalog/tables/sorted.ts';
import { renderAtom, renderIdentity } from '../language/print.ts';
import { salientFacts } from '../memory/salient-facts.ts';
import { answerAt, shownConclusions } from '../read/listed-conclusions.ts';
import type { Similar } from '../session/read-context.ts';
import { type FactRow, lookUpFew } from '../store/fact-matching.ts';
import { constantIdsOf, type GraphFact, graphFact, GraphNearness, keyOf } from './graph-nearness.ts';
import { goalsOf, type MentionGoal } from './mention-goals.ts';
import { isTelling } from './mentions.ts';
import { type Neighbour, NeighbouringTurns } from './neighbouring-turns.ts';
import { type Beside, type Documents, TextWords, type Worth } from './text-words.ts';
import { predicatesOfRule, type ViewNames } from './view-names.ts';
import type { WordIndex } from './word-index.ts';

/** What the words of a neighbouring turn count, for each turn of distance. */
const shareOfNeighbour = 0.4;
const besideOnly = 'of the turns beside it';
/** Time for the goals of the mentions, in milliseconds. */
const goalsTimeoutMs = 2_000;
/** Most facts of a mentioned constant, of one that shares words, and of the matching predicates together. */
const maxOfMentioned = 500;
const maxOfWords = 20;
const maxOfPredicates = 64;
/** Of constants, and of rows by their metadata, the best this many are taken for their words, or twice the limit. */
const minDocuments = 64;
/** Once there are this many facts by their words, or four times the limit, constants of less worth are passed over. */
const minFacts = 128;
/** Most conclusions taken of one goal, and of all. */
const maxOfGoal = 100;
const maxConclusions = 500;

/** Something found, before it is ranked. */
export interface Found {
  readonly kind: HitKind;
  /** The rendered atom or rule, the constant or the predicate. */
  readonly text: string;
  readonly id: string | null;
  readonly scope: string | null;
  readonly salience: number | null;
  /** The stored fact; null: none. */
  readonly fact: FactRow | null;
  readonly values: readonly SignalValue[];
}

/** The value of a signal for a candidate; higher is better. */
interface SignalValue {
  readonly signal: Signal;
  readonly value: number;
  readonly detail: string;
}

/** What is compared with the text. */
interface Compared {
  readonly constants: readonly string[];
  readonly predicates: readonly string[];
  readonly words: readonly Worth[];
  /** What the words are worth in the turns beside it. */
  readonly beside?: readonly Beside[];
}

/** What a search is about. */
interface Sought {
  readonly names: ViewNames;
  readonly index: WordIndex;
  readonly text: string;
  readonly mentions: readonly Mention[];
  /** Facts that mean something similar to the text. */
  readonly similar: readonly Similar[];
  /** Number of hits wanted. */
  readonly limit: number;
  /** Further terms for the last word of the text. */
  readonly completions?: readonly string[];
}

/** Collects what a text mentions or shares words with. */
export class Finder {
  readonly candidates: Found[] = [];
  readonly #sought: Sought;
  readonly #constants: ReadonlySet<string>;
  readonly #predicates: ReadonlySet<string>;
  /** Ids of the mentioned constants that facts have. */
  readonly #ids: readonly number[];
  readonly #near: GraphNearness;
  readonly #words: TextWords;
  readonly #turns: NeighbouringTurns;
  /** The cosine of each similar fact, by its key. */
  readonly #cosines: ReadonlyMap<number, number>;

  constructor(sought: Sought) {
    const { names, mentions, text, index } = sought;
    this.#sought = sought;
    const named = mentions.filter((mention) => isTelling(mention, text));
    this.#constants = new Set(named.flatMap(({ constants }) => constants));
    this.#predicates = new Set(mentions.flatMap(({ predicates }) => predicates));
    const { dictionary } = names.context.tenant.facts;
    const idsOf = (texts: ReadonlySet<string>): number[] =>
      Array.from(texts, (text) => dictionary.find(text)).filter((id) => id >= 0);
    this.#ids = idsOf(this.#constants);
    this.#near = new GraphNearness(this.#ids);
    this.#words = new TextWords(
      text,
      names,
      index,
      idsOf(new Set(mentions.flatMap((each) => each.constants))),
      sought.completions,
    );
    this.#turns = new NeighbouringTurns(names, index);
    this.#cosines = new Map(sought.similar.map(({ fact, cosine }) => [keyOf(fact), cosine]));
  }

  /** Finds what is of these kinds. Returns how many goals were not worked out. */
  async find(kinds: ReadonlySet<HitKind>): Promise<number> {
    const { names } = this.#sought;
    const factsOf = (constant: number, most: number): GraphFact[] =>
      names.factsWith(constant, most).map(graphFact);
    if (this.#ids.length > 0) await this.#near.walk(factsOf, names.context.pacer);
    const constants = await this.#constantsWithWords();
    if (kinds.has('fact')) await this.#takeFacts(constants);
    if (kinds.has('rule')) this.#takeRules();
    if (kinds.has('entity')) this.#takeEntities(constants);
    if (kinds.has('predicate')) this.#takePredicates();
    return kinds.has('conclusion') ? this.#takeConclusions() : 0;
  }

  /** The terms of the text's words. */
  get terms(): Iterable<string> {
    return this.#words.terms.keys();
  }

  /** The facts near to the mentions, nearest first; call it after `find`. */
  nearFacts(): FactRow[] {
    return this.#near.facts();
  }

  /** The present constants that share the most words with the text. */
  async #constantsWithWords(): Promise<number[]> {
    const { names } = this.#sought;
    const words = this.#words;
    const { dictionary } = names.context.tenant.facts;
    const worth = await words.constants();
    return this.#best(worth, (left, right) => dictionary.compare(left, right));
  }

  /** The documents of greatest worth. */
  async #best(
    { numbers, worths }: Documents,
    ties: (left: number, right: number) => number,
  ): Promise<number[]> {
    const compare = (left: number, right: number): number =>
      (worths[right] as number) - (worths[left] as number) ||
      ties(numbers[left] as number, numbers[right] as number);
    const { pacer } = this.#sought.names.context;
    const most = Math.min(numbers.length, Math.max(minDocuments, 2 * this.#sought.limit));
    return Array.from(await leastRows(numbers.length, most, compare, pacer), (at) => numbers[at] as number);
  }

  async #takeFacts(constants: readonly number[]): Promise<void> {
    const { names, index } = this.#sought;
    const words = this.#words;
    const { pacer } = names.context;
    const found = new Map<number, FactRow>();
    const note = (fact: FactRow): void => {
      found.set(keyOf(fact), fact);
    };
    for (const id of this.#ids) {
      for (const fact of names.factsWith(id, maxOfMentioned)) note(fact);
      await pacer.breathe();
    }
    const enough = found.size + Math.max(minFacts, 4 * this.#sought.limit);
    for (const id of constants) {
      if (found.size >= enough) break;
      for (const fact of names.factsWith(id, maxOfWords)) {
        note(fact);
        for (const turn of this.#turns.of(fact)) if (turn.isNext) note(turn.fact);
      }
      await pacer.breathe();
    }
    for (const { fact } of this.#sought.similar) note(fact);
    const metadata = await this.#best(await words.metadata(), (left, right) => left - right);
    for (const document of metadata) if (names.isVisible(index.rowOf(document))) note(index.rowOf(document));
    const isMatching = ({ predicate }: { predicate: string }): boolean =>
      names.isWanted(predicate) && (this.#predicates.has(predicate) || words.ofPredicate(predicate).size > 0);
    // What is said about the mentioned comes before any other use of a predicate.
    if (this.#ids.length === 0 && [...names.stored()].some(isMatching)) {
      let taken = 0;
      for await (const { fact } of salientFacts(names.context, names.view, isMatching, maxOfPredicates)) {
        note(fact);
        if (++taken === maxOfPredicates) break;
      }
    }
    let looked = 0;
    for (const fact of found.values()) {
      if ((++looked & 0x3f) === 0) await pacer.breathe();
      this.#takeFact(fact);
    }
  }

  #takeFact(fact: FactRow): void {
    const { names } = this.#sought;
    const words = this.#words;
    const { database, tenant, reader } = names.context;
    const { facts, uses } = tenant;
    const { predicate } = fact.relation;
    const ids = constantIdsOf(fact);
    const metadata = facts.metadataOf(fact);
    const { createdAt } = database.timesOf(facts, fact);
    const turns = this.#turns.of(fact);
    // A turn is about those who speak beside it too: it is put to them, or answers them.
    const besides = turns.filter(({ isNext, distance }) => isNext && distance === 1);
    this.#take(
      {
        kind: 'fact',
        text: renderIdentity(facts.identityOf(fact)),
        id: facts.idOf(fact),
        scope: facts.scopeOf(fact),
        salience: uses.salience(fact, createdAt, reader.time).salience,
        fact,
      },
      {
        constants: [fact, ...besides.map((turn) => turn.fact)].flatMap((each) => facts.argsOf(each)),
        predicates: [predicate],
        words: [
          ...ids.map((id) => words.ofConstant(id)),
          words.ofPredicate(predicate),
          words.ofText(metadata),
        ],
        beside: this.#beside(turns),
      },
      this.#near.ofFact(ids),
      this.#cosines.get(keyOf(fact)) ?? null,
    );
  }

  /** What the words are worth in the turns beside the fact. */
  #beside(turns: readonly Neighbour[]): Beside[] {
    const found: Beside[] = [];
    for (const { fact, distance, isNext } of turns)
      for (const constant of constantIdsOf(fact)) {
        const worth = this.#words.ofConstant(constant);
        if (worth.size > 0) found.push({ worth, share: shareOfNeighbour ** distance, isNext });
      }
    return found;
  }

  #takeRules(): void {
    const { names } = this.#sought;
    const words = this.#words;
    const { view } = names;
    for (const { id, rule, text, name, scope, description } of names.context.database.rules.all()) {
      if (scope !== null && view.kind !== 'all' && !(view.kind === 'scope' && view.scope === scope)) continue;
      const predicates = predicatesOfRule(rule);
      if (!predicates.some((predicate) => names.isWanted(predicate))) continue;
      const constants = [...this.#constants].filter((constant) => rule.head.args.includes(constant));
      const parts = [words.ofText([name, text, description])];
      this.#take(
        { kind: 'rule', text, id, scope, salience: null, fact: null },
        { constants, predicates, words: parts },
        0,
      );
    }
  }

  #takeEntities(withWords: readonly number[]): void {
    const { names } = this.#sought;
    const words = this.#words;
    const { dictionary } = names.context.tenant.facts;
    const present = new Set([...this.#ids, ...withWords.filter((id) => names.has(id))]);
    for (const id of present) {
      const text = dictionary.text(id);
      this.#take(
        { kind: 'entity', text, id: null, scope: null, salience: null, fact: null },
        { constants: [text], predicates: [], words: [words.ofConstant(id)] },
        this.#near.of(id),
      );
    }
  }

  #takePredicates(): void {
    const { names } = this.#sought;
    const words = this.#words;
    for (const text of new Set(names.relations().map(({ predicate }) => predicate)))
      this.#take(
        { kind: 'predicate', text, id: null, scope: null, salience: null, fact: null },
        {
          constants: [],
          predicates: [text],
          words: [words.ofPredicate(text), words.ofText(names.descriptionOf(text))],
        },
        0,
      );
  }

  /** The answers to the goals of the mentions that are not stored. Returns how many goals were not worked out. */
  async #takeConclusions(): Promise<number> {
    const { names, mentions, text } = this.#sought;
    const { context } = names;
    const { goals, leftOut } = await goalsOf(text, mentions, names, context.pacer.within(goalsTimeoutMs));
    const taken = new TextSet();
    for (const goal of goals) {
      if (!goal.isConcluded || taken.size >= maxConclusions) continue;
      const rows = await this.#conclusionsOf(goal, taken);
      if (rows.length === 0) continue;
      for (const fact of await shownConclusions(context, goal.matches, rows, context.reader.time))
        this.#takeConclusion(fact);
    }
    return leftOut;
  }

  /** Rows of answers that are not stored in the view and not taken yet, by text. */
  async #conclusionsOf({ matches }: MentionGoal, taken: Set<string>): Promise<number[]> {
    const { context, view } = this.#sought.names;
    const { columns, count, constants } = matches;
    const rows: number[] = [];
    const places = { from: 0, to: Math.min(count, maxOfGoal) };
    for (const row of await rowsByText(columns, count, constants, context.pacer, places)) {
      const atom: AtomLiteral = answerAt(matches, row);
      const text = renderAtom(atom);
      if (taken.has(text) || taken.size >= maxConclusions) continue;
      const { predicate, args, negated } = atom;
      const pattern = { predicate, args, truthVal: !negated, scope: view };
      const { generation, time } = context.reader;
      const stored = lookUpFew(context.tenant.facts, pattern, generation, time, Number.POSITIVE_INFINITY);
      if (stored === null || stored.length > 0) continue;
      taken.add(text);
      rows.push(row);
    }
    return rows;
  }

  #takeConclusion({
    predicate,
    args,
    truthVal,
    scope,
    salience,
  }: Parameters<typeof conclusionText>[0]): void {
    const { names } = this.#sought;
    const words = this.#words;
    const { dictionary } = names.context.tenant.facts;
    const ids = args.map((text) => dictionary.find(text)).filter((id) => id >= 0);
    const parts = [...ids.map((id) => words.ofConstant(id)), words.ofPredicate(predicate)];
    this.#take(
      {
        kind: 'conclusion',
        text: conclusionText({ predicate, args, truthVal, scope, salience }),
        id: null,
        scope,
        salience,
        fact: null,
      },
      { constants: args, predicates: [predicate], words: parts },
      this.#near.ofFact(ids),
    );
  }

  /** Adds a candidate that is mentioned, shares words or means something similar: `cosine`; null: it does not. */
  #take(
    found: Omit<Found, 'values'>,
    compared: Compared,
    nearness: number,
    cosine: number | null = null,
  ): void {
    const mentioned = [
      ...new Set(compared.constants.filter((constant) => this.#constants.has(constant))),
      ...compared.predicates.filter((predicate) => this.#predicates.has(predicate)),
    ];
    const match = this.#words.match(compared.words, compared.beside);
    if (mentioned.length === 0 && match === null && cosine === null) return;
    const values: SignalValue[] = [];
    if (mentioned.length > 0)
      values.push({
        signal: 'mention',
        value: mentioned.length,
        detail: mentioned.sort(compareText).join(', '),
      });
    if (match !== null)
      values.push({ signal: 'words', value: match.value, detail: match.words.join(' ') || besideOnly });
    if (cosine !== null) values.push({ signal: 'meaning', value: cosine, detail: cosine.toFixed(3) });
    if (nearness > 0) {
      const value = mentioned.length > 0 ? 1 : octave(nearness);
      values.push({ signal: 'graph', value, detail: nearness.toPrecision(3) });
    }
    if (found.salience !== null)
      values.push({ signal: 'salience', value: level(found.salience), detail: found.salience.toFixed(4) });
    this.candidates.push({ ...found, values });
  }
}

/**
 * Nearness to the nearest power of two: facts of one neighbourhood differ by what else their constants occur in, which
 * says nothing about the text.
 */
function octave(nearness: number): number {
  return 2 ** Math.round(Math.log2(nearness));
}

/** The lower bounds of the levels of salience: a fact that was used once a day, a month, a year ago, and any other. */
const levels = [0.5, 0.15, 0.05, 0];

/** The level of a salience: what was used within the same span counts alike. */
function level(salience: number): number {
  return levels.find((bound) => salience >= bound) ?? 0;
}

function conclusionText({
  predicate,
  args,
  truthVal,
}: {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  readonly salience: number;
}): string {
  return renderAtom({ predicate, args: [...args], negated: !truthVal });
}
