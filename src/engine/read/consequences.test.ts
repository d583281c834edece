import { AliasStore } from '../store/alias-store.ts';
import { expect, test } from 'vitest';
import { ask, bodyOf } from './ask.ts';
import type { ReadContext } from '../session/read-context.ts';
import { consequencesOf } from '../session/consequences.ts';
import { FactUses } from '../store/fact-uses.ts';
import { FactStore, type FactToStore } from '../store/fact-store.ts';
import { ListingCache } from '../session/caches.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import { parseAtom, parseRule } from '../language/parse.ts';
import type { EvaluationLimits } from '../datalog/tables/evaluation.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { Program } from '../datalog/model/program.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import { changeRules } from '../state/apply-rules.ts';
import { DatabaseState } from '../state/state.ts';
import type { SupposedOperation } from './suppose.ts';
import { askInput } from '../testing/engine-fixtures.ts';
import { suppose } from '../testing/supposed.ts';

/** How many conclusions a change would gain and lose, known or not. */

const tenant = 'tenant';

function toStore(text: string, scope: string | null = null): FactToStore {
  const { predicate, args, negated } = parseAtom(text);
  return { predicate, args, truthVal: !negated, scope };
}

const tell = (...texts: string[]): SupposedOperation => ({
  kind: 'assert',
  tenant,
  facts: texts.map((text) => toStore(text)),
});

function forget(text: string): SupposedOperation {
  const { predicate, args, negated } = parseAtom(text);
  return {
    kind: 'retract',
    tenant,
    pattern: { predicate, args, truthVal: !negated, scope: { kind: 'all' } },
  };
}

/** A state of these facts and rules, after these questions. */
async function asked(
  facts: readonly string[],
  rules: readonly string[],
  questions: readonly string[],
): Promise<ReadContext> {
  const database = new DatabaseState('default', 0);
  const generation = database.advance(0, 'request');
  const store = new FactStore(0);
  for (const fact of facts) store.store(toStore(fact), generation, 0);
  for (const [at, text] of rules.entries()) {
    const rule = { rule: parseRule(text), scope: null, name: null, description: null, enabled: null };
    changeRules(database.rules, { kind: 'teach', rule }, { id: `r${at + 1}`, time: 0, generation });
  }
  const program = new Program(database.rules.all());
  const reasoner = new Reasoner(
    store,
    program,
    new Map(),
    () => new Promise(setImmediate),
    new MemoryBudget(1e9),
  );
  const context = {
    database,
    tenant: { facts: store, uses: new FactUses(store), aliases: new AliasStore(), packages: new Map() },
    reasoner,
    reader: reasoner.reader(generation, 0),
    pacer: reasoner.pacer(limitsOf({})),
    listings: new ListingCache(0),
    meaning: null,
    tokens: shippedTokens,
    elsewhere: null,
  };
  for (const text of questions) {
    const input = askInput(text);
    await ask(context, input, bodyOf(input));
  }
  return context;
}

function limitsOf(changes: Partial<EvaluationLimits>): Omit<EvaluationLimits, 'memory'> {
  return { timeoutMs: 60_000, maxDerivations: 1e9, signal: new AbortController().signal, ...changes };
}

async function consequences(
  before: ReadContext,
  operations: readonly SupposedOperation[],
  limits = limitsOf({}),
) {
  const { context: after, touched } = await suppose(before, operations);
  const states = {
    before,
    after,
    relations: touched.keys(),
    views: [{ kind: 'all' as const }],
    listsLost: true,
  };
  return consequencesOf(states, limits);
}

async function changes(before: ReadContext, ...operations: SupposedOperation[]) {
  const { gained, lost, notWorkedOut } = await consequences(before, operations);
  expect(notWorkedOut).toEqual([]);
  return { gained, lost };
}

test('counts conclusions that were never asked for', async () => {
  const rules = ['q(?x) :- p(?x)', 'r(?x) :- q(?x)', 'other(?x) :- p(?x)'];
  const before = await asked(['p(a)', 'p(b)'], rules, ['q(?x)', 'r(a)']);
  expect(await changes(before, tell('p(c)', 'p(d)'), forget('p(a)'))).toEqual({ gained: 6, lost: 3 });
  expect(await changes(before, tell('unread(a)'))).toEqual({ gained: 0, lost: 0 });
});

test('counts no stored or supposed fact as a conclusion, and nothing still true as lost', async () => {
  const before = await asked(['p(a)', 'p(b)', 'q(b)'], ['q(?x) :- p(?x)'], ['q(?x)']);
  expect(await changes(before, tell('q(a)'))).toEqual({ gained: 0, lost: 0 });
  expect(await changes(before, tell('q(c)'))).toEqual({ gained: 0, lost: 0 });
  expect(await changes(before, forget('q(b)'))).toEqual({ gained: 0, lost: 0 });
  expect(await changes(before, forget('q(b)'), forget('p(b)'))).toEqual({ gained: 0, lost: 0 });
  expect(await changes(before, tell('q(a)'), forget('p(a)'))).toEqual({ gained: 0, lost: 0 });
});

test('counts what a removed rule alone concludes and what a new one adds', async () => {
  const before = await asked(['p(a)', 's(b)'], ['q(?x) :- p(?x)', 'q(?x) :- q(?x), s(?x)'], ['q(?x)']);
  const rule = {
    rule: parseRule('q(?x) :- s(?x)'),
    scope: null,
    name: null,
    description: null,
    enabled: null,
  };
  const forgetRule = { kind: 'forgetRule' as const, id: 'r1' };
  expect(await changes(before, forgetRule, { kind: 'teach', rule })).toEqual({ gained: 1, lost: 1 });
});

test('makes nothing known, adds no constant to the dictionary and counts no rule', async () => {
  const before = await asked(['p(10)'], ['q(?x, ?y) :- p(?x), ?y = ?x + 1'], ['q(?x, ?y)']);
  const { reasoner, tenant: of } = before;
  const size = of.facts.dictionary.size;
  expect(await changes(before, tell('p(20)'), forget('p(10)'))).toEqual({ gained: 1, lost: 1 });
  expect(of.facts.dictionary.size).toBe(size);
  expect(reasoner.known.isEmpty).toBe(true);
  expect([...reasoner.tallies.values()]).toEqual([{ fired: 1 }]);
});

test('lists lost conclusions by code point', async () => {
  const rules = ['q(?x) :- p(?x)', '-r(?x) :- q(?x)'];
  const before = await asked(['p(b)', 'p(a)'], rules, []);
  const { lostAtoms } = await consequences(before, [forget('p(a)'), forget('p(b)')]);
  expect(lostAtoms).toEqual(['-r(a)', '-r(b)', 'q(a)', 'q(b)']);
});

const endless = ['n(?y) :- n(?x), ?y = ?x + 1', 'n(?x) :- p(?x)', 'above(?x) :- n(?x)'];

test('names the goals that a limit cut off, with their dependents, and counts the rest', async () => {
  const rules = [...endless, 'q(?x) :- p(?x)', '-r(?x) :- q(?x)'];
  const before = await asked(['p(1)'], rules, []);
  const found = await consequences(before, [tell('p(7)')], limitsOf({ maxDerivations: 2000 }));
  expect(found).toMatchObject({ gained: 2, lost: 0, notWorkedOut: ['above/1', 'n/1'] });
});

test('computes nothing without time, and names everything reachable', async () => {
  const before = await asked(['p(1)'], ['q(?x) :- p(?x)', '-r(?x, ?x) :- q(?x)', 'apart(?x) :- s(?x)'], []);
  const found = await consequences(before, [tell('p(7)')], limitsOf({ timeoutMs: 0 }));
  expect(found).toMatchObject({ gained: 0, lost: 0, notWorkedOut: ['-r/2', 'q/1'] });
});

test('stops when the caller disconnects', async () => {
  const before = await asked(['p(1)'], endless, []);
  const gone = new AbortController();
  setTimeout(() => gone.abort(), 20);
  await expect(consequences(before, [tell('p(7)')], limitsOf({ signal: gone.signal }))).rejects.toThrow(
    'the client has gone',
  );
});

test('frees its own tables and keeps those of questions', async () => {
  const before = await asked(['p(a)'], ['q(?x) :- p(?x)'], ['q(?x)']);
  const { memory } = before.reasoner;
  const held = memory.heldBytes;
  await consequences(before, [tell('p(b)')]);
  expect(memory.heldBytes).toBe(held);
  expect(before.reasoner.conclusions).toBe(1);
});
