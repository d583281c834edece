import { describe, expect, test } from 'vitest';
import { openSession, type Session } from '../testing/engine-fixtures.ts';

/** Hints of questions, retractions and writes: contract section 13, "Silence misleads". */

async function family(): Promise<Session> {
  const session = await openSession();
  await session.tellAll([
    'parent(alice, bob)',
    'parent(bob, carol)',
    'lives_in(bob, New York)',
    'likes(alice, tea)',
  ]);
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  return session;
}

describe('a question without answers', () => {
  test.each([
    [
      'grandmother(alice, ?who)',
      'no fact and no rule has the predicate grandmother: did you mean grandparent(alice, ?who)?',
    ],
    [
      'Parent(alice, ?who)',
      'no fact and no rule has the predicate Parent: did you mean parent(alice, ?who)?',
    ],
    [
      'livesIn(bob, ?where)',
      'no fact and no rule has the predicate livesIn: did you mean lives_in(bob, ?where)?',
    ],
    ['parent(Alice, ?who)', 'no fact of it has Alice, but there is alice: did you mean parent(alice, ?who)?'],
    [
      'grandparent(Alice, ?who)',
      'no fact of it has Alice, but there is alice: did you mean grandparent(alice, ?who)?',
    ],
    [
      "lives_in(?who, 'New York')",
      "no fact of it has 'New York', but there is New York: did you mean lives_in(?who, New York)?",
    ],
    [
      'lives_in(?who, new_york)',
      'no fact of it has new_york, but there is New York: did you mean lives_in(?who, New York)?',
    ],
    ['grandparent(?who)', 'grandparent has 1 argument here, but is known as grandparent/2'],
    ['parent(alice)', 'parent has 1 argument here, but is known as parent/2: for example parent(alice, bob)'],
    ['parent(alice, Who)', 'Who is a constant here: a variable begins with ?, as in parent(alice, ?who)'],
    ['parent(X, Y)', 'X and Y are constants here: a variable begins with ?, as in parent(?x, ?y)'],
    ['parent(Alice, *)', '* is a constant here: a variable begins with ?, as in parent(alice, ?_)'],
    ['-likes(alice, tea)', 'likes(alice, tea) is stored: the opposite of what was asked for'],
  ])('%s', async (text, hint) => {
    const { ask } = await family();
    const { results, hints } = await ask(text);
    expect(results).toEqual([]);
    expect(hints).toContain(hint);
    expect((await ask(text)).hints).toEqual(hints);
  });

  test.each([
    'parent(carol, ?x)',
    'parent(zed, ?x)',
    'parent(?x, ?x)',
    'grandparent(bob, ?x)',
    'likes(alice, coffee)',
  ])('has no hints if nothing looks like a slip: %s', async (text) => {
    const { ask } = await family();
    expect(await ask(text)).not.toHaveProperty('hints');
  });
});

describe('a retraction without effect', () => {
  test('names the facts whose retraction would end a conclusion, and changes nothing', async () => {
    const { forget, forgetPattern, ask } = await family();
    await ask('grandparent(alice, carol)', { withProof: true });
    const ends =
      /^grandparent\(alice, carol\) is a conclusion and cannot be retracted: (to end it, retract|it depends on) parent\(alice, bob\) (or|and) parent\(bob, carol\)$/;
    expect((await forget('grandparent(alice, carol)')).hints).toEqual([expect.stringMatching(ends)]);
    expect((await forget('grandparent(alice, carol)', { dryRun: true })).hints).toHaveLength(1);
    expect((await forgetPattern('grandparent(alice, ?x)')).hints).toEqual([expect.stringMatching(ends)]);
    expect(await ask('grandparent(alice, carol)')).toMatchObject({ count: 1 });
  });

  test('does not claim that one fact ends a conclusion with another proof', async () => {
    const { forget, tellAll, teach } = await openSession();
    await tellAll(['p(a)', 'q(a)', 'r(a)']);
    await teach('c(?x) :- p(?x), r(?x)');
    await teach('c(?x) :- q(?x), r(?x)');
    const [hint] = (await forget('c(a)')).hints ?? [];
    expect(hint).toMatch(/^c\(a\) is a conclusion .*(retract r\(a\)|depends on p\(a\) and r\(a\))$/);
  });

  test('names all facts that together end it', async () => {
    const { forget, tellAll, teach } = await openSession();
    await tellAll(['p(a)', 'q(a)']);
    await teach('c(?x) :- p(?x)');
    await teach('c(?x) :- q(?x)');
    const [hint] = (await forget('c(a)')).hints ?? [];
    expect(hint).toMatch(/(retract all of p\(a\) and q\(a\)|depends on p\(a\))$/);
  });

  test.each([
    ['parent(Alice, *)', 'parent(alice, ?_)'],
    ['likes(alice, "tea.")', 'likes(alice, tea)'],
    ['likes(Alice, ?x)', 'likes(alice, ?x)'],
  ])('suggests the intended pattern: %s', async (text, meant) => {
    const { forgetPattern } = await family();
    const { status, hints } = await forgetPattern(text);
    expect(status).toBe('absent');
    expect(hints?.join('\n')).toContain(meant);
    expect(await forgetPattern(meant)).toMatchObject({ status: 'retracted' });
  });
});

describe('a tell that looks like a slip is stored, and answered with hints', () => {
  test.each([
    [
      'parent(alice)',
      {},
      'parent has 1 argument here, but is known as parent/2: for example parent(alice, bob)',
    ],
    [
      'parent(alice, bob, carol)',
      {},
      'parent has 3 arguments here, but is known as parent/2: for example parent(alice, bob)',
    ],
    ['Parent(bob, dave)', {}, 'Parent is a new predicate beside parent: did you mean parent(bob, dave)?'],
    ['parent(Alice, dave)', {}, 'Alice is new in parent, which has alice: did you mean parent(alice, dave)?'],
    ['not("likes(alice, bob)")', {}, 'to state explicit negation, use -likes(alice, bob)'],
    ['not_likes(alice, bob)', {}, 'to state explicit negation, use -likes(alice, bob)'],
    ['fact("parent(alice, dave)")', {}, 'to store the fact, tell parent(alice, dave)'],
    ['parent(X, Y)', {}, 'X is stored as a constant'],
  ])('%s', async (text, fields, hint) => {
    const { tell, query } = await family();
    const { status, hints } = await tell(text, fields);
    expect(status).toBe('asserted');
    expect(hints?.join('\n')).toContain(hint);
    expect(await query(text)).toHaveLength(1);
    expect(await tell(text, fields)).not.toHaveProperty('hints');
  });

  test.each([
    'parent(carol, dave)',
    'age(alice, 7)',
    'likes(bob, Tea House)',
    'grandparent(zoe, yan)',
    'name(alice, Alice)',
  ])('has no hints if nothing looks like a slip: %s', async (text) => {
    const { tell } = await family();
    expect(await tell(text)).not.toHaveProperty('hints');
  });

  test('checks many facts at once relation by relation', async () => {
    const { tellAll } = await family();
    expect((await tellAll(['parent(a, b)', 'parent(c)', 'Likes(a, b)'])).hints).toEqual([
      'parent has 1 argument here, but is known as parent/2: for example parent(alice, bob)',
      'Likes is a new predicate beside likes: did you mean likes(a, b)?',
    ]);
  });
});

describe('a rule that looks like a slip is stored, and answered with hints', () => {
  test.each([
    [
      'stop(X) :- parent(X, Y)',
      'X and Y are constants here: a variable begins with ?, as in stop(?x) :- parent(?x, ?y)',
    ],
    [
      'stop(Person) :- parent(Person, ?y)',
      'Person is a constant here: a variable begins with ?, as in stop(?person) :- parent(?person, ?y)',
    ],
    [
      'a(?x) :- Parent(?x, ?y)',
      'no fact and no other rule has the predicate Parent: did you mean parent(?x, ?y)?',
    ],
    [
      'a(?x) :- parent(?x)',
      'parent has 1 argument here, but is known as parent/2: for example parent(alice, bob)',
    ],
    ['a(?x) :- grandparent(?x)', 'grandparent has 1 argument here, but is known as grandparent/2'],
    ['fan(?x) :- likes(?x, Tea)', 'no fact of likes has Tea, but there is tea: did you mean likes(?x, tea)?'],
    [
      'anc(?x, ?y) :- parent(?x, ?z), Anc(?z, ?y)',
      'no fact and no other rule has the predicate Anc: did you mean anc(?z, ?y)?',
    ],
  ])('%s', async (text, hint) => {
    const { teach } = await family();
    const { status, hints } = await teach(text);
    expect(status).toBe('asserted');
    expect(hints).toContain(hint);
  });

  test.each([
    'a(?x) :- parent(?x, ?y), unheard(?y)',
    'vip(?x) :- tier(?x, Gold)',
    'anc(?x, ?z) :- parent(?x, ?y), anc(?y, ?z)',
  ])('has no hints if nothing looks like a slip: %s', async (text) => {
    const { teach } = await family();
    expect(await teach(text)).not.toHaveProperty('hints');
  });

  test('treats a capitalized stored constant as a constant', async () => {
    const { teach, tell } = await family();
    await tell('grade(bob, B)');
    expect(await teach('good(?x) :- grade(?x, B)')).not.toHaveProperty('hints');
  });
});

describe('an empty listing', () => {
  test('has hints about its filter', async () => {
    const { list } = await family();
    expect((await list({ predicate: 'Parent' })).hints).toEqual([
      'no fact and no rule has the predicate Parent: did you mean parent?',
    ]);
    expect((await list({ q: 'parent(alice,bob)' })).hints?.[0]).toContain('parent(alice, bob)');
    expect((await list({ q: "'New York'" })).hints?.[0]).toContain('New York');
    expect(await list({ q: 'nothing of the kind' })).not.toHaveProperty('hints');
  });
});

test('gives hints about this tenant only', async () => {
  const mine = await family();
  const theirs = mine.as({ tenant: 'theirs' });
  await theirs.tell('secret(zoe)');
  await theirs.tell('parent(ALICE, zoe)');
  expect((await mine.ask('secrets(?x)')).hints).toEqual(['no fact and no rule has the predicate secrets']);
  expect((await mine.ask('parent(Zoe, ?x)')).hints).toBeUndefined();
});

test('suggests nothing that was retracted or has expired', async () => {
  const { ask, tell, forget, clock } = await openSession();
  await tell('parent(alice, bob)');
  await tell('visit(alice)', { ttl: 1000 });
  await forget('parent(alice, bob)');
  clock.advance(2000);
  expect((await ask('parent(Alice, ?x)')).hints).toEqual(['no fact and no rule has the predicate parent']);
  expect((await ask('visits(?x)')).hints).toEqual(['no fact and no rule has the predicate visits']);
});
