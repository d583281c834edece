import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { explainInputSchema, type Why, type WhyNot } from '../contract/explanation.ts';
import { parseAtom } from '../language/parse.ts';
import {
  chainOf,
  day,
  gate,
  type Fields,
  hour,
  longest,
  openSession,
  refusal,
  second,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

function explained(session: Session, text: string, fields: Fields) {
  const { predicate, args, negated } = parseAtom(text);
  return session.engine.explain(
    session.caller,
    explainInputSchema.parse({ predicate, args, negated, ...longest, ...fields }),
  );
}

async function why(session: Session, text: string, fields: Fields = {}): Promise<Why> {
  return (await explained(session, text, { mode: 'why', ...fields })) as Why;
}

async function whyNot(session: Session, text: string, fields: Fields = {}): Promise<WhyNot> {
  return (await explained(session, text, { mode: 'whyNot', ...fields })) as WhyNot;
}

/** The only attempt. */
async function attempt(session: Session, text: string, fields: Fields = {}) {
  const { attempts } = await whyNot(session, text, fields);
  expect(attempts).toHaveLength(1);
  const { bindings, satisfied, missing } = attempts[0] as WhyNot['attempts'][number];
  return { bindings, satisfied, missing };
}

async function blocks(session: Session, text: string, fields: Fields = {}): Promise<string[]> {
  return (await whyNot(session, text, fields)).blockedBy.map(({ reason, detail }) => `${reason}: ${detail}`);
}

const at = (milliseconds: number): string => new Date(startTime + milliseconds).toISOString();

describe('why', () => {
  it('returns the atom, that it is true, and the proof that /ask gives', async () => {
    const session = await openSession();
    await session.tellAll(['parent(a, b)', 'parent(b, c)']);
    await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
    expect(await why(session, 'grandparent(a, c)')).toEqual({
      atom: 'grandparent(a, c)',
      holds: true,
      proof: await session.proof('grandparent(a, c)'),
    });
  });

  it('says that an atom is not true, with an empty proof', async () => {
    const session = await openSession();
    expect(await why(session, '-p(a)')).toEqual({
      atom: '-p(a)',
      holds: false,
      proof: { roots: [], steps: [] },
    });
  });

  it('proves every answer of an atom with variables', async () => {
    const session = await openSession();
    await session.tellAll(['p(b)', 'p(a)']);
    const { atom, holds, proof } = await why(session, 'p(?x)');
    expect({ atom, holds }).toEqual({ atom: 'p(?x)', holds: true });
    expect(proof.roots.map((root) => proof.steps[root]?.atom)).toEqual(['p(a)', 'p(b)']);
  });

  it('counts the stored premises of the proof as used, once each', async () => {
    const session = await openSession();
    await session.tellAll(['parent(a, b)', 'parent(b, c)', 'parent(c, d)']);
    await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
    session.clock.set(startTime + day);
    await why(session, 'grandparent(a, c)');
    const { facts } = await session.list({ predicate: 'parent' });
    expect(facts.map(({ salience }) => salience > 0.9)).toEqual([true, true, false]);
  });

  it('uses nothing for a "why not"', async () => {
    const session = await openSession();
    await session.tell('p(a)');
    await session.teach('r(?x) :- p(?x), q(?x)');
    session.clock.set(startTime + day);
    await whyNot(session, 'r(a)');
    const { facts } = await session.list();
    expect(facts[0]?.salience).toBeCloseTo(0.5);
  });
});

describe('whyNot', () => {
  it('returns neither attempts nor blocks for a true atom', async () => {
    const session = await openSession();
    await session.tell('p(a)');
    const nothing = { holds: true, attempts: [], blockedBy: [] };
    expect(await whyNot(session, 'p(a)')).toEqual({ atom: 'p(a)', ...nothing });
    await session.teach('q(?x) :- p(?x)');
    expect(await whyNot(session, 'q(a)')).toEqual({ atom: 'q(a)', ...nothing });
  });

  it('requires a single ground atom: a variable returns 400', async () => {
    const session = await openSession();
    const { code, message, members } = await refusal(whyNot(session, 'p(a, ?x)'));
    expect(code).toBe('ValidationException');
    expect(message).toContain('?x');
    expect(members.errors?.[0]?.path).toBe('args.1');
    expect((await refusal(whyNot(session, 'p(?_)'))).code).toBe('ValidationException');
  });

  it('returns no attempts if no rule concludes the atom', async () => {
    const session = await openSession();
    expect(await whyNot(session, 'p(a)')).toEqual({
      atom: 'p(a)',
      holds: false,
      attempts: [],
      blockedBy: [],
    });
  });

  it('returns each rule that could conclude the atom, in the order of creation', async () => {
    const session = await openSession();
    const first = await session.teach('p(?x) :- q(?x)');
    await session.teach('p(b) :- q(c)');
    await session.teach('p(?x) :- q(?x)', { scope: 'other' });
    await session.teach('p(?x, ?y) :- q(?x), q(?y)');
    const second = await session.teach('p(a) :- r()');
    await session.teach('p(?x) :- s(?x)', { enabled: false });
    const { attempts } = await whyNot(session, 'p(a)', { unscoped: true });
    expect(attempts).toEqual([
      { rule: 'p(?x) :- q(?x)', ruleId: first.id, bindings: { x: 'a' }, satisfied: [], missing: ['q(a)'] },
      { rule: 'p(a) :- r()', ruleId: second.id, bindings: {}, satisfied: [], missing: ['r()'] },
    ]);
  });

  it('matches a head with a repeated variable only against equal constants', async () => {
    const session = await openSession();
    await session.teach('same(?x, ?x) :- thing(?x)');
    expect((await whyNot(session, 'same(a, b)')).attempts).toEqual([]);
    expect((await whyNot(session, 'same(a, a)')).attempts).toHaveLength(1);
  });

  it('returns the bindings that satisfy most of the body, and what is missing then', async () => {
    const session = await openSession();
    await session.tellAll(['parent(a, b)', 'parent(a, c)', 'parent(c, d)', 'adult(d)']);
    await session.teach('proud(?x) :- parent(?x, ?y), parent(?y, ?z), adult(?z), happy(?z)');
    expect(await attempt(session, 'proud(a)')).toEqual({
      bindings: { x: 'a', y: 'c', z: 'd' },
      satisfied: ['parent(a, c)', 'parent(c, d)', 'adult(d)'],
      missing: ['happy(d)'],
    });
  });

  it('skips an atom if what follows gets further without it', async () => {
    const session = await openSession();
    await session.tellAll(['p(a, b)', 'q(c)', 'r(c)']);
    await session.teach('h(?x) :- p(?x, ?y), q(?y), r(?y)');
    expect(await attempt(session, 'h(a)')).toEqual({
      bindings: { x: 'a', y: 'c' },
      satisfied: ['q(c)', 'r(c)'],
      missing: ['p(a, c)'],
    });
  });

  it('prefers on a tie the earlier body literals, then the least constants', async () => {
    const session = await openSession();
    await session.tellAll(['p(a, n)', 'p(a, m)', 'q(k)']);
    await session.teach('h(?x) :- p(?x, ?y), q(?y)');
    expect(await attempt(session, 'h(a)')).toEqual({
      bindings: { x: 'a', y: 'm' },
      satisfied: ['p(a, m)'],
      missing: ['q(m)'],
    });
  });

  it('leaves unbound variables as they are', async () => {
    const session = await openSession();
    await session.teach('h(?x) :- p(?x, ?y), q(?y, ?_), ?y > 3, not r(?y)');
    expect(await attempt(session, 'h("a, b")')).toEqual({
      bindings: { x: 'a, b' },
      satisfied: [],
      missing: ['p("a, b", ?y)', 'q(?y, ?_)', '?y > 3', 'not r(?y)'],
    });
  });

  it('shows a satisfied atom with a constant in every argument', async () => {
    const session = await openSession();
    await session.tellAll(['p(a, z)', 'p(a, b)']);
    await session.teach('h(?x) :- p(?x, ?_), q(?x)');
    expect(await attempt(session, 'h(a)')).toEqual({
      bindings: { x: 'a' },
      satisfied: ['p(a, b)'],
      missing: ['q(a)'],
    });
  });

  it('counts comparisons, arithmetic, negations and aggregates like atoms', async () => {
    const session = await openSession();
    await session.tellAll(['age(bob, 17)', 'banned(bob, x)', 'visit(bob, 1)', 'visit(bob, 2)']);
    await session.teach(
      'admitted(?p) :- age(?p, ?a), ?b = ?a + 1, ?b >= 18, ?a >= 18, not banned(?p, ?_), not gone(?p), ?n = count { ?v : visit(?p, ?v) }, ?n > 2',
    );
    expect(await attempt(session, 'admitted(bob)')).toEqual({
      bindings: { p: 'bob', a: '17', b: '18', n: '2' },
      satisfied: [
        'age(bob, 17)',
        '18 = 17 + 1',
        '18 >= 18',
        'not gone(bob)',
        '2 = count { ?v : visit(bob, ?v) }',
      ],
      missing: ['17 >= 18', 'not banned(bob, ?_)', '2 > 2'],
    });
  });

  it('computes the constant that a missing atom would need', async () => {
    const session = await openSession();
    await session.tell('age(bob, 17)');
    await session.teach('next(?p) :- age(?p, ?a), ?b = ?a + 1, allowed(?b)');
    expect(await attempt(session, 'next(bob)')).toEqual({
      bindings: { p: 'bob', a: '17', b: '18' },
      satisfied: ['age(bob, 17)', '18 = 17 + 1'],
      missing: ['allowed(18)'],
    });
  });

  it('uses a stored constant for what could have been computed', async () => {
    const session = await openSession();
    await session.tell('age(bob, 17)');
    await session.teach('adult(?p) :- ?a = 18, age(?p, ?a)');
    expect(await attempt(session, 'adult(bob)')).toEqual({
      bindings: { p: 'bob', a: '17' },
      satisfied: ['age(bob, 17)'],
      missing: ['17 = 18'],
    });
  });

  it('matches a computed conclusion by its exact text', async () => {
    const session = await openSession();
    await session.tell('p(2)');
    await session.teach('h(?y) :- p(?x), ?y = ?x + 1');
    expect((await whyNot(session, 'h(3)')).holds).toBe(true);
    expect(await attempt(session, 'h(3.0)')).toEqual({
      bindings: { x: '2', y: '3.0' },
      satisfied: ['p(2)'],
      missing: ['3.0 = 2 + 1'],
    });
  });

  it('shares variables of braces with the rule, before the colon too', async () => {
    const session = await openSession();
    await session.tellAll(['p(a, 1)', 'p(a, 2)', 'q(a, 2)']);
    await session.teach('h(?x) :- q(?x, ?v), ?n = sum { ?v : p(?x, ?v) }, ?n > 5');
    expect(await attempt(session, 'h(a)')).toEqual({
      bindings: { x: 'a', v: '2', n: '2' },
      satisfied: ['q(a, 2)', '2 = sum { ?v : p(a, 2) }'],
      missing: ['2 > 5'],
    });
  });

  it('sees derived facts, even by recursion', async () => {
    const session = await openSession();
    await session.tellAll(['edge(a, b)', 'edge(b, c)', 'edge(d, e)']);
    await session.teach('path(?x, ?y) :- edge(?x, ?y)');
    await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)');
    const { attempts } = await whyNot(session, 'path(a, e)');
    expect(attempts.map(({ satisfied, missing }) => ({ satisfied, missing }))).toEqual([
      { satisfied: [], missing: ['edge(a, e)'] },
      { satisfied: ['edge(a, b)'], missing: ['path(b, e)'] },
    ]);
  });

  it('explains explicit negation on request', async () => {
    const session = await openSession();
    await session.tell('bird(tux)');
    await session.teach('-flies(?x) :- bird(?x), -light(?x)');
    expect(await attempt(session, '-flies(tux)')).toEqual({
      bindings: { x: 'tux' },
      satisfied: ['bird(tux)'],
      missing: ['-light(tux)'],
    });
    expect((await whyNot(session, 'flies(tux)')).attempts).toEqual([]);
  });

  it('reads the body of a scoped rule in its scope', async () => {
    const session = await openSession();
    await session.tell('p(a)');
    await session.tell('q(a)', { scope: 's' });
    await session.teach('h(?x) :- p(?x), q(?x)', { scope: 's' });
    for (const fields of [{}, { scope: 's' }])
      expect(await attempt(session, 'h(a)', fields)).toEqual({
        bindings: { x: 'a' },
        satisfied: ['q(a)'],
        missing: ['p(a)'],
      });
    expect((await whyNot(session, 'h(a)', { unscoped: true })).attempts).toEqual([]);
  });

  it('answers the same whatever was asked before, and whatever the order of the facts', async () => {
    const texts = ['p(a, c)', 'p(a, b)', 'q(b, z)', 'q(c, y)', 'q(c, x)'];
    const answers: string[] = [];
    for (const order of [texts, [...texts].reverse()]) {
      const session = await openSession();
      await session.teach('r(?x, ?y) :- q(?x, ?y)');
      await session.teach('h(?x) :- p(?x, ?y), r(?y, ?z), s(?z)');
      await session.tellAll(order);
      if (order === texts) await session.results('r(?x, ?y)');
      answers.push(JSON.stringify(await whyNot(session, 'h(a)')));
    }
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).toContain('"satisfied":["p(a, b)","r(b, z)"]');
  });

  it('returns 422 at its limits, and changes nothing', async () => {
    const session = await openSession();
    await session.tellAll(Array.from({ length: 300 }, (_, index) => `p(c${index}, d${index % 7})`));
    await session.teach('h() :- p(?a, ?b), p(?c, ?d), ?a < ?c, ?b < ?d, ?d < ?a, q(?a, ?c)');
    const { code, members } = await refusal(whyNot(session, 'h()', { maxDerivations: 1000 }));
    expect({ code, limit: members['limit'] }).toEqual({
      code: 'InferenceLimitExceeded',
      limit: 'maxDerivations',
    });
    expect(await session.results('p(c1, ?x)')).toEqual(['p(c1, d1)']);
  });

  it('ends if a premise explodes', async () => {
    const session = await openSession();
    await session.tell('n(0)');
    await session.teach('n(?y) :- n(?x), ?y = ?x + 1');
    await session.teach('h() :- n(?x), ?x < 0');
    const { code } = await refusal(whyNot(session, 'h()', { maxDerivations: 10_000 }));
    expect(code).toBe('InferenceLimitExceeded');
  });

  it('finds the best bindings for long bodies of independent literals', async () => {
    const session = await openSession();
    await session.tellAll(Array.from({ length: 50 }, (_, index) => `p(c${index})`));
    const body = Array.from({ length: 200 }, (_, index) =>
      index % 2 === 0 ? `p(?v${index})` : `q(?v${index})`,
    );
    await session.teach(`h() :- ${body.join(', ')}`);
    const { satisfied, missing } = await attempt(session, 'h()');
    expect([satisfied.length, missing.length]).toEqual([100, 100]);
  });

  it('finds the best bindings for long chains', async () => {
    const session = await openSession();
    const edges = Array.from(
      { length: 400 },
      (_, index) => `e(n${index % 20}, n${(index * 7 + (index >> 4)) % 20})`,
    );
    await session.tellAll([...edges, 'e(start, n0)']);
    const body = Array.from({ length: 20 }, (_, index) => `e(?v${index}, ?v${index + 1})`);
    await session.teach(`h(?v0, ?v20) :- ${body.join(', ')}`);
    const { satisfied, missing } = await attempt(session, 'h(start, nowhere)');
    expect([satisfied.length, missing]).toEqual([19, [expect.stringMatching(/^e\(n\d+, nowhere\)$/)]]);
  });

  it('reads one generation, whatever is written while it searches', async () => {
    const { pause, hold, release } = gate();
    const session = await openSession({ pause });
    await session.tellAll(chainOf(300));
    await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
    await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
    const { id } = await session.teach('h() :- reach(?x, ?y), mark(?y)');
    const held = hold();
    const answer = whyNot(session, 'h()');
    await held;
    await session.tell('mark(n1)');
    await session.tell('h()');
    await session.changeRule(id, { enabled: false });
    release();
    const { holds, attempts, blockedBy } = await answer;
    expect({ holds, missing: attempts.map(({ missing }) => missing), blockedBy }).toEqual({
      holds: false,
      missing: [['mark(n1)']],
      blockedBy: [],
    });
    expect((await whyNot(session, 'h()')).holds).toBe(true);
  });

  it('ends when its client disconnects', async () => {
    const { pause, hold, release } = gate();
    const session = await openSession({ pause });
    await session.tellAll(chainOf(300));
    await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
    await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
    await session.teach('h() :- reach(?x, ?y), mark(?y)');
    const controller = new AbortController();
    const held = hold();
    const answer = whyNot(session.as({ signal: controller.signal }), 'h()');
    await held;
    controller.abort();
    release();
    await expect(answer).rejects.toThrow(DOMException);
  });

  it('treats any text as a constant', async () => {
    const session = await openSession();
    await session.teach('h(?__proto__, ?constructor) :- p(?__proto__), q(?constructor)');
    await session.tell('p("__proto__")');
    const { bindings, satisfied } = await attempt(session, 'h("__proto__", "a(b)")');
    expect(Object.entries(bindings)).toEqual([
      ['__proto__', '__proto__'],
      ['constructor', 'a(b)'],
    ]);
    expect(satisfied).toEqual(['p(__proto__)']);
  });

  it('isolates tenants', async () => {
    const session = await openSession();
    const other = session.as({ tenant: 'other' });
    await other.tell('q(a)', { ttl: second });
    await other.tell('q(a)', { scope: 's' });
    await session.teach('p(?x) :- q(?x)');
    session.clock.set(startTime + hour);
    expect((await whyNot(session, 'p(a)', { unscoped: true })).blockedBy).toEqual([]);
    expect((await whyNot(other, 'p(a)', { unscoped: true })).blockedBy).toHaveLength(3);
  });
});

describe('blockedBy', () => {
  it('names a fact whose validity has ended, of the atom or of a missing premise', async () => {
    const session = await openSession();
    await session.tell('p(a)', { ttl: second });
    await session.tell('q(a, b)', { ttl: 2 * second, scope: 's' });
    await session.teach('p(?x) :- q(?x, ?y)');
    expect((await whyNot(session, 'p(a)')).holds).toBe(true);
    session.clock.set(startTime + hour);
    expect(await blocks(session, 'p(a)')).toEqual([
      `expired: p(a) without a scope expired at ${at(second)}`,
      `expired: q(a, b) in scope s expired at ${at(2 * second)}`,
    ]);
    expect(await blocks(session, 'p(a)', { scope: 's' })).toEqual([
      `expired: q(a, b) in scope s expired at ${at(2 * second)}`,
    ]);
  });

  it('remembers an expired fact for a day at most', async () => {
    const session = await openSession();
    await session.tell('p(a)', { ttl: second });
    session.clock.set(startTime + day);
    expect(await blocks(session, 'p(a)')).toHaveLength(1);
    session.clock.set(startTime + second + day);
    expect(await blocks(session, 'p(a)')).toEqual([]);
  });

  it('remembers the latest end after any assertion, retraction and compaction', async () => {
    const session = await openSession();
    await session.tell('p(a)', { ttl: second });
    session.clock.set(startTime + hour);
    await session.tell('p(a)', { ttl: second });
    session.clock.set(startTime + 2 * hour);
    expect(await blocks(session, 'p(a)')).toEqual([
      `expired: p(a) without a scope expired at ${at(hour + second)}`,
    ]);
    await session.tell('p(a)');
    expect((await whyNot(session, 'p(a)')).holds).toBe(true);
    await session.forget('p(a)');
    const others = Array.from({ length: 600 }, (_, index) => `p(other${index})`);
    await session.tellAll(others);
    await session.forgetPattern('p(?x)');
    expect(await blocks(session, 'p(a)')).toEqual([
      `expired: p(a) without a scope expired at ${at(hour + second)}`,
    ]);
    session.clock.set(startTime + hour + second + day);
    expect(await blocks(session, 'p(a)')).toEqual([]);
  });

  it('remembers an expired fact across a restart', async () => {
    const storageDir = await mkdtemp(join(tmpdir(), 'corollary-explain-'));
    onTestFinished(() => rm(storageDir, { recursive: true, force: true }));
    const clock = new ManualClock(startTime);
    const before = await openSession({ storageDir, clock });
    await before.tell('p(a)', { ttl: second });
    clock.set(startTime + hour);
    await before.tell('p(a)');
    await before.forget('p(a)');
    const told = await blocks(before, 'p(a)');
    expect(told).toHaveLength(1);
    await before.engine.close();
    expect(await blocks(await openSession({ storageDir, clock }), 'p(a)')).toEqual(told);
  });

  it('does not report a retracted fact as expired', async () => {
    const session = await openSession();
    await session.tell('p(a)', { ttl: hour });
    await session.forget('p(a)');
    session.clock.set(startTime + 2 * hour);
    expect(await blocks(session, 'p(a)')).toEqual([]);
  });

  it('names a fact that is not valid yet', async () => {
    const session = await openSession();
    await session.tell('p(a)', { validFrom: startTime + hour });
    expect(await blocks(session, 'p(a)')).toEqual([
      `not_yet_valid: p(a) without a scope is valid only from ${at(hour)} on`,
    ]);
    session.clock.set(startTime + hour);
    expect((await whyNot(session, 'p(a)')).holds).toBe(true);
  });

  it('names a fact or a conclusion of another scope', async () => {
    const session = await openSession();
    await session.tell('q(a)', { scope: 't' });
    await session.tell('q(a)');
    await session.teach('p(?x) :- q(?x)');
    expect(await blocks(session, 'p(a)', { scope: 's' })).toEqual([
      'other_scope: p(a) is true without a scope, not in scope s',
      'other_scope: p(a) is true in scope t, not in scope s',
      'other_scope: q(a) is stored without a scope, not in scope s',
      'other_scope: q(a) is stored in scope t, not in scope s',
    ]);
    expect(await blocks(session, 'q(a)', { unscoped: true })).toEqual([]);
  });

  it('names the first fact of each scope for a premise with variables', async () => {
    const session = await openSession();
    await session.tellAll(['q(a, z)', 'q(a, b)', 'q(c, a)'], { scope: 't' });
    await session.teach('p(?x) :- q(?x, ?y)', { scope: 's' });
    expect(await blocks(session, 'p(a)', { scope: 's' })).toEqual([
      'other_scope: q(a, b) is stored in scope t, not in scope s',
    ]);
  });

  it('sees what default negation makes true in a scope but not in the view of everything', async () => {
    const session = await openSession();
    await session.tell('q(a)', { scope: 's' });
    await session.tell('r(a)', { scope: 't' });
    await session.teach('p(?x) :- q(?x), not r(?x)');
    expect(await blocks(session, 'p(a)')).toEqual([
      'other_scope: p(a) is true in scope s, not in the view of all scopes',
    ]);
  });

  it('names a disabled rule that would conclude the atom or a missing premise', async () => {
    const session = await openSession();
    await session.tell('r(a)');
    await session.teach('p(?x) :- q(?x)');
    const { id } = await session.teach('q(?x) :- r(?x)', { enabled: false });
    await session.teach('q(?x) :- s(?x)', { enabled: false });
    await session.teach('q(b) :- r(a)', { enabled: false });
    const detail = `rule_disabled: rule ${id} is disabled and would conclude q(a): q(?x) :- r(?x)`;
    expect(await blocks(session, 'p(a)')).toEqual([detail]);
    expect(await blocks(session, 'q(a)')).toEqual([detail]);
    await session.changeRule(id, { enabled: true });
    expect((await whyNot(session, 'p(a)')).holds).toBe(true);
  });

  it('names a disabled rule that depends on itself', async () => {
    const session = await openSession();
    await session.tellAll(['edge(a, b)', 'edge(b, c)', 'edge(c, d)']);
    await session.teach('path(?x, ?y) :- edge(?x, ?y)');
    const { id } = await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)', { enabled: false });
    expect(await blocks(session, 'path(a, d)')).toEqual([
      `rule_disabled: rule ${id} is disabled and would conclude path(a, d): path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)`,
    ]);
    expect(await blocks(session, 'path(d, a)')).toEqual([]);
  });

  it('does not count a rule that is only supposed to be enabled as fired', async () => {
    const session = await openSession();
    await session.tellAll(['edge(a, b)', 'edge(b, c)', 'edge(c, d)']);
    await session.teach('path(?x, ?y) :- edge(?x, ?y)');
    await session.teach('path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)', { enabled: false });
    expect(await blocks(session, 'path(a, d)')).toHaveLength(1);
    const [, disabled] = await session.engine.rules(session.caller);
    expect(disabled).toMatchObject({ enabled: false, fired: 0 });
  });

  it('ignores disabled rules of other scopes', async () => {
    const session = await openSession();
    await session.tell('q(a)', { scope: 's' });
    await session.teach('p(?x) :- q(?x)', { scope: 's', enabled: false });
    expect(await blocks(session, 'p(a)', { scope: 't' })).toEqual([]);
    expect(await blocks(session, 'p(a)', { scope: 's' })).toHaveLength(1);
    expect(await blocks(session, 'p(a)')).toHaveLength(1);
  });

  it('reports each block once', async () => {
    const session = await openSession();
    await session.tell('q(a)', { ttl: second });
    await session.teach('p(?x) :- q(?x), r(?x)');
    await session.teach('p(?x) :- q(?x), s(?x)');
    session.clock.set(startTime + hour);
    expect(await blocks(session, 'p(a)')).toHaveLength(1);
  });
});
