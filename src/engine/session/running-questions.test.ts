import { expect, test } from 'vitest';
import { defaultRunningQuestions } from '../base/scheduler.ts';
import { chainOf, openSession, refusal } from '../testing/engine-fixtures.ts';

test('a question beyond those that may run waits for its place within its time, and a look-up of a fact does not', async () => {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isHeld = false;
  const session = await openSession({ pause: () => (isHeld ? released : Promise.resolve()) });
  await session.tellAll(chainOf(200, 'e'));
  await session.teach('tri(?a, ?b, ?c, ?d) :- e(?a, ?b), e(?c, ?d), ?a != ?d');
  isHeld = true;
  // Each pauses while it holds its place.
  const running = Array.from({ length: defaultRunningQuestions }, () =>
    session.ask('tri(?a, ?b, ?c, ?d)', { limit: 1 }),
  );
  const late = await refusal(session.ask('tri(?a, ?b, ?c, n5)', { timeoutMs: 20 }));
  expect(late).toMatchObject({ code: 'InferenceLimitExceeded', members: { limit: 'timeoutMs' } });
  expect(late.message).toContain('waited');
  expect((await session.ask('e(n0, ?x)')).count).toBe(1);
  release();
  await Promise.all(running);
  expect((await session.ask('tri(n0, n1, ?c, n5)')).count).toBe(1);
});
