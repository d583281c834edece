/**
 * The stored facts of one tenant through a random history: assertions, updates, retractions, uses, scopes,
 * validity, compaction, time; and readers pinned at the generation and time at which they began.
 */
import { AliasStore } from '../store/alias-store.ts';
import type { Prng } from './prng.ts';
import type { ReadContext } from '../session/read-context.ts';
import { FactUses } from '../store/fact-uses.ts';
import type { Metadata } from '../contract/facts.ts';
import { type FactRow, FactStore, type FactToStore, type ScopeChoice } from '../store/fact-store.ts';
import { ListingCache } from '../session/caches.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program } from '../datalog/model/program.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import { DatabaseState } from '../state/state.ts';

const limits = { timeoutMs: 600_000, maxDerivations: 1e9, signal: new AbortController().signal };

/** The interval between events of a history, in milliseconds. */
const spans = [1, 999, 60_000, 3_600_000, 86_400_000, 40 * 86_400_000, 400 * 86_400_000];

/** Constants whose rendered order differs from that of the texts, or from UTF-16 order. */
const awkward = [
  '',
  ' ',
  'a',
  'a b',
  'a)',
  'ab',
  'a,b',
  'a"',
  'a\\',
  '!',
  '\u0001',
  'é',
  '\uffff',
  '\u{1f600}',
  '(',
  '"',
  ')',
  '~',
  '0',
];

export class FactWorld {
  readonly database = new DatabaseState('default', 0);
  readonly facts: FactStore;
  readonly uses: FactUses;
  time = Date.UTC(2024, 0, 1);
  readonly #prng: Prng;
  readonly #reasoner: Reasoner;
  readonly #constants: readonly string[];

  constructor(prng: Prng, facts = new FactStore(0)) {
    this.#prng = prng;
    this.facts = facts;
    this.uses = new FactUses(facts);
    this.#constants = Array.from({ length: 3 + prng.below(prng.pick([10, 100])) }, () =>
      prng.chance(0.5) ? prng.pick(awkward) : `${prng.pick(awkward)}c${prng.below(100)}`,
    );
    const pause = (): Promise<void> => Promise.resolve();
    this.#reasoner = new Reasoner(facts, new Program([]), new Map(), pause, new MemoryBudget(1e9));
  }

  /** The current state, for a pinned reader. */
  context(time = this.time): ReadContext {
    return {
      database: this.database,
      tenant: { facts: this.facts, uses: this.uses, aliases: new AliasStore(), packages: new Map() },
      reasoner: this.#reasoner,
      reader: this.#reasoner.reader(this.database.lastGeneration, time),
      pacer: this.#reasoner.pacer(limits),
      listings: new ListingCache(0),
      meaning: null,
      tokens: shippedTokens,
      elsewhere: null,
    };
  }

  view(): ScopeChoice {
    const choice = this.#prng.below(6);
    if (choice < 2) return { kind: 'all' };
    return choice === 2 ? { kind: 'unscoped' } : { kind: 'scope', scope: this.#prng.pick(scopes) };
  }

  /** Stores `count` facts of few relations, in several writes over some time. */
  load(count: number): void {
    const writes = this.#prng.pick([1, 2, 10, count]);
    const span = this.#prng.pick(spans);
    for (let write = 0; write < writes; write++) {
      this.time += this.#prng.below(Math.ceil(span / writes) + 1);
      this.#assert(Math.ceil(count / writes), true);
    }
  }

  /** The next random event. Relations are compacted only without readers. */
  step(isRead: boolean): void {
    const prng = this.#prng;
    const choice = prng.below(20);
    if (choice < 9) this.#assert(1 + prng.below(choice === 0 ? 60 : 4));
    else if (choice < 12) this.#retract();
    else if (choice < 17) this.#use();
    else if (choice < 19) this.time += prng.below(prng.pick(spans)) + 1;
    else if (!isRead) this.facts.compact(this.facts.relations.keys(), this.database.lastGeneration);
  }

  #assert(count: number, isOfFew = false): void {
    const generation = this.database.lastGeneration + 1;
    let isChange = false;
    for (let index = 0; index < count; index++) {
      const outcome = this.facts.store(this.#fact(isOfFew), generation, this.time);
      if (outcome.status !== 'asserted')
        this.#note(outcome, this.#assertedAt(outcome, generation), this.time);
      if (outcome.status !== 'unchanged') isChange = true;
    }
    if (isChange) this.database.advance(this.time, 'request');
  }

  #retract(): void {
    const held = this.#pickHeld();
    if (held === null) return;
    const generation = this.database.lastGeneration + 1;
    this.facts.retract(held, generation);
    this.database.advance(this.time, 'request');
    this.uses.drop([held.relation.number[held.row] as number]);
  }

  #use(): void {
    const held = this.#pickHeld();
    if (held === null) return;
    // A question that began earlier is recorded when it ends.
    const time = Math.max(this.#assertedAt(held, -1), this.time - this.#prng.below(3));
    const times = this.#prng.chance(0.1) ? 12 : 1;
    for (let index = 0; index < times; index++) this.#note(held, this.#assertedAt(held, -1), time);
  }

  #note(fact: FactRow, assertedAt: number, time: number): void {
    this.uses.note(fact, assertedAt, time);
  }

  #assertedAt(fact: FactRow, generation: number): number {
    const asserted = this.facts.assertedIn(fact);
    return asserted === generation ? this.time : this.database.timeOf(asserted);
  }

  #pickHeld(): FactRow | null {
    const relations = [...this.facts.relations.values()].filter(({ count }) => count > 0);
    if (relations.length === 0) return null;
    const relation = this.#prng.pick(relations);
    const row = this.#prng.below(relation.count);
    return this.facts.isStored({ relation, row }, this.time) ? { relation, row } : null;
  }

  #fact(isOfFew: boolean): FactToStore {
    const prng = this.#prng;
    const predicate = isOfFew ? 'p' : prng.pick(predicates);
    const args = Array.from({ length: isOfFew ? 2 : prng.below(3) }, () => prng.pick(this.#constants));
    const bound = (): number => this.time + (prng.below(3) - 1) * prng.below(prng.pick(spans));
    return {
      predicate,
      args,
      truthVal: isOfFew || prng.chance(0.7),
      scope: prng.chance(0.5) ? null : prng.pick(scopes),
      ...(prng.chance(0.15) ? { validFrom: prng.chance(0.3) ? ('always' as const) : bound() } : {}),
      ...(prng.chance(0.2) ? { validUntil: prng.chance(0.3) ? ('never' as const) : bound() } : {}),
      ...(prng.chance(0.3) ? { metadata: this.#metadata() } : {}),
    };
  }

  #metadata(): Metadata {
    const prng = this.#prng;
    const value = (): number => prng.pick([0, 0.1, 0.3, 0.5, 0.9, 1]);
    return {
      ...(prng.chance(0.6) ? { importance: value() } : {}),
      ...(prng.chance(0.6) ? { confidence: value() } : {}),
      ...(prng.chance(0.2) ? { pinned: true } : {}),
    };
  }
}

const scopes = ['s', 't', 'a scope'];
const predicates = ['p', 'p!', 'pq', 'q'];
