import { expect, test } from 'vitest';
import { ask, bodyOf } from './ask.ts';
import type { BrowseContext } from './browse.ts';
import { FactUses } from './context/fact-uses.ts';
import { FactStore, type FactToStore } from './facts/fact-store.ts';
import { knownChanges } from './known-changes.ts';
import { KeptListings } from './kept-listings.ts';
import { parseAtom, parseRule } from './logic/parse.ts';
import type { Limits } from './solve/evaluation.ts';
import { MemoryBudget } from './solve/memory-budget.ts';
import { Program } from './solve/program.ts';
import { Reasoner } from './solve/reasoner.ts';
import { changeRules } from './apply-rules.ts';
import { DatabaseState } from './state.ts';
import type { SupposedOperation } from './suppose.ts';
import { askInput, refusal } from './testing/engine-fixtures.ts';
import { suppose } from './testing/supposed.ts';

/** How many known conclusions a change would bring and take. */

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

/** A state of these facts and rules, about which these questions were asked. */
async function asked(
  facts: readonly string[],
  rules: readonly string[],
  questions: readonly string[],
): Promise<BrowseContext> {
  const database = new DatabaseState('default', 0);
  const generation = database.advance(0, 'request');
  const store = new FactStore(0);
  for (const fact of facts) store.store(toStore(fact), generation, 0);
  for (const [at, text] of rules.entries()) {
    const rule = { rule: parseRule(text), scope: null, name: null, description: null, enabled: null };
    changeRules(database.rules, { kind: 'teach', rule }, { id: `r${at + 1}`, time: 0, generation });
  }
  const program = new Program(database.rules.all());
  const reasoner = new Reasoner(store, program, new Map(), () => Promise.resolve(), new MemoryBudget(1e9));
  const context = {
    database,
    tenant: { facts: store, uses: new FactUses(store) },
    reasoner,
    reader: reasoner.reader(generation, 0),
    pacer: reasoner.pacer(limitsOf({})),
    listings: new KeptListings(0),
  };
  for (const text of questions) {
    const input = askInput(text);
    await ask(context, input, bodyOf(input));
  }
  return context;
}

function limitsOf(changes: Partial<Limits>): Omit<Limits, 'memory'> {
  return { timeoutMs: 60_000, maxDerivations: 1e9, signal: new AbortController().signal, ...changes };
}

async function changes(before: BrowseContext, ...operations: SupposedOperation[]) {
  const { context, touched } = await suppose(before, operations);
  return knownChanges(before, context, new Set(touched.keys()));
}

test('conclusions of a kind that was asked for are counted, those that nobody asked for are not', async () => {
  const rules = ['q(?x) :- p(?x)', 'r(?x) :- q(?x)', 'other(?x) :- p(?x)'];
  const before = await asked(['p(a)', 'p(b)'], rules, ['q(?x)', 'r(a)']);
  expect(await changes(before, tell('p(c)', 'p(d)'), forget('p(a)'))).toEqual({ gained: 2, lost: 2 });
  expect(await changes(before, tell('unread(a)'))).toEqual({ gained: 0, lost: 0 });
});

test('a question that had no answer counts when it gets some', async () => {
  const before = await asked(['s(a)'], ['q(?x) :- p(?x)'], ['q(a)']);
  expect(await changes(before, tell('p(a)', 'p(b)'))).toEqual({ gained: 1, lost: 0 });
});

test('what is stored is no conclusion, and what holds still is not lost', async () => {
  const before = await asked(['p(a)', 'p(b)', 'q(b)'], ['q(?x) :- p(?x)'], ['q(?x)']);
  expect(await changes(before, tell('q(a)'))).toEqual({ gained: 0, lost: 0 });
  expect(await changes(before, tell('q(c)'))).toEqual({ gained: 0, lost: 0 });
  expect(await changes(before, forget('q(b)'))).toEqual({ gained: 0, lost: 0 });
  expect(await changes(before, forget('q(b)'), forget('p(b)'))).toEqual({ gained: 0, lost: 0 });
  expect(await changes(before, tell('q(a)'), forget('p(a)'))).toEqual({ gained: 0, lost: 0 });
});

test('a rule that goes takes what it alone concludes, one that comes brings what was asked for', async () => {
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

test('it makes nothing known, brings no constant into the dictionary and counts no rule', async () => {
  const before = await asked(['p(10)'], ['q(?x, ?y) :- p(?x), ?y = ?x + 1'], ['q(?x, ?y)']);
  const { reasoner, tenant: of } = before;
  const size = of.facts.dictionary.size;
  expect(await changes(before, tell('p(20)'), forget('p(10)'))).toEqual({ gained: 1, lost: 1 });
  expect(of.facts.dictionary.size).toBe(size);
  expect(reasoner.known.isEmpty).toBe(true);
  expect([...reasoner.tallies.values()]).toEqual([{ fired: 1 }]);
});

test('a limit is refused', async () => {
  const chain = Array.from({ length: 60 }, (_, at) => `edge(n${at}, n${at + 1})`);
  const rules = ['path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- path(?x, ?y), path(?y, ?z)'];
  const before = await asked(chain, rules, ['path(?x, ?y)']);
  const { context, touched } = await suppose(before, [tell('edge(n60, n61)')]);
  const limited = { ...context, pacer: before.reasoner.pacer(limitsOf({ maxDerivations: 100 })) };
  const error = await refusal(knownChanges(before, limited, new Set(touched.keys())));
  expect([error.code, error.members['limit']]).toEqual(['InferenceLimitExceeded', 'maxDerivations']);
});
