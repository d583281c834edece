/**
 * The engine beside the model of scopes, kept in step through forks, diffs, merges, deletions, plain writes and starts,
 * for the random test of scopes.
 */
import { expect } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { EngineError } from '../base/errors.ts';
import { Prng } from './prng.ts';
import {
  factSchema,
  listFactsQuerySchema,
  retractPatternInputSchema,
  type Metadata,
} from '../contract/facts.ts';
import { askInputSchema } from '../contract/inference.ts';
import { ruleInputSchema } from '../contract/rules.ts';
import {
  diffInputSchema,
  forkInputSchema,
  mergeInputSchema,
  mergeStrategies,
  type ScopeFact,
} from '../contract/scopes.ts';
import type { Engine } from '../operations/engine.ts';
import { ruleIdentity } from '../language/print.ts';
import { negativeCycles } from '../language/stratify.ts';
import { openEngine } from '../open-engine.ts';
import {
  type Flavour,
  plainFlavour,
  randomBody,
  randomFact,
  randomQuestion,
  randomRuleBeside,
  randomVocabulary,
  type Vocabulary,
} from './generators.ts';
import { type ModelRule, modelOf, type ModelView } from './naive-model.ts';
import { randomPause } from './random-pause.ts';
import {
  canonical,
  type ModelDifference,
  type ModelMerge,
  Refused,
  type ScopedFact,
  ScopeModel,
} from './scope-model.ts';
import { expectAnswer, fuzzCaller, viewFields } from './twin.ts';

const flavour: Flavour = {
  ...plainFlavour,
  facts: 20,
  rules: 6,
  relations: 4,
  constants: 3,
  maxArity: 2,
  negation: true,
  comparisons: true,
  defaultNegation: true,
  scopes: true,
  validity: true,
  disabledRules: true,
};

const scopes = ['s', 'fork', 'a/b %2e"\u{1f600} ', '\uffff'];

interface KeptRule extends ModelRule {
  readonly id: string;
  readonly createdAt: number;
}

export class ScopeTwin {
  readonly prng: Prng;
  readonly vocabulary: Vocabulary;
  model = new ScopeModel();
  readonly clock = new ManualClock(0);
  readonly folder: string;
  rules: KeptRule[] = [];
  engine: Engine | null = null;

  constructor(seed: number, folder: string) {
    this.prng = new Prng(seed);
    this.vocabulary = { ...randomVocabulary(this.prng, flavour), scopes };
    this.folder = folder;
  }

  get on(): Engine {
    if (this.engine === null) throw new Error('the engine is not open');
    return this.engine;
  }

  async open(): Promise<void> {
    const pause = randomPause(new Prng(this.prng.next()));
    const onBug = (error: unknown): void => {
      throw error;
    };
    this.engine = await openEngine({
      storageDir: this.folder,
      fsync: 'never',
      clock: this.clock,
      pause,
      onBug,
    });
  }

  scope(): string | null {
    return this.prng.chance(0.15) ? null : this.prng.pick(scopes);
  }

  metadata(): Metadata {
    const { prng } = this;
    const value = (): Metadata[string] => prng.pick<Metadata[string]>([1, 'x', { n: 1, m: [2] }, null]);
    const names = ['a', 'b', ...(prng.chance(0.1) ? ['_source'] : [])].filter(() => prng.chance(0.3));
    return Object.fromEntries(
      names.map((name) => [name, name === '_source' && prng.chance(0.5) ? { a: 1 } : value()]),
    );
  }

  setRules(rules: KeptRule[]): void {
    this.rules = rules;
    this.model.rules = rules;
  }

  async tell(): Promise<void> {
    const count = this.prng.below(6) + 1;
    const known = [...this.model.facts.values()];
    const told = Array.from({ length: count }, (): ScopedFact => {
      // Another version of an existing one.
      if (known.length > 0 && this.prng.chance(0.4))
        return { ...this.prng.pick(known), validUntil: null, metadata: this.metadata() };
      const fact = randomFact(this.prng, this.vocabulary, flavour);
      const from = fact.validFrom === null ? null : fact.validFrom + this.model.time;
      const until = fact.validUntil === null ? null : fact.validUntil + this.model.time;
      // Already past: accepted, and then expired.
      if (this.prng.chance(0.08)) {
        const ended = { validFrom: null, validUntil: this.model.time - this.prng.below(2) };
        return { ...fact, ...ended, scope: this.scope(), metadata: this.metadata() };
      }
      return { ...fact, validFrom: from, validUntil: until, scope: this.scope(), metadata: this.metadata() };
    });
    await this.on.tellAll(
      fuzzCaller,
      told.map((fact) =>
        factSchema.parse({
          ...fact,
          args: [...fact.args],
          validFrom: fact.validFrom ?? 'always',
          validUntil: fact.validUntil ?? 'never',
        }),
      ),
    );
    for (const fact of told) this.model.store(fact);
  }

  async forget(): Promise<void> {
    const stored = [...this.model.facts.values()];
    if (stored.length === 0) return;
    const fact = this.prng.pick(stored);
    const { predicate, args, truthVal, scope } = fact;
    const where = scope === null ? { unscoped: true } : { scope };
    const input = retractPatternInputSchema.parse({ predicate, args: [...args], truthVal, ...where });
    await this.on.forgetPattern(fuzzCaller, input);
    if (this.model.isHeld(fact)) this.model.remove(fact);
  }

  async changeRules(): Promise<void> {
    const { prng } = this;
    const { rules } = this;
    if (rules.length > 8 || (rules.length > 0 && prng.chance(0.3))) {
      const rule = prng.pick(rules);
      await this.on.forgetRule(fuzzCaller, rule.id);
      this.setRules(rules.filter((each) => each !== rule));
      return;
    }
    const wanted = randomRuleBeside(prng, this.vocabulary, flavour, rules);
    if (wanted === null) return;
    const { rule, scope, enabled } = wanted;
    const input = ruleInputSchema.parse({ ...rule, scope, enabled });
    const { id, status } = await this.on.teach(fuzzCaller, input);
    if (status === 'asserted') this.setRules([...rules, { ...wanted, id, createdAt: this.model.time }]);
    else this.setRules(rules.map((each) => (each.id === id ? { ...each, enabled } : each)));
  }

  async fork(): Promise<void> {
    const isOntoNew = this.prng.chance(0.6);
    const free = [...scopes, null].filter((scope) => !isOntoNew || this.model.held(scope).length === 0);
    const [source, target] = [this.scope(), free.length === 0 ? this.scope() : this.prng.pick(free)];
    const input = forkInputSchema.parse({ source, target });
    const generation = await this.asked();
    const before = this.model.copy();
    const wanted = refusedAs(() => this.model.fork(source, target, generation + 1));
    const got = await this.on.fork(fuzzCaller, input).catch(codeOf);
    const copied = source === null ? [] : this.rules.filter((rule) => rule.scope === source);
    const isThere = ({ rule }: ModelRule): boolean =>
      this.rules.some((each) => each.scope === target && ruleIdentity(each.rule) === ruleIdentity(rule));
    const missing = copied.filter((rule) => !isThere(rule));
    const together = [...this.rules, ...missing.map((rule) => ({ ...rule, scope: target }))];
    if (got === 'RuleException') {
      same(missing.length > 0, true);
      same(fits(together), false);
      same(typeof wanted, 'object');
      this.model = before;
      return;
    }
    if (typeof got === 'string' || typeof wanted === 'string') {
      same(got, wanted);
      return;
    }
    same(fits(together), true);
    has(got, { source, target, facts: wanted.length, rules: missing.length });
    const copies = missing.map((rule, at) => ({
      ...rule,
      scope: target,
      createdAt: this.model.time,
      id: at === 0 ? `r${got.generation}` : `r${got.generation}-${at}`,
    }));
    this.setRules([...this.rules, ...copies]);
    same(got.generation, generation + 1);
  }

  /** The current generation. */
  async asked(): Promise<number> {
    const answer = await this.on.ask(fuzzCaller, askInputSchema.parse({ text: 'none(?x)' }));
    return answer.generation;
  }

  async diff(): Promise<void> {
    const [source, target] = [this.scope(), this.scope()];
    const limit = this.prng.chance(0.3) ? 1 + this.prng.below(4) : null;
    const got = await this.on
      .diff(fuzzCaller, diffInputSchema.parse({ source, target, limit }))
      .catch(codeOf);
    if (typeof got === 'string') {
      same(got, this.model.exists(source) ? 'none' : 'ScopeNotFound');
      return;
    }
    same(this.model.exists(source), true);
    const { all, unchanged } = this.model.differences(source, target);
    const added = all.filter((each) => each.target === null).map((each) => plain(each.source));
    const removed = all.filter((each) => each.source === null).map((each) => plain(each.target));
    const modified = all
      .filter((each) => each.source !== null && each.target !== null)
      .map((each) => ({ source: plain(each.source), target: plain(each.target), fields: fieldsOf(each) }));
    const most = limit ?? Number.POSITIVE_INFINITY;
    same(got.added.map(plain), added.slice(0, most));
    same(got.removed.map(plain), removed.slice(0, most));
    same(
      got.modified.map((each) => ({ ...each, source: plain(each.source), target: plain(each.target) })),
      modified.slice(0, most),
    );
    same(got.unchanged, unchanged);
    same(
      got.truncated,
      [added, removed, modified].some((list) => list.length > most),
    );
  }

  randomMerge(): ModelMerge {
    const { prng, model } = this;
    const related = model.related().filter(([source]) => model.exists(source));
    const isRelated = related.length > 0 && prng.chance(0.7);
    const [source, target] = isRelated ? prng.pick(related) : [this.scope(), this.scope()];
    const named = prng.pick(scopes);
    const base = prng.pick([undefined, undefined, undefined, null, 'fork', named, { scope: named }]);
    const atoms = [...model.held(source), ...model.held(target)];
    const resolutions = atoms
      .filter(() => prng.chance(0.15))
      .map(({ predicate, args }) => ({
        predicate,
        args: [...args],
        take: prng.pick(['source', 'target', 'both'] as const),
      }));
    if (prng.chance(0.05)) resolutions.push({ predicate: 'unheard', args: ['of'], take: 'source' });
    const strategy = prng.pick(mergeStrategies);
    return { source, target, ...(base === undefined ? {} : { base }), strategy, resolutions };
  }

  async merge(): Promise<void> {
    const merge = this.randomMerge();
    const generation = await this.asked();
    const parsed = mergeInputSchema.parse({ ...merge });
    const isTwice = this.prng.chance(0.5);
    const dry = isTwice ? await this.on.merge(fuzzCaller, { ...parsed, dryRun: true }).catch(codeOf) : null;
    same(await this.asked(), generation);
    const wanted = refusedAs(() => this.model.merge(merge, false));
    const got = await this.on.merge(fuzzCaller, parsed).catch(codeOf);
    if (typeof got === 'string' || typeof wanted === 'string') {
      same(got, wanted);
      if (isTwice) same(dry, wanted);
      return;
    }
    const { conflicts, isChange, ...counts } = wanted;
    has(got, counts);
    same(got.generation, generation + (isChange ? 1 : 0));
    same(
      got.conflicts.map(({ source, target, fields }) => ({
        source: source === null ? null : plain(source),
        target: target === null ? null : plain(target),
        fields,
      })),
      conflicts.map((each) => ({
        source: each.source === null ? null : plain(each.source),
        target: each.target === null ? null : plain(each.target),
        fields: each.source === null || each.target === null ? [] : fieldsOf(each),
      })),
    );
    if (isTwice) {
      has(dry, { ...got, generation, dryRun: true });
    }
  }

  async drop(): Promise<void> {
    const scope = this.prng.pick(scopes);
    const wanted = refusedAs(() => this.model.delete(scope));
    const got = await this.on.deleteScope(fuzzCaller, scope).catch(codeOf);
    if (typeof got === 'string' || typeof wanted === 'string') {
      same(got, wanted);
      return;
    }
    const rules = this.rules.filter((rule) => rule.scope === scope);
    has(got, { scope, facts: wanted, rules: rules.length });
    this.setRules(this.rules.filter((rule) => rule.scope !== scope));
  }

  async ask(): Promise<void> {
    const { prng, vocabulary, model } = this;
    const view: ModelView = prng.chance(0.3)
      ? { kind: 'all' }
      : prng.chance(0.2)
        ? { kind: 'unscoped' }
        : { kind: 'scope', scope: prng.pick(scopes) };
    const body = prng.chance(0.8)
      ? [{ ...randomQuestion(prng, vocabulary, flavour), naf: false }]
      : randomBody(prng, vocabulary, flavour);
    const input = askInputSchema.parse({ body, ...viewFields(view), withProof: true, timeoutMs: 600_000 });
    const knowledge = { facts: [...model.facts.values()], rules: this.rules, time: model.time };
    expectAnswer(await this.on.ask(fuzzCaller, input), body, view, modelOf(knowledge, view));
  }

  async passTime(): Promise<void> {
    this.model.time += 1 + this.prng.below(3);
    this.clock.set(this.model.time);
  }

  async reopen(): Promise<void> {
    const before = await this.everything();
    await this.on.close();
    await this.open();
    same(await this.everything(), before);
  }

  async everything(): Promise<unknown> {
    const { facts } = await this.on.facts(fuzzCaller, listFactsQuerySchema.parse({ limit: '1000' }));
    const rules = (await this.on.rules(fuzzCaller)).map(({ fired: _, ...rule }) => rule);
    const scopesThere = await this.on.scopes(fuzzCaller);
    return { facts: facts.map(({ salience: _, ...fact }) => fact), rules, scopesThere };
  }

  async compare(): Promise<void> {
    const { facts } = await this.on.facts(fuzzCaller, listFactsQuerySchema.parse({ limit: '1000' }));
    const wanted = [null, ...scopes].flatMap((scope) => this.model.held(scope).map(plain));
    const inOrder = (list: unknown[]): string[] => list.map((each) => JSON.stringify(each)).sort();
    same(inOrder(facts.map(plain)), inOrder(wanted));
    same((await this.on.scopes(fuzzCaller)).scopes, this.model.list());
  }
}

function plain(fact: ScopedFact | ScopeFact | null) {
  if (fact === null) return null;
  const { predicate, args, truthVal, scope, validFrom, validUntil, metadata } = fact;
  return { predicate, args, truthVal, scope, validFrom, validUntil, metadata: canonical(metadata) };
}

function fieldsOf({ source, target }: ModelDifference): string[] {
  const [one, other] = [plain(source), plain(target)];
  if (one === null || other === null) return [];
  return (['truthVal', 'validFrom', 'validUntil', 'metadata'] as const).filter(
    (field) => one[field] !== other[field],
  );
}

function fits(rules: readonly ModelRule[]): boolean {
  return negativeCycles(rules.map((rule, index) => ({ ...rule, id: String(index) }))).length === 0;
}

function refusedAs<Result extends object | number>(work: () => Result): Result | string {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof EngineError) return error.code;
  throw error;
}

function same(got: unknown, wanted: unknown): void {
  expect(got).toEqual(wanted);
}

function has(got: unknown, wanted: object): void {
  expect(got).toMatchObject(wanted);
}
