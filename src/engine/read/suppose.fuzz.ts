import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { expect, test, vi } from 'vitest';
import { ask } from './ask.ts';
import { Prng } from '../testing/prng.ts';
import type { ReadContext } from '../session/read-context.ts';
import { queryInputSchema } from '../contract/facts.ts';
import { askInputSchema } from '../contract/inference.ts';
import type { FactPattern, FactToStore } from '../store/fact-store.ts';
import { ruleIdentity, renderAtom } from '../language/print.ts';
import { queryFacts } from './query.ts';
import { ListingCache } from '../session/caches.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import { Program } from '../datalog/model/program.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import { apply } from '../state/apply.ts';
import { type Operation, operationVersion } from '../state/operation.ts';
import type { Report } from '../state/report.ts';
import { type DatabaseState, State } from '../state/state.ts';
import type { SupposedOperation } from './suppose.ts';
import { suppose } from '../testing/supposed.ts';
import {
  applyUpdate,
  type CurrentCase,
  type Flavour,
  plainFlavour,
  presentRules,
  randomBody,
  randomCase,
  randomQuestion,
  type RandomUpdate,
  randomUpdate,
  randomView,
  richFlavour,
  startCase,
  type Vocabulary,
} from '../testing/generators.ts';
import { type Knowledge, modelOf, type ModelFact, type ModelView } from '../testing/naive-model.ts';
import { expectAnswer, overSeeds, viewFields } from '../testing/twin.ts';

/**
 * Operations supposed over a state that is still being written: answers, proofs and stored facts are those of the model
 * of the pinned state after the operations. A transaction reads in this way.
 */
const flavours: Record<string, Flavour> = {
  plain: plainFlavour,
  absence: { ...plainFlavour, defaultNegation: true, negation: true },
  numbers: { ...plainFlavour, arithmetic: true, comparisons: true, aggregates: true },
  time: { ...plainFlavour, negation: true, scopes: true, validity: true, disabledRules: true },
  rich: richFlavour,
};

const tenant = 'tenant';
const timeout = 3_600_000;

/** What the model is built from, and the engine's ids of its rules. */
class Known {
  readonly current: CurrentCase;
  readonly ids: Map<object, string>;

  constructor(current: CurrentCase, ids: ReadonlyMap<object, string>) {
    this.current = { facts: new Map(current.facts), rules: [...current.rules], time: current.time };
    this.ids = new Map(ids);
  }

  knowledge(): Knowledge {
    const rules = presentRules(this.current).map((rule) => ({ ...rule, id: this.ids.get(rule.rule) ?? '?' }));
    return { facts: [...this.current.facts.values()], rules, time: this.current.time };
  }

  /** The operation for the update, null if there is none. */
  operation(update: RandomUpdate): SupposedOperation | null {
    switch (update.kind) {
      case 'assert':
        return { kind: 'assert', tenant, facts: [toStore(update.fact)] };
      case 'retract':
        return { kind: 'retract', tenant, pattern: patternOf(update.fact) };
      case 'addRule': {
        const { rule, scope, enabled } = update.rule;
        return { kind: 'teach', rule: { rule, scope, name: null, description: null, enabled } };
      }
      case 'removeRule':
        return { kind: 'forgetRule', id: this.#idOf(update.index) };
      case 'enableRule': {
        const rule = { rule: null, scope: null, name: null, description: null, enabled: update.enabled };
        return { kind: 'updateRule', id: this.#idOf(update.index), rule };
      }
      case 'time':
        return null;
    }
  }

  /** True if the update teaches an existing rule: then it would be no rule of its own. */
  repeats(update: RandomUpdate): boolean {
    if (update.kind !== 'addRule') return false;
    const { rule, scope } = update.rule;
    return presentRules(this.current).some(
      (each) => each.scope === scope && ruleIdentity(each.rule) === ruleIdentity(rule),
    );
  }

  #idOf(index: number): string {
    return this.ids.get(this.current.rules[index]?.rule as object) as string;
  }
}

function toStore({ validFrom, validUntil, ...fact }: ModelFact): FactToStore {
  return { ...fact, validFrom: validFrom ?? 'always', validUntil: validUntil ?? 'never' };
}

function patternOf({ predicate, args, truthVal, scope }: ModelFact): FactPattern {
  const where = scope === null ? { kind: 'unscoped' as const } : { kind: 'scope' as const, scope };
  return { predicate, args, truthVal, scope: where };
}

/** A database that is written without a log. */
class Live {
  readonly known: Known;
  readonly reasoner: Reasoner;
  readonly #state = new State();

  constructor(start: CurrentCase, pause: () => Promise<void>) {
    this.known = new Known(start, new Map());
    this.#write({ kind: 'createDatabase', name: 'default' });
    this.#write({ kind: 'assert', tenant, facts: [...start.facts.values()].map(toStore) });
    const { facts } = this.#tenant;
    this.reasoner = new Reasoner(facts, new Program([]), new Map(), pause, new MemoryBudget(1e9));
    const rules = presentRules(start);
    this.known.current.rules.length = 0;
    for (const rule of rules) this.update({ kind: 'addRule', rule });
  }

  get #database(): DatabaseState {
    return this.#state.database('default');
  }

  get #tenant() {
    const found = this.#database.tenants.get(tenant);
    if (found === undefined) throw new Error('the case begins with a fact');
    return found;
  }

  update(update: RandomUpdate): void {
    if (this.known.repeats(update)) return;
    const operation = this.known.operation(update);
    const report = operation === null ? null : this.#write(operation);
    if (update.kind === 'addRule') this.known.ids.set(update.rule.rule, report?.rules[0]?.after.id as string);
    applyUpdate(this.known.current, update);
    if (report !== null && report.rules.length > 0)
      this.reasoner.use(new Program(this.#database.rules.all()));
    else if (report !== null) {
      const numbers = report.changes.numbers;
      this.reasoner.touched(numbers, report.generation);
    }
    const passed = this.#tenant.facts.boundaries.takeUntil(this.known.current.time);
    if (passed.length > 0) this.reasoner.passed(passed, this.known.current.time);
  }

  read(): ReadContext {
    const { signal } = new AbortController();
    const limits = { timeoutMs: 1e9, maxDerivations: Number.POSITIVE_INFINITY, signal };
    return {
      database: this.#database,
      tenant: this.#tenant,
      reasoner: this.reasoner,
      reader: this.reasoner.reader(this.#database.lastGeneration, this.known.current.time),
      pacer: this.reasoner.pacer(limits),
      listings: new ListingCache(0),
      meaning: null,
      tokens: shippedTokens,
      elsewhere: null,
    };
  }

  #write(operation: Operation): Report {
    return apply(this.#state, {
      sequence: this.#state.sequence + 1,
      time: this.known.current.time,
      requestId: 'fuzz',
      actor: null,
      database: 'default',
      generation: 0,
      version: operationVersion,
      operation,
    });
  }
}

/** Random operations, and the knowledge after them. */
function randomOperations(
  prng: Prng,
  live: Live,
  vocabulary: Vocabulary,
  flavour: Flavour,
  context: ReadContext,
): { operations: SupposedOperation[]; known: Known } {
  const known = new Known(live.known.current, live.known.ids);
  const operations: SupposedOperation[] = [];
  let taught = 0;
  for (let index = prng.below(8); index > 0; index--) {
    const update = randomUpdate(prng, vocabulary, flavour, known.current);
    let operation = known.repeats(update) ? null : known.operation(update);
    if (operation === null) continue;
    const { facts } = context.tenant;
    if (update.kind === 'retract' && prng.chance(0.5)) {
      const { predicate, args, truthVal, scope } = update.fact;
      const row = facts.find(predicate, args, truthVal, scope);
      const isStored =
        row !== null && row.relation.isHeld(row.row, context.reader.generation, context.reader.time);
      const isReplaced = operations.some(({ kind }) => kind === 'retract' || kind === 'retractById');
      if (isStored && !isReplaced) operation = { kind: 'retractById', tenant, id: facts.idOf(row) };
    }
    if (update.kind === 'addRule') known.ids.set(update.rule.rule, `supposed-${++taught}`);
    applyUpdate(known.current, update);
    operations.push(operation);
  }
  if (prng.chance(0.3) && known.current.facts.size > 0) operations.push(randomPattern(prng, known));
  return { operations, known };
}

/** Retracts everything like a fact in some arguments, whatever its scope and truth value. */
function randomPattern(prng: Prng, known: Known): SupposedOperation {
  const { predicate, args } = prng.pick([...known.current.facts.values()]);
  const pattern = args.map((arg) => (prng.chance(0.5) ? '?_' : arg));
  for (const [key, fact] of known.current.facts)
    if (fact.predicate === predicate && fact.args.length === args.length)
      if (pattern.every((term, at) => term === '?_' || term === fact.args[at]))
        known.current.facts.delete(key);
  return {
    kind: 'retract',
    tenant,
    pattern: { predicate, args: pattern, truthVal: null, scope: { kind: 'all' } },
  };
}

/** Asks with proof and compares with the model. Only stored facts count as used. */
async function askAndCompare(
  prng: Prng,
  context: ReadContext,
  knowledge: Knowledge,
  vocabulary: Vocabulary,
  flavour: Flavour,
): Promise<void> {
  const view: ModelView = flavour.scopes ? randomView(prng, vocabulary) : { kind: 'all' };
  const body = prng.chance(0.75)
    ? [{ ...randomQuestion(prng, vocabulary, flavour), naf: false }]
    : randomBody(prng, vocabulary, flavour);
  const input = askInputSchema.parse({ body, ...viewFields(view), withProof: true });
  const { answer, used } = await ask(context, input, body);
  expectAnswer(answer, body, view, modelOf(knowledge, view));
  const { facts } = context.tenant;
  for (const { relation, row } of used) {
    expect(facts.relation(relation.predicate, relation.arity, relation.negated)).toBe(relation);
    expect(context.reader.overlay?.hidden.get(relation)?.has(row) ?? false).toBe(false);
  }
}

async function queryAndCompare(
  prng: Prng,
  context: ReadContext,
  { facts, time }: Knowledge,
  vocabulary: Vocabulary,
  flavour: Flavour,
): Promise<void> {
  const view: ModelView = flavour.scopes ? randomView(prng, vocabulary) : { kind: 'all' };
  const { predicate, args } = randomQuestion(prng, vocabulary, flavour);
  const distinct = args.map((term, at) => (term.startsWith('?') ? `?v${at}` : term));
  const input = queryInputSchema.parse({ predicate, args: distinct, ...viewFields(view) });
  const { result } = await queryFacts(context, input);
  const wanted = facts.filter(
    (fact) =>
      fact.predicate === predicate &&
      fact.args.length === args.length &&
      distinct.every((term, at) => term.startsWith('?') || term === fact.args[at]) &&
      (fact.validFrom ?? 0) <= time &&
      (fact.validUntil ?? Number.POSITIVE_INFINITY) > time &&
      (view.kind === 'all' || fact.scope === (view.kind === 'scope' ? view.scope : null)),
  );
  const rendered = (each: { predicate: string; args: readonly string[]; truthVal: boolean }): string =>
    renderAtom({ predicate: each.predicate, args: [...each.args], negated: !each.truthVal });
  expect(result.map(rendered).sort(), `${renderAtom({ ...input, negated: false })} is stored`).toEqual(
    [...new Set(wanted.map(rendered))].sort(),
  );
}

for (const [name, flavour] of Object.entries(flavours))
  test(`answers and proves supposed operations like the model (${name})`, { timeout }, () =>
    overSeeds({ name, few: 8, many: 3000 }, async (seed) => {
      const prng = new Prng(seed);
      const start = randomCase(prng, { ...flavour, relations: flavour.relations + 1 });
      if (start.facts.length === 0) return;
      const { vocabulary } = start;
      let ticks = 0;
      const ticking = new Prng(seed + 1);
      const time = vi
        .spyOn(performance, 'now')
        .mockImplementation(() => (ticks += ticking.chance(0.2) ? 6 : 0));
      let write = (): void => undefined;
      const live = new Live(startCase(start), async () => write());
      write = () => {
        if (ticking.chance(0.1)) live.update(randomUpdate(ticking, vocabulary, flavour, live.known.current));
      };
      try {
        for (let round = 0; round < 5; round++) {
          const context = live.read();
          const { operations, known } = randomOperations(prng, live, vocabulary, flavour, context);
          const knowledge = known.knowledge();
          const supposed = await suppose(context, operations);
          for (let index = 0; index < 3; index++) {
            await askAndCompare(prng, supposed.context, knowledge, vocabulary, flavour);
            await queryAndCompare(prng, supposed.context, knowledge, vocabulary, flavour);
          }
          live.update(randomUpdate(prng, vocabulary, flavour, live.known.current));
        }
      } finally {
        time.mockRestore();
      }
    }),
  );
