import { expect, test } from 'vitest';
import { forkInputSchema } from '../contract/scopes.ts';
import {
  chainOf,
  factInput,
  hour,
  openSession,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

/** Many scopes with the same atoms: the cost of a question over all of them is proportional to its answers. */

const edges = 20;
const grandparents = Array.from({ length: edges - 1 }, (_, at) => `far(n${at}, n${at + 2})`).sort();

/** A chain of edges in scope `s0` and as many forks of it, and the pairs of nodes two edges apart. */
async function forked(forks: number): Promise<Session> {
  const session = await openSession();
  const { engine, caller, teach } = session;
  await teach('far(?x, ?z) :- edge(?x, ?y), edge(?y, ?z)');
  await engine.tellAll(
    caller,
    chainOf(edges).map((text) => factInput(text, { scope: 's0' })),
  );
  for (let fork = 1; fork <= forks; fork++) await forkScope(session, 's0', `s${fork}`);
  return session;
}

async function forkScope({ engine, caller }: Session, source: string, target: string): Promise<void> {
  await engine.fork(caller, forkInputSchema.parse({ source, target }));
}

test('takes as many derivations for a join over a thousand forks of a scope as over one', async () => {
  const one = await forked(0);
  const few = { maxDerivations: 3 * edges };
  expect((await one.ask('far(?x, ?z)', few)).results.toSorted()).toEqual(grandparents);
  const { ask } = await forked(1000);
  expect((await ask('far(?x, ?z)', few)).results.toSorted()).toEqual(grandparents);
  expect((await ask('edge(?x, ?y)', few)).count).toBe(edges);
  expect((await ask('edge(?x, ?y), edge(?y, n9)', few)).count).toBe(1);
  expect((await ask('?n = count { ?x, ?y : edge(?x, ?y) }', few)).bindings).toEqual([{ n: String(edges) }]);
});

test('changes no conclusion by a fork of known facts, at a cost proportional to them', async () => {
  const session = await forked(200);
  const { ask, engine, caller } = session;
  await ask('far(?x, ?z)');
  await forkScope(session, 's0', 'late');
  await engine.deleteScope(caller, 's7');
  const { results } = await ask('far(?x, ?z)', { maxDerivations: 3 * edges });
  expect(results.toSorted()).toEqual(grandparents);
});

test('keeps a conclusion as long as any scope has its facts', async () => {
  const { results, engine, caller, forget, ask } = await forked(5);
  await ask('far(?x, ?z)');
  for (const scope of ['s0', 's3', 's1', 's5', 's4']) {
    await engine.deleteScope(caller, scope);
    expect((await results('far(?x, ?z)')).toSorted()).toEqual(grandparents);
  }
  await forget('edge(n3, n4)', { scope: 's2' });
  expect(await results('far(?x, n4)')).toEqual([]);
  expect(await results('far(?x, n5)')).toEqual([]);
  expect(await results('far(?x, n3)')).toEqual(['far(n1, n3)']);
});

test('counts the valid copies of an atom that several scopes store', async () => {
  const { tell, teach, results, clock } = await openSession();
  await teach('q(?x) :- p(?x), r(?x)');
  await tell('r(a)');
  await tell('p(a)', { scope: 's', validUntil: new Date(startTime + hour).toISOString() });
  await tell('p(a)', {
    scope: 't',
    validFrom: new Date(startTime + hour).toISOString(),
    validUntil: new Date(startTime + 2 * hour).toISOString(),
  });
  await tell('p(a)', { scope: 'u', validFrom: new Date(startTime + 3 * hour).toISOString() });
  const found: number[] = [];
  for (const _ of [0, 1, 2, 3]) {
    found.push((await results('q(?x)')).length);
    clock.advance(hour);
  }
  expect(found).toEqual([1, 1, 0, 1]);
});
