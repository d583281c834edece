import { TextMap } from '../base/text-map.ts';
import { present } from '../base/assert.ts';
import { compareText } from '../base/text-order.ts';
import type { ReadContext } from '../session/read-context.ts';
import { conclusionLine, conclusionMark, factLine, type FactTest } from '../memory/fact-lines.ts';
import { entryOf, entryOfStored } from '../memory/recall.ts';
import type { OmissionReason, Bucket } from '../contract/context.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { ContextEntry } from '../contract/memory.ts';
import type { StoredFact } from '../contract/facts.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import type { ViewRule } from '../datalog/model/program.ts';
import { viewKey } from '../datalog/model/reader.ts';
import { opposite, type VisibleKnowledge } from './window-knowledge.ts';

/** A rule that concludes something, with its premises as rendered. */
export interface Application {
  readonly rule: ViewRule;
  readonly premises: readonly string[];
}

/** An atom in a proof. */
export interface ProofEntry {
  readonly literal: AtomLiteral;
  /** The view in which it is proved. */
  readonly view: ScopeChoice;
  /** The rule application that concludes it; null: the atom is stored in the proof's view. */
  readonly by: Application | null;
  /** The conclusion as a fact; called only if the entry is taken. */
  readonly conclusion: () => Promise<StoredFact>;
}

/** A fact or conclusion that may be added beside proofs. */
export interface Candidate {
  readonly atom: string;
  readonly predicate: string;
  readonly args: readonly string[];
  readonly scope: string | null;
  readonly salience: number;
  /** null: a conclusion. */
  readonly fact: FactRow | null;
  /** For a conclusion whose canonical proof is unusable: its replacement. */
  readonly by: Application | null;
}

/**
 * A window while it is being filled: its entries, and what was left out for a specific reason.
 *
 * Invariants: every atom occurs once, all entries fit the budget, and no weaker side of a resolved contradiction is
 * included. The callers decide the order of entries.
 */
export class OpenWindow {
  readonly seen: VisibleKnowledge;
  readonly budget: WindowBudget;
  /** By atom, in the order in which they were taken. */
  readonly entries = new TextMap<ContextEntry>();
  /** Atoms left out as the weaker side of a contradiction. */
  readonly weaker: ReadonlySet<string>;
  /** Why answers to goals, and what their proofs conclude, were left out. */
  readonly leftOut = new TextMap<OmissionReason>();
  /** The rules in the proofs by their order of creation. */
  readonly rules = new Map<number, string>();
  /** True if the weaker side of a contradiction is left out. */
  readonly resolves: boolean;
  readonly #isLeftOut: FactTest;

  constructor(
    seen: VisibleKnowledge,
    weaker: ReadonlySet<string>,
    limits: BudgetLimits & { readonly autoResolveContradictions: boolean; readonly isLeftOut: FactTest },
  ) {
    this.seen = seen;
    this.weaker = weaker;
    this.budget = new WindowBudget(limits);
    this.resolves = limits.autoResolveContradictions;
    this.#isLeftOut = limits.isLeftOut;
  }

  get context(): ReadContext {
    return this.seen.context;
  }

  has(atom: string): boolean {
    return this.entries.has(atom);
  }

  /**
   * True if a contradiction bars the atom: it is the weaker side of one, or it is not a known conclusion and would
   * contradict something known or in the window.
   */
  isBarred(literal: AtomLiteral): boolean {
    if (!this.resolves) return false;
    if (this.weaker.has(renderAtom(literal))) return true;
    const other = opposite(literal);
    return this.entries.has(renderAtom(other)) || (this.seen.has(other) && !this.seen.has(literal));
  }

  /** The size of an atom as the budget counts it. */
  async sizeOf(literal: AtomLiteral): Promise<Sized> {
    const { predicate } = literal;
    const tokens = this.budget.countsTokens ? await this.tokensOf(literal) : 0;
    return { predicate, charCount: renderAtom(literal).length, tokens };
  }

  /** The tokens of the line of an atom. */
  async tokensOf(literal: AtomLiteral): Promise<number> {
    const stored = this.seen.stored(literal);
    return this.#tokensIn(stored === null ? conclusionLine(literal) : this.#lineOf(stored.fact));
  }

  /** Why the atom alone does not fit; null: it fits or is already in the window. */
  async refusal(literal: AtomLiteral): Promise<OmissionReason | null> {
    if (this.has(renderAtom(literal))) return null;
    const refused = this.budget.refusal(await this.sizeOf(literal));
    return refused !== 'filtered' && this.isBarred(literal) ? 'contradiction' : refused;
  }

  /**
   * Adds a proof, or returns why it does not fit. Each entry follows its premises. An atom proved in several views is
   * shown as in the first of them.
   */
  async takeProof(proof: readonly ProofEntry[]): Promise<OmissionReason | null> {
    const byAtom = new TextMap<ProofEntry>();
    for (const each of proof) {
      const atom = renderAtom(each.literal);
      const known = byAtom.get(atom);
      if (this.has(atom) || (known !== undefined && compareViews(this.seen.view, known.view, each.view) <= 0))
        continue;
      byAtom.set(atom, each);
    }
    const fresh = [...byAtom.values()];
    const sizes: Sized[] = [];
    for (const { literal } of fresh) sizes.push(await this.sizeOf(literal));
    const refused = this.budget.refusalOf(sizes);
    if (refused === 'filtered') return refused;
    const { pacer } = this.context;
    for (const { literal } of fresh) {
      await pacer.breathe();
      if (this.isBarred(literal)) return 'contradiction';
    }
    if (refused !== null) return refused;
    for (const size of sizes) this.budget.add(size);
    for (const each of fresh) {
      await pacer.breathe();
      this.entries.set(renderAtom(each.literal), await this.#entryOfProof(each));
    }
    for (const { by } of proof) if (by !== null) this.rules.set(by.rule.order, by.rule.record.text);
    return null;
  }

  /**
   * Adds a fact if it fits and is not yet included; returns whether it was added. `isRelated`: it shares a constant
   * with the proofs.
   */
  async offer(candidate: Candidate, isRelated: boolean): Promise<boolean> {
    const { atom, fact } = candidate;
    if (this.has(atom) || this.weaker.has(atom) || this.leftOut.has(atom)) return false;
    if (this.#isLeftOut(candidate) || !(await this.#addIfItFits(candidate))) return false;
    const category = isRelated ? 'related' : undefined;
    const { time } = this.context.reader;
    const entry =
      fact === null
        ? entryOfStored(this.#conclusion(candidate), time, category)
        : entryOf(this.context, fact, category);
    this.entries.set(atom, entry);
    return true;
  }

  /** Counts tokens only of what fits otherwise, and no more of them than there is room for. */
  async #addIfItFits(candidate: Candidate): Promise<boolean> {
    const { atom, predicate, args } = candidate;
    const size = { predicate, charCount: atom.length };
    if (!this.budget.countsTokens) return this.budget.add({ ...size, tokens: 0 }) === null;
    if (!this.#represents(candidate)) return false;
    // A space after each comma begins a token.
    if (this.budget.refusal({ ...size, tokens: args.length }) !== null) return false;
    const tokens = await this.#tokensIn(this.#lineOfCandidate(candidate), this.budget.tokenRoom);
    return this.budget.add({ ...size, tokens }) === null;
  }

  /** Why a candidate does not fit any more; null: it would. */
  async refusalOf(candidate: Candidate): Promise<OmissionReason | null> {
    const { atom, predicate } = candidate;
    const line = this.#lineOfCandidate(candidate);
    const tokens = this.budget.countsTokens ? await this.#tokensIn(line, this.budget.tokenRoom) : 0;
    return this.budget.refusal({ predicate, charCount: atom.length, tokens });
  }

  /** False for a copy in another scope than the fact that is shown for all of them; its line may be shorter. */
  #represents({ predicate, args, fact }: Candidate): boolean {
    if (fact === null || !fact.relation.spansScopes) return true;
    const shown = this.seen.stored({ predicate, args: [...args], negated: fact.relation.negated });
    return shown === null || shown.fact.row === fact.row;
  }

  #lineOfCandidate({ atom, fact }: Candidate): string {
    return fact === null ? `${conclusionMark}${atom}` : this.#lineOf(fact);
  }

  #lineOf(fact: FactRow): string {
    const { facts } = this.context.tenant;
    const { predicate, negated } = fact.relation;
    const { from, until } = fact.relation.boundsOf(fact.row);
    const atom = { predicate, args: facts.argsOf(fact), negated };
    return factLine(atom, { scope: facts.scopeOf(fact), validFrom: from, validUntil: until });
  }

  #tokensIn(line: string, most?: number): Promise<number> {
    const { tokens, pacer } = this.context;
    return tokens.count(`${line}\n`, () => pacer.breathe(), most);
  }

  async #entryOfProof({ literal, by, conclusion }: ProofEntry): Promise<ContextEntry> {
    const { time } = this.context.reader;
    const stored = this.seen.stored(literal);
    if (stored !== null) return entryOf(this.context, stored.fact, 'goal_relevant');
    const fact = await conclusion();
    return entryOfStored(by === null ? fact : concludedBy(fact, by), time, 'goal_relevant');
  }

  #conclusion({ atom, by }: Candidate): StoredFact {
    const fact = this.seen.conclusionAt(present(this.seen.concluded.get(atom), 'the conclusion was found'));
    return by === null ? fact : concludedBy(fact, by);
  }
}

/** The conclusion with another proof than the canonical one. */
function concludedBy(fact: StoredFact, { rule, premises }: Application): StoredFact {
  const { scope, text } = rule.record;
  return { ...fact, scope, provenance: { rule: text, premises: [...premises] } };
}

/** The window's own view first, then scopes by name. */
export function compareViews(own: ScopeChoice, left: ScopeChoice, right: ScopeChoice): number {
  const [key, first, second] = [viewKey(own), viewKey(left), viewKey(right)];
  return Number(second === key) - Number(first === key) || compareText(first, second);
}

/** The limits of a window. */
export interface BudgetLimits {
  readonly maxFacts: number;
  /** null: unlimited. */
  readonly maxChars: number | null;
  /** null: unlimited. */
  readonly maxTokens: number | null;
  readonly maxFactsPerPredicate: number | null;
  /** The only wanted predicates; null: all. */
  readonly predicates: readonly string[] | null;
  readonly relevanceBuckets: readonly Bucket[] | null;
}

/** What the budget counts of an entry. */
export interface Sized {
  readonly predicate: string;
  readonly charCount: number;
  /** Of its line; 0 if tokens are not limited. */
  readonly tokens: number;
}

/** The shortest atom: `p()`. */
const minChars = 3;

/**
 * The remaining room of a window: facts, characters, tokens, facts per predicate and per bucket.
 *
 * Entries are accepted only if they fit; a refusal is final unless something is removed. A fact counts in the first
 * bucket that names its predicate. The callers decide what is worth adding.
 */
export class WindowBudget {
  readonly #maxFacts: number;
  readonly #maxChars: number;
  readonly #maxTokens: number;
  readonly #maxOfPredicate: number;
  readonly #wanted: ReadonlySet<string> | null;
  readonly #bucketOf = new Map<string, number>();
  readonly #ofPredicate = new Map<string, number>();
  readonly #inBucket: number[];
  /** By bucket, in the given order. */
  readonly maxAllocations: readonly number[];
  #facts = 0;
  #chars = 0;
  #tokens = 0;

  constructor(limits: BudgetLimits) {
    const buckets = limits.relevanceBuckets ?? [];
    this.#maxFacts = limits.maxFacts;
    this.#maxChars = limits.maxChars ?? Number.POSITIVE_INFINITY;
    this.#maxTokens = limits.maxTokens ?? Number.POSITIVE_INFINITY;
    this.#maxOfPredicate = limits.maxFactsPerPredicate ?? Number.POSITIVE_INFINITY;
    this.#wanted = limits.predicates === null ? null : new Set(limits.predicates);
    const total = buckets.reduce((sum, { weight }) => sum + weight, 0);
    this.maxAllocations = buckets.map(({ weight, maxFacts }) =>
      Math.min(
        maxFacts ?? Number.POSITIVE_INFINITY,
        Math.max(1, Math.floor((weight / total) * limits.maxFacts)),
      ),
    );
    this.#inBucket = buckets.map(() => 0);
    for (const [index, { predicates }] of buckets.entries())
      for (const predicate of predicates)
        if (!this.#bucketOf.has(predicate)) this.#bucketOf.set(predicate, index);
  }

  /** True if nothing more fits. */
  get isFull(): boolean {
    return this.#facts >= this.#maxFacts || this.#chars + minChars > this.#maxChars || this.tokenRoom <= 0;
  }

  /** True if tokens are limited. */
  get countsTokens(): boolean {
    return this.#maxTokens !== Number.POSITIVE_INFINITY;
  }

  /** The number of tokens that still fit. */
  get tokenRoom(): number {
    return this.#maxTokens - this.#tokens;
  }

  /** The number of facts that still fit. */
  get room(): number {
    return this.#maxFacts - this.#facts;
  }

  /** Index of the first bucket that names the predicate; -1: none. */
  bucketOf(predicate: string): number {
    return this.#bucketOf.get(predicate) ?? -1;
  }

  /** True if no fact of the predicate fits, however short. */
  isClosed(predicate: string): boolean {
    return this.isFull || this.#refusalOfPredicate(predicate) !== null;
  }

  /** Why the entry does not fit; null: it fits. */
  refusal({ predicate, charCount, tokens }: Sized): OmissionReason | null {
    const refused = this.#refusalOfPredicate(predicate);
    if (refused !== null) return refused;
    return this.#hasRoom(1, charCount, tokens) ? null : 'budget';
  }

  /**
   * Why these distinct entries do not fit together; null: they fit. Of several reasons the first in the order filtered,
   * predicate cap, bucket, budget.
   */
  refusalOf(entries: readonly Sized[]): OmissionReason | null {
    const ofPredicate = new Map<string, number>();
    const inBucket = new Map<number, number>();
    let [chars, inTokens] = [0, 0];
    for (const { predicate, charCount, tokens } of entries) {
      if (this.#wanted?.has(predicate) === false) return 'filtered';
      ofPredicate.set(predicate, (ofPredicate.get(predicate) ?? 0) + 1);
      const bucket = this.bucketOf(predicate);
      if (bucket >= 0) inBucket.set(bucket, (inBucket.get(bucket) ?? 0) + 1);
      chars += charCount;
      inTokens += tokens;
    }
    for (const [predicate, count] of ofPredicate)
      if ((this.#ofPredicate.get(predicate) ?? 0) + count > this.#maxOfPredicate) return 'predicate_cap';
    for (const [bucket, count] of inBucket)
      if ((this.#inBucket[bucket] ?? 0) + count > (this.maxAllocations[bucket] ?? 0)) return 'bucket';
    return this.#hasRoom(entries.length, chars, inTokens) ? null : 'budget';
  }

  /** Adds the entry if it fits; returns why not, or null. */
  add(entry: Sized): OmissionReason | null {
    const refused = this.refusal(entry);
    if (refused === null) this.#count(entry, 1);
    return refused;
  }

  /** Removes an added entry. */
  remove(entry: Sized): void {
    this.#count(entry, -1);
  }

  #hasRoom(facts: number, chars: number, tokens: number): boolean {
    return facts <= this.room && this.#chars + chars <= this.#maxChars && tokens <= this.tokenRoom;
  }

  #refusalOfPredicate(predicate: string): OmissionReason | null {
    if (this.#wanted?.has(predicate) === false) return 'filtered';
    if ((this.#ofPredicate.get(predicate) ?? 0) >= this.#maxOfPredicate) return 'predicate_cap';
    const bucket = this.bucketOf(predicate);
    if (bucket < 0) return null;
    const inBucket = present(this.#inBucket[bucket], 'a bucket has a count');
    return inBucket >= present(this.maxAllocations[bucket], 'a bucket has an allocation') ? 'bucket' : null;
  }

  #count({ predicate, charCount, tokens }: Sized, by: 1 | -1): void {
    this.#facts += by;
    this.#chars += by * charCount;
    this.#tokens += by * tokens;
    this.#ofPredicate.set(predicate, (this.#ofPredicate.get(predicate) ?? 0) + by);
    const bucket = this.bucketOf(predicate);
    if (bucket >= 0) this.#inBucket[bucket] = (this.#inBucket[bucket] ?? 0) + by;
  }
}
