import { expect, test } from 'vitest';
import { constraintInputSchema } from '../contract/constraints.ts';
import { openSession, ruleInput, second, type Session, startTime } from '../testing/engine-fixtures.ts';
import type { Change } from './change-feed.ts';

/** Violations that begin and end, as subscribers are told: contract sections 14 and 19. */

async function constrain({ engine, caller }: Session, text: string, fields: object = {}): Promise<string> {
  const input = constraintInputSchema.parse({ text, name: text, mode: 'warn', ...fields });
  return (await engine.addConstraint(caller, input)).id;
}

/** The next events about constraints. */
async function next(iterator: AsyncIterator<Change>, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const { value, done } = await iterator.next();
    if (done === true) break;
    const { kind, data } = value;
    if (!kind.startsWith('constraint.')) continue;
    const scope = data.scope === null || data.scope === undefined ? '' : ` in ${data.scope}`;
    found.push(
      `${data.generation} ${kind} ${data.constraint}${scope} ${JSON.stringify(data.bindings ?? {})}`,
    );
  }
  return found;
}

function follow({ engine, caller }: Session): AsyncIterator<Change> {
  return engine.changes(caller, null)[Symbol.asyncIterator]();
}

test('tells which violations a write begins and ends, in the view where they are', async () => {
  const session = await openSession();
  const changes = follow(session);
  const id = await constrain(session, '!- p(?x), not q(?x)');
  expect(await next(changes, 1)).toEqual(['1 constraint.changed !- p(?x), not q(?x) {}']);
  await session.tell('p(a)', { scope: 's' });
  expect(await next(changes, 1)).toEqual([`2 constraint.violated ${id} in s {"x":"a"}`]);
  await session.tell('q(a)', { scope: 's' });
  expect(await next(changes, 1)).toEqual([`3 constraint.satisfied ${id} in s {"x":"a"}`]);
  await session.forget('q(a)', { scope: 's' });
  expect(await next(changes, 1)).toEqual([`4 constraint.violated ${id} in s {"x":"a"}`]);
  await session.forget('p(a)', { scope: 's' });
  expect(await next(changes, 1)).toEqual([`5 constraint.satisfied ${id} in s {"x":"a"}`]);
});

test('tells what rules and constraints begin and end, for every tenant', async () => {
  const session = await openSession();
  const other = session.as({ tenant: 'other' });
  await session.tell('p(a)');
  await other.tell('p(b)');
  const [mine, theirs] = [follow(session), follow(other)];
  const id = await constrain(session, '!- bad(?x)');
  const { id: rule } = await session.teach('bad(?x) :- p(?x)');
  expect((await next(mine, 2))[1]).toBe(`4 constraint.violated ${id} {"x":"a"}`);
  expect((await next(theirs, 2))[1]).toBe(`4 constraint.violated ${id} {"x":"b"}`);
  await session.engine.updateRule(session.caller, rule, ruleInput({ text: 'bad(?x) :- p(?x), q(?x)' }));
  expect(await next(mine, 1)).toEqual([`5 constraint.satisfied ${id} {"x":"a"}`]);
  const second = await constrain(session, '!- p(?x)');
  expect((await next(mine, 2))[1]).toBe(`6 constraint.violated ${second} {"x":"a"}`);
  await session.engine.deleteConstraint(session.caller, second);
  expect((await next(mine, 2))[1]).toBe(`7 constraint.satisfied ${second} {"x":"a"}`);
});

test('tells a violation that begins or ends by the clock', async () => {
  const session = await openSession();
  const id = await constrain(session, '!- open(?x), not guarded(?x)', { mode: 'reject' });
  await session.tell('guarded(gate)', { validUntil: startTime + 10 * second });
  await session.tell('open(gate)', { validUntil: startTime + 20 * second });
  const changes = follow(session);
  session.clock.advance(11 * second);
  // A read notices that time has passed.
  await session.results('open(?x)');
  expect(await next(changes, 1)).toEqual([`3 constraint.violated ${id} {"x":"gate"}`]);
  session.clock.advance(11 * second);
  // A read notices that time has passed.
  await session.results('open(?x)');
  expect(await next(changes, 1)).toEqual([`3 constraint.satisfied ${id} {"x":"gate"}`]);
});

test('tells of the first write of a tenant, and nothing of a write that no constraint reads', async () => {
  const session = await openSession();
  const id = await constrain(session, '!- p(?x)');
  const other = session.as({ tenant: 'new' });
  const changes = follow(other);
  await other.tell('q(a)');
  await other.tell('p(a)');
  expect(await next(changes, 1)).toEqual([`3 constraint.violated ${id} {"x":"a"}`]);
  expect(session.engine.figures().deadRows).toBe(0);
});
