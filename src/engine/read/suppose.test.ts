import { AliasStore } from '../store/alias-store.ts';
import { MemoryBudget } from '../datalog/model/memory-budget.ts';
import { expect, test } from 'vitest';
import { ask, bodyOf } from './ask.ts';
import type { ReadContext } from '../session/read-context.ts';
import { FactUses } from '../store/fact-uses.ts';
import type { Answer } from '../contract/inference.ts';
import { FactStore, type FactToStore } from '../store/fact-store.ts';
import { parseAtom, parseRule } from '../language/parse.ts';
import { ListingCache } from '../session/caches.ts';
import { shippedTokens } from '../log/shipped-tokens.ts';
import { Program } from '../datalog/model/program.ts';
import { Reasoner } from '../datalog/maintain/reasoner.ts';
import { changeRules } from '../state/apply-rules.ts';
import { DatabaseState } from '../state/state.ts';
import type { SupposedOperation } from './suppose.ts';
import { suppose } from '../testing/supposed.ts';
import { askInput, proofLines, refusal } from '../testing/engine-fixtures.ts';

/** Operations supposed over a pinned state, as a transaction reads them. */

const tenant = 'tenant';

function toStore(text: string, changes: Partial<FactToStore> = {}): FactToStore {
  const { predicate, args, negated } = parseAtom(text);
  return { predicate, args, truthVal: !negated, scope: null, ...changes };
}

function telling(...facts: FactToStore[]): SupposedOperation {
  return { kind: 'assert', tenant, facts };
}

function teaching(text: string): SupposedOperation {
  return { kind: 'teach', rule: ruleOf(text) };
}

function ruleOf(text: string) {
  return { rule: parseRule(text), scope: null, name: null, description: null, enabled: null };
}

/** A state of these facts and rules; the rules have the ids r1, r2 and so on. */
function contextOf(facts: readonly FactToStore[], rules: readonly string[] = []): ReadContext {
  const database = new DatabaseState('default', 0);
  const generation = database.advance(0, 'request');
  const store = new FactStore(0);
  for (const fact of facts) store.store(fact, generation, 0);
  for (const [at, rule] of rules.entries())
    changeRules(
      database.rules,
      { kind: 'teach', rule: ruleOf(rule) },
      { id: `r${at + 1}`, time: 0, generation },
    );
  const program = new Program(database.rules.all());
  const reasoner = new Reasoner(store, program, new Map(), () => Promise.resolve(), new MemoryBudget(1e9));
  const limits = { timeoutMs: 60_000, maxDerivations: 1e9, signal: new AbortController().signal };
  return {
    database,
    tenant: { facts: store, uses: new FactUses(store), aliases: new AliasStore(), packages: new Map() },
    reasoner,
    reader: reasoner.reader(generation, 0),
    pacer: reasoner.pacer(limits),
    listings: new ListingCache(0),
    meaning: null,
    tokens: shippedTokens,
    elsewhere: null,
  };
}

async function answered(context: ReadContext, text: string): Promise<Answer> {
  const input = askInput(text, { withProof: true });
  return (await ask(context, input, bodyOf(input))).answer;
}

test('proves an answer from added facts, stored ones and rules of either kind', async () => {
  const context = contextOf([toStore('parent(a, b)')], ['old(?x) :- parent(?x, ?y)']);
  const supposed = await suppose(context, [
    telling(toStore('parent(b, c)', { metadata: { source: 'me' } })),
    teaching('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z), old(?x)'),
  ]);
  const { proof, results } = await answered(supposed.context, 'grandparent(?x, ?z)');
  expect(results).toEqual(['grandparent(a, c)']);
  if (proof === undefined) throw new Error('a proof was asked for');
  expect(proofLines(proof)).toEqual([
    '0 fact parent(a, b)',
    '1 fact parent(b, c)',
    '2 rule old(a) [0]',
    '3 rule grandparent(a, c) [0 1 2]',
  ]);
  expect(proof.steps[0]).toMatchObject({ factId: 'f1-0' });
  expect(proof.steps[1]).toMatchObject({ scope: null, metadata: { source: 'me' } });
  expect(proof.steps[1]?.factId).toBeUndefined();
  expect(proof.steps.map(({ ruleId }) => ruleId)).toEqual([null, null, 'r1', 'supposed-1']);
  expect((await answered(context, 'grandparent(?x, ?z)')).results).toEqual([]);
});

test('assigns ids to taught rules in order, whatever else is done to rules', async () => {
  const context = contextOf([toStore('p(a)')], ['q(?x) :- p(?x)']);
  const supposed = await suppose(context, [
    { kind: 'forgetRule', id: 'r1' },
    teaching('r(?x) :- p(?x)'),
    teaching('s(?x) :- r(?x)'),
  ]);
  const { proof } = await answered(supposed.context, 's(?x)');
  expect(proof?.steps.map(({ ruleId }) => ruleId)).toEqual([null, 'supposed-1', 'supposed-2']);
});

test('keeps the id of an updated stored fact in proofs', async () => {
  const context = contextOf([toStore('p(a)')]);
  const supposed = await suppose(context, [telling(toStore('p(a)', { metadata: { a: 1 } }))]);
  const { proof } = await answered(supposed.context, 'p(a)');
  expect(proof?.steps).toMatchObject([{ factId: 'f1-0', metadata: { a: 1 } }]);
});

test('executes operations one after the other', async () => {
  const context = contextOf([toStore('p(a)')], ['q(?x) :- p(?x)']);
  const { predicate, args } = parseAtom('p(?x)');
  const everything = { predicate, args, truthVal: null, scope: { kind: 'all' as const } };
  const emptied = { kind: 'retract' as const, tenant, pattern: everything };
  const results = async (...operations: SupposedOperation[]): Promise<string[]> => {
    const supposed = await suppose(context, operations);
    return (await answered(supposed.context, 'q(?x)')).results;
  };
  expect(await results(telling(toStore('p(b)')), emptied)).toEqual([]);
  expect(await results(emptied, telling(toStore('p(b)')))).toEqual(['q(b)']);
  expect(await results(teaching('q(?x) :- r(?x)'), telling(toStore('r(c)')))).toEqual(['q(a)', 'q(c)']);
  expect(await results({ kind: 'forgetRule', id: 'r1' })).toEqual([]);
  expect(await results({ kind: 'retractById', tenant, id: 'f1-0' })).toEqual([]);
  const changed: SupposedOperation = { kind: 'updateRule', id: 'r1', rule: ruleOf('q(new) :- p(?x)') };
  expect(await results(changed)).toEqual(['q(new)']);
  const disabled = { ...ruleOf('q(?x) :- p(?x)'), rule: null, enabled: false };
  expect(await results({ kind: 'updateRule', id: 'r1', rule: disabled })).toEqual([]);
});

test('refuses what the real operations would refuse', async () => {
  const context = contextOf([toStore('p(a)', { validUntil: 10 })], ['q(?x) :- p(?x)', 'r(?x) :- q(?x)']);
  const codeOf = async (...operations: SupposedOperation[]): Promise<string> =>
    (await refusal(suppose(context, operations))).code;
  expect(await codeOf(telling(toStore('p(a)', { validFrom: 10 })))).toBe('ValidationException');
  expect(await codeOf({ kind: 'retractById', tenant, id: 'f9-9' })).toBe('FactNotFound');
  const byId: SupposedOperation = { kind: 'retractById', tenant, id: 'f1-0' };
  expect(await codeOf(byId, byId)).toBe('FactNotFound');
  expect(await codeOf({ kind: 'forgetRule', id: 'r9' })).toBe('RuleNotFound');
  const gone: SupposedOperation = { kind: 'forgetRule', id: 'r1' };
  expect(await codeOf(gone, gone)).toBe('RuleNotFound');
  expect(await codeOf(gone, { kind: 'updateRule', id: 'r1', rule: ruleOf('q(?x) :- p(?x)') })).toBe(
    'RuleNotFound',
  );
  expect(await codeOf({ kind: 'updateRule', id: 'r2', rule: ruleOf('q(?y) :- p(?y)') })).toBe('Conflict');
  expect(await codeOf(teaching('p(?x) :- s(?x), not r(?x)'))).toBe('RuleException');
});

test('leaves the dictionary, the rules and the counts of rules unchanged', async () => {
  const context = contextOf([toStore('p(a)')], ['q(?x) :- p(?x)']);
  const { facts } = context.tenant;
  const before = {
    bytes: facts.dictionary.bytes,
    scopes: facts.scopeNames.length,
    rules: context.database.rules.all(),
  };
  const supposed = await suppose(context, [
    telling(toStore('p(new constant)', { scope: 'new scope' })),
    teaching('q(?n) :- p(?x), ?n = count { ?y : p(?y) }, not s(?x, "of a rule")'),
    teaching('t(?y, "constant of a head") :- q(?x), ?y = ?x + 1'),
  ]);
  expect((await answered(supposed.context, 'q(?x)')).results).toEqual(['q(2)', 'q(a)', 'q(new constant)']);
  expect((await answered(supposed.context, 't(?x, ?y)')).results).toEqual(['t(3, constant of a head)']);
  expect((await answered(supposed.context, 'q(asked for), p(?x)')).results).toEqual([]);
  for (const text of ['new constant', 'of a rule', 'constant of a head', '2', '3', 'asked for'])
    expect(facts.dictionary.find(text), text).toBe(-1);
  expect({
    bytes: facts.dictionary.bytes,
    scopes: facts.scopeNames.length,
    rules: context.database.rules.all(),
  }).toEqual(before);
});

test('proves a fact of several scopes by the unscoped one, then by the scope that appeared first', async () => {
  const context = contextOf([toStore('p(a)', { scope: 's' }), toStore('p(b)', { scope: 't' })]);
  const scopeOf = async (...facts: FactToStore[]): Promise<string | null | undefined> => {
    const supposed = await suppose(context, [telling(...facts)]);
    return (await answered(supposed.context, 'p(b)')).proof?.steps[0]?.scope;
  };
  expect(await scopeOf(toStore('p(b)', { scope: 'new' }))).toBe('t');
  expect(await scopeOf(toStore('p(b)', { scope: 's' }))).toBe('s');
  expect(await scopeOf(toStore('p(b)', { scope: 's' }), toStore('p(b)'))).toBeNull();
});
