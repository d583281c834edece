import { systemOrigin } from '../base/origin.ts';
import { expect, test } from 'vitest';
import type { Caller } from '../base/caller.ts';
import { factSchema, retractPatternInputSchema } from '../contract/facts.ts';
import { askInputSchema } from '../contract/inference.ts';
import { ruleInputSchema } from '../contract/rules.ts';
import { openEngine } from '../open-engine.ts';
import { openSession } from '../testing/engine-fixtures.ts';

/** Cases that random testing found, each reduced to the minimum. */

const caller: Caller = {
  credential: null,
  role: 'admin',
  databases: [],
  tenants: [],
  database: 'default',
  tenant: 't',
  client: null,
  transaction: null,
  idempotency: null,
  requestId: 'regression',
  origin: systemOrigin,
  signal: new AbortController().signal,
};

const fact = (predicate: string, ...args: string[]) => factSchema.parse({ predicate, args });

test('proves nothing by a free table that has no demand after a change', async () => {
  const engine = await openEngine({ storageDir: null });
  const teach = (text: string) => engine.teach(caller, ruleInputSchema.parse({ text }));
  const ask = (predicate: string, args: string[]) =>
    engine.ask(caller, askInputSchema.parse({ predicate, args, withProof: true }));
  await engine.tellAll(caller, [
    fact('edge', 'a', 'b'),
    fact('path', 'b', 'a'),
    fact('node', 'a'),
    fact('on'),
  ]);
  await teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
  await teach('path(?x, ?x) :- node(?x), ready()');
  await teach('ready() :- on()');
  await ask('path', ['?x', '?y']);
  await engine.tellAll(caller, [fact('on'), fact('edge', 'b', 'b'), fact('ready')]);
  await ask('ready', []);
  const { proof } = await ask('path', ['a', 'a']);
  expect(proof?.steps.at(-1)?.rule).toBe('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
  await engine.close();
});

test('applies another `enabled` when a rule is taught again', async () => {
  const engine = await openEngine({ storageDir: null });
  const teach = (enabled: boolean) =>
    engine.teach(caller, ruleInputSchema.parse({ text: 'p(?x) :- q(?x)', enabled }));
  const count = async () =>
    (await engine.ask(caller, askInputSchema.parse({ predicate: 'p', args: ['?x'] }))).count;
  await engine.tellAll(caller, [fact('q', 'a')]);
  await teach(false);
  expect(await count()).toBe(0);
  expect((await teach(true)).status).toBe('updated');
  expect(await count()).toBe(1);
  await engine.close();
});

test('joins the current rows of a table that was dropped because most of its rows were dead', async () => {
  const engine = await openEngine({ storageDir: null });
  const between = (predicate: string, at: number) => fact(predicate, `n${at}`, `n${at + 1}`);
  const count = async () =>
    (await engine.ask(caller, askInputSchema.parse({ predicate: 'path', args: ['?x', '?y'] }))).count;
  const pathsOf = (nodes: number) => (nodes * (nodes - 1)) / 2;
  await engine.tellAll(
    caller,
    Array.from({ length: 59 }, (_, at) => between('edge', at)),
  );
  await engine.teach(
    caller,
    ruleInputSchema.parse({ text: 'path(?x, ?y) :- edge(?x, ?y), not cut(?x, ?y)' }),
  );
  await engine.teach(caller, ruleInputSchema.parse({ text: 'path(?x, ?z) :- path(?x, ?y), path(?y, ?z)' }));
  expect(await count()).toBe(pathsOf(60));
  await engine.tellAll(caller, [between('cut', 45)]);
  expect(await count()).toBe(pathsOf(46) + pathsOf(14));
  await engine.tellAll(caller, [between('cut', 29), between('edge', 59)]);
  expect(await count()).toBe(pathsOf(30) + pathsOf(16) + pathsOf(15));
  await engine.close();
});

test('reports no dependent of a retraction that was never true', async () => {
  const engine = await openEngine({ storageDir: null });
  await engine.tellAll(caller, [
    fact('gate'),
    fact('root', 'r'),
    fact('hold', 'n', 'r'),
    fact('link', 'm', 'n'),
  ]);
  for (const text of [
    'step(?x, ?y) :- hold(?x, ?y), gate()',
    'step(?x, ?y) :- link(?x, ?y), not gate()',
    'safe(?x) :- root(?x)',
    'safe(?x) :- step(?x, ?y), safe(?y)',
  ])
    await engine.teach(caller, ruleInputSchema.parse({ text }));
  await engine.ask(caller, askInputSchema.parse({ predicate: 'safe', args: ['?x'] }));
  const { dependents } = await engine.forgetPattern(
    caller,
    retractPatternInputSchema.parse({ predicate: 'gate', args: [] }),
  );
  expect(dependents).toEqual(['safe(n)', 'step(n, r)']);
  await engine.close();
});

test('identifies a constant that only a question named when it is stored later', async () => {
  const { tell, teach, ask } = await openSession();
  await teach('q(?x, ?z) :- q(?x, ?y), q(?y, ?z)');
  // It needs no table, and has a constant unknown elsewhere.
  expect((await ask('p(a, ?x)', { withProof: true })).results).toEqual([]);
  await tell('q(a, b)');
  await tell('q(b, a)');
  expect((await ask('q(?x, ?y)', { withProof: true })).results).toHaveLength(4);
});

test('finds what follows when a negated fact goes, though nothing was demanded past it before', async () => {
  const engine = await openEngine({ storageDir: null });
  const teach = (text: string) => engine.teach(caller, ruleInputSchema.parse({ text }));
  const ask = async () =>
    (await engine.ask(caller, askInputSchema.parse({ predicate: 'may', args: ['?who', '?what'] }))).results;
  await engine.tellAll(caller, [
    fact('asks', 'ann', 'door'),
    fact('asks', 'bob', 'gate'),
    fact('closed', 'door'),
    fact('key', 'door', 'ann'),
    fact('key', 'gate', 'bob'),
  ]);
  await teach('may(?who, ?what) :- asks(?who, ?what), not closed(?what), opens(?what, ?who)');
  await teach('opens(?what, ?who) :- key(?what, ?who)');
  expect(await ask()).toEqual(['may(bob, gate)']);
  await engine.forget(caller, retractPatternInputSchema.parse({ predicate: 'closed', args: ['door'] }));
  await engine.tellAll(caller, [fact('closed', 'gate')]);
  expect(await ask()).toEqual(['may(ann, door)']);
  await engine.close();
});

test('keeps what another binding still supports when one absence ends', async () => {
  const engine = await openEngine({ storageDir: null });
  const teach = (text: string) => engine.teach(caller, ruleInputSchema.parse({ text }));
  const ask = async () =>
    (await engine.ask(caller, askInputSchema.parse({ predicate: 'open', args: ['?x'] }))).results;
  const nodes = Array.from({ length: 20 }, (_, at) => [fact('move', `n${at}`, `n${at + 1}`)]).flat();
  await engine.tellAll(caller, [...nodes, fact('move', 'n0', 'n5'), fact('win', 'n7')]);
  await teach('won(?x) :- win(?x)');
  await teach('open(?x) :- move(?x, ?y), not won(?y)');
  const all = Array.from({ length: 20 }, (_, at) => `open(n${at})`);
  const without = (...gone: string[]) => all.filter((each) => !gone.includes(each)).sort();
  expect([...(await ask())].sort()).toEqual(without('open(n6)'));
  await engine.tellAll(caller, [fact('win', 'n1')]);
  expect([...(await ask())].sort()).toEqual(without('open(n6)'));
  await engine.tellAll(caller, [fact('win', 'n5')]);
  expect([...(await ask())].sort()).toEqual(without('open(n0)', 'open(n4)', 'open(n6)'));
  await engine.forget(caller, retractPatternInputSchema.parse({ predicate: 'win', args: ['n1'] }));
  expect([...(await ask())].sort()).toEqual(without('open(n4)', 'open(n6)'));
  await engine.close();
});
