import { expect, test } from 'vitest';
import { type Trace, traceInputSchema } from '../contract/explanation.ts';
import {
  chainOf,
  factInput,
  gate,
  longest,
  openSession,
  refusal,
  type Session,
} from '../testing/engine-fixtures.ts';

/** What inference did and where its time went: contract section 5, `POST /trace`. */

function traceOf({ engine, caller }: Session, text: string, fields: object = {}): Promise<Trace> {
  return engine.trace(caller, traceInputSchema.parse({ text, ...longest, ...fields }));
}

/** Events as lines: `depth port atom`, with the rule if there is one. */
function eventLines({ events }: Trace): string[] {
  return events.map(({ depth, port, atom, ruleId }) =>
    ruleId === null ? `${depth} ${port} ${atom}` : `${depth} ${port} ${atom} ${ruleId}`,
  );
}

function goalLines({ subgoals }: Trace): string[] {
  return subgoals.map(({ goal, calls, answers }) => `${goal}: ${calls} calls, ${answers} answers`);
}

function ruleLines({ rules }: Trace): string[] {
  return rules.map(({ rule, fired, derived }) => `${rule}: fired ${fired}, derived ${derived}`);
}

function withoutTimes(trace: Trace): unknown {
  return { ...trace, elapsedMs: 0, rules: trace.rules.map((rule) => ({ ...rule, elapsedMs: 0 })) };
}

/** Ancestors of a line of four, by right recursion: rules r2 and r3. */
async function family(options = {}): Promise<Session> {
  const session = await openSession(options);
  await session.tellAll(['parent(alice, bob)', 'parent(bob, carol)', 'parent(carol, dan)']);
  await session.teach('ancestor(?x, ?y) :- parent(?x, ?y)');
  await session.teach('ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)');
  return session;
}

/** Two nodes that reach each other. */
async function cycle(...rules: string[]): Promise<Session> {
  const session = await openSession();
  await session.tellAll(['edge(a, b)', 'edge(b, a)']);
  for (const rule of rules) await session.teach(rule);
  return session;
}

test('shows each subgoal when it is demanded, answered, and found to have no answer', async () => {
  const trace = await traceOf(await family(), 'ancestor(alice, ?who)');
  expect(trace).toMatchObject({ answers: 3, truncated: false });
  expect(eventLines(trace)).toEqual([
    '0 call ancestor(alice, ?who)',
    '0 exit ancestor(alice, bob) r2',
    '1 call ancestor(bob, ?who) r3',
    '1 exit ancestor(bob, carol) r2',
    '2 call ancestor(carol, ?who) r3',
    '0 exit ancestor(alice, carol) r3',
    '2 exit ancestor(carol, dan) r2',
    '3 call ancestor(dan, ?who) r3',
    '1 exit ancestor(bob, dan) r3',
    '0 exit ancestor(alice, dan) r3',
    '3 fail ancestor(dan, ?who)',
  ]);
  expect(trace.events.map(({ seq }) => seq)).toEqual(trace.events.map((_, at) => at + 1));
});

test('counts for each rule how often its body was satisfied and what was new, in the order of creation', async () => {
  const trace = await traceOf(await family(), 'ancestor(alice, ?who)');
  expect(ruleLines(trace)).toEqual([
    'ancestor(?x, ?y) :- parent(?x, ?y): fired 3, derived 3',
    'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z): fired 3, derived 3',
  ]);
  for (const { elapsedMs } of [trace, ...trace.rules]) expect(elapsedMs).toBeGreaterThanOrEqual(0);
});

test('counts for each subgoal its calls and its answers, in the order of the first calls', async () => {
  expect(goalLines(await traceOf(await family(), 'ancestor(alice, ?who)'))).toEqual([
    'ancestor(alice, ?who): 1 calls, 3 answers',
    'ancestor(bob, ?who): 1 calls, 2 answers',
    'ancestor(carol, ?who): 1 calls, 1 answers',
    'ancestor(dan, ?who): 1 calls, 0 answers',
  ]);
});

test('reuses the subgoal that right recursion on a cycle comes back to', async () => {
  const session = await cycle(
    'reach(?x, ?y) :- edge(?x, ?y)',
    'reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z)',
  );
  const trace = await traceOf(session, 'reach(a, ?z)');
  expect(eventLines(trace)).toEqual([
    '0 call reach(a, ?z)',
    '0 exit reach(a, b) r2',
    '1 call reach(b, ?z) r3',
    '1 exit reach(b, a) r2',
    '2 reuse reach(a, ?z) r3',
    '1 exit reach(b, b) r3',
    '0 exit reach(a, a) r3',
  ]);
  expect(goalLines(trace)).toEqual(['reach(a, ?z): 2 calls, 2 answers', 'reach(b, ?z): 1 calls, 2 answers']);
  expect(ruleLines(trace)).toEqual([
    'reach(?x, ?y) :- edge(?x, ?y): fired 2, derived 2',
    'reach(?x, ?z) :- edge(?x, ?y), reach(?y, ?z): fired 4, derived 2',
  ]);
});

test('reuses the goal of left recursion', async () => {
  const session = await cycle(
    'reach(?x, ?y) :- edge(?x, ?y)',
    'reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)',
  );
  expect(eventLines(await traceOf(session, 'reach(a, ?z)'))).toEqual([
    '0 call reach(a, ?z)',
    '0 exit reach(a, b) r2',
    '1 reuse reach(a, ?z) r3',
    '0 exit reach(a, a) r3',
  ]);
});

test('completes the goal of a default negation, answered or failed, before the conclusion that depends on it', async () => {
  const session = await openSession();
  await session.tellAll(['node(a)', 'node(b)', 'friend(a, z)']);
  await session.teach('hasFriend(?x) :- friend(?x, ?_)');
  await session.teach('lonely(?x) :- node(?x), not hasFriend(?x)');
  const trace = await traceOf(session, 'lonely(?x)');
  expect(eventLines(trace)).toEqual([
    '0 call lonely(?x)',
    '1 call hasFriend(b) r3',
    '1 call hasFriend(a) r3',
    '1 exit hasFriend(a) r2',
    '1 fail hasFriend(b)',
    '0 exit lonely(b) r3',
  ]);
  expect(ruleLines(trace)).toEqual([
    'hasFriend(?x) :- friend(?x, ?_): fired 1, derived 1',
    'lonely(?x) :- node(?x), not hasFriend(?x): fired 1, derived 1',
  ]);
});

test('lets the rule with an aggregate demand what it counts', async () => {
  const session = await openSession();
  await session.tellAll(['node(a)', 'edge(a, b)', 'edge(a, c)']);
  await session.teach('linked(?x, ?y) :- edge(?x, ?y)');
  await session.teach('degree(?x, ?n) :- node(?x), ?n = count { ?y : linked(?x, ?y) }');
  const trace = await traceOf(session, 'degree(a, ?n)');
  expect(eventLines(trace)).toEqual([
    '0 call degree(a, ?n)',
    '1 call linked(a, ?y) r3',
    '1 exit linked(a, c) r2',
    '1 exit linked(a, b) r2',
    '0 exit degree(a, 2) r3',
  ]);
  expect(ruleLines(trace)[1]).toContain('fired 1, derived 1');
});

test('lets that rule demand a negation inside braces too', async () => {
  const session = await openSession();
  await session.tellAll(['node(a)', 'edge(a, b)', 'edge(a, c)', 'closed(c)']);
  await session.teach('shut(?x) :- closed(?x)');
  await session.teach('open(?x, ?n) :- node(?x), ?n = count { ?y : edge(?x, ?y), not shut(?y) }');
  const trace = await traceOf(session, 'open(a, ?n)');
  expect(eventLines(trace)).toEqual([
    '0 call open(a, ?n)',
    '1 call shut(c) r3',
    '1 call shut(b) r3',
    '1 exit shut(c) r2',
    '1 fail shut(b)',
    '0 exit open(a, 1) r3',
  ]);
});

test('answers a goal from stored facts without a rule, beside rules and alone', async () => {
  const session = await family();
  await session.tell('ancestor(alice, adam)');
  const lines = eventLines(await traceOf(session, 'ancestor(alice, adam)'));
  expect(lines.slice(0, 2)).toEqual(['0 call ancestor(alice, adam)', '0 exit ancestor(alice, adam)']);
  const stored = await traceOf(session, 'parent(alice, ?_)');
  expect(eventLines(stored)).toEqual(['0 call parent(alice, ?_)', '0 exit parent(alice, bob)']);
  expect(goalLines(stored)).toEqual(['parent(alice, ?_): 1 calls, 1 answers']);
  expect(stored.rules).toEqual([]);
});

test('reports no match as a failed goal, not as an error', async () => {
  const session = await family();
  for (const goal of ['parent(dan, ?x)', 'ancestor(nobody, ?x)', 'unheard(?x)', '-parent(alice, bob)']) {
    const trace = await traceOf(session, goal);
    expect(trace, goal).toMatchObject({ answers: 0, rules: [], truncated: false });
    expect(eventLines(trace), goal).toEqual([`0 call ${goal}`, `0 fail ${goal}`]);
    expect(goalLines(trace), goal).toEqual([`${goal}: 1 calls, 0 answers`]);
  }
  expect(eventLines(await traceOf(session, 'ancestor(dan, ?x)'))).toEqual([
    '0 call ancestor(dan, ?x)',
    '0 fail ancestor(dan, ?x)',
  ]);
});

test('lists a rule that was tried in vain with zeros', async () => {
  expect(ruleLines(await traceOf(await family(), 'ancestor(dan, ?x)'))).toEqual([
    'ancestor(?x, ?y) :- parent(?x, ?y): fired 0, derived 0',
    'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z): fired 0, derived 0',
  ]);
});

test('traces a question that is a body as a goal of its own, with its instances as answers', async () => {
  const trace = await traceOf(await family(), 'parent(bob, ?y), ancestor(?y, ?z), ?n = 1 + 1');
  expect(trace.answers).toBe(1);
  expect(eventLines(trace)).toEqual([
    '0 call parent(bob, ?y), ancestor(?y, ?z), ?n = 1 + 1',
    '1 call ancestor(carol, ?z)',
    '1 exit ancestor(carol, dan) r2',
    '2 call ancestor(dan, ?z) r3',
    '0 exit parent(bob, carol), ancestor(carol, dan), 2 = 1 + 1',
    '2 fail ancestor(dan, ?z)',
  ]);
});

test('accepts a question as predicate and args, and as a body', async () => {
  const session = await family();
  const wanted = withoutTimes(await traceOf(session, 'ancestor(alice, ?who)'));
  const pattern = { predicate: 'ancestor', args: ['alice', '?who'] };
  for (const form of [pattern, { body: [pattern] }])
    expect(withoutTimes(await session.engine.trace(session.caller, traceInputSchema.parse(form)))).toEqual(
      wanted,
    );
});

test('distinguishes explicitly negated goals', async () => {
  const session = await openSession();
  await session.tellAll(['penguin(tux)']);
  await session.teach('-flies(?x) :- penguin(?x)');
  expect(eventLines(await traceOf(session, '-flies(?x)'))).toEqual([
    '0 call -flies(?x)',
    '0 exit -flies(tux) r2',
  ]);
});

test('names the free arguments of a generalized subgoal with letters', async () => {
  const session = await cycle('linked(?x, ?y) :- edge(?x, ?y)');
  await session.tell('edge(c, c)');
  const trace = await traceOf(session, 'linked(?x, ?x)');
  expect(trace.answers).toBe(1);
  expect(goalLines(trace)).toEqual(['linked(?a, ?b): 1 calls, 3 answers']);
  await session.tell(`wide(${Array.from({ length: 28 }, () => 'x').join(', ')})`);
  const names = Array.from({ length: 28 }, (_, at) => `?v${at}`);
  await session.teach(`copy(${names.join(', ')}) :- wide(${names.join(', ')})`);
  const [wide] = (await traceOf(session, `copy(x, ${Array.from({ length: 27 }, () => '?v').join(', ')})`))
    .subgoals;
  expect(wide?.goal).toMatch(/^copy\(x, \?b, \?c, .*, \?z, \?a1, \?b1\)$/);
});

test('quotes constants if needed, in goals and in answers', async () => {
  const session = await openSession();
  await session.tellAll(['said("a, b", "")', 'said("a, b", "\\n")']);
  await session.teach('heard(?x, ?y) :- said(?x, ?y)');
  const trace = await traceOf(session, 'heard("a, b", ?y)');
  expect(trace.events.map(({ atom }) => atom)).toEqual([
    'heard("a, b", ?y)',
    'heard("a, b", "\\n")',
    'heard("a, b", "")',
  ]);
});

test('reads the goals of a scoped rule in the view of its scope, and says so', async () => {
  const session = await openSession();
  await session.tell('edge(a, b)', { scope: 's' });
  await session.tell('edge(a, c)');
  await session.teach('linked(?x, ?y) :- edge(?x, ?y)');
  await session.teach('seen(?x, ?y) :- linked(?x, ?y)', { scope: 's' });
  const scopesOf = ({ subgoals }: Trace) =>
    subgoals.map(({ goal, scope, answers }) => [goal, scope, answers]);
  const all = await traceOf(session, 'seen(a, ?y)');
  expect(all.answers).toBe(1);
  expect(scopesOf(all)).toEqual([
    ['seen(a, ?y)', null, 1],
    ['linked(a, ?y)', 's', 1],
  ]);
  expect(all.events.map(({ scope }) => scope)).toEqual([null, 's', 's', null]);
  expect(scopesOf(await traceOf(session, 'seen(a, ?y)', { scope: 's' }))).toEqual([
    ['seen(a, ?y)', 's', 1],
    ['linked(a, ?y)', 's', 1],
  ]);
  expect((await traceOf(session, 'seen(a, ?y)', { unscoped: true })).answers).toBe(0);
  expect((await traceOf(session, 'linked(a, ?y)', { unscoped: true })).answers).toBe(1);
});

test('ignores disabled rules', async () => {
  const session = await openSession();
  await session.tell('edge(a, b)');
  await session.teach('linked(?x, ?y) :- edge(?x, ?y)', { enabled: false });
  expect(await traceOf(session, 'linked(a, ?y)')).toMatchObject({ answers: 0, rules: [] });
});

test('truncates a trace beyond maxEvents, and keeps its summaries complete', async () => {
  const session = await family();
  const whole = await traceOf(session, 'ancestor(alice, ?who)');
  for (const maxEvents of [1, 2, 10]) {
    const part = await traceOf(session, 'ancestor(alice, ?who)', { maxEvents });
    expect(withoutTimes(part), `${maxEvents} events`).toEqual(
      withoutTimes({ ...whole, events: whole.events.slice(0, maxEvents), truncated: true }),
    );
  }
  const exact = await traceOf(session, 'ancestor(alice, ?who)', { maxEvents: whole.events.length });
  expect(withoutTimes(exact)).toEqual(withoutTimes(whole));
  expect(await traceOf(session, 'unheard(?x)', { maxEvents: 1 })).toMatchObject({
    truncated: true,
    events: [{ port: 'call' }],
  });
});

test('defaults to 10,000 for maxEvents', async () => {
  const session = await openSession();
  await session.tellAll(chainOf(200));
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  const trace = await traceOf(session, 'reach(?x, ?y)');
  expect(trace).toMatchObject({ answers: 20_100, truncated: true });
  expect(trace.events).toHaveLength(10_000);
  expect(trace.rules.map(({ derived }) => derived)).toEqual([200, 19_900]);
});

test('returns the same trace again, whatever was asked before', async () => {
  const session = await family();
  const first = withoutTimes(await traceOf(session, 'ancestor(alice, ?who)'));
  await session.results('ancestor(?x, ?y)');
  expect(withoutTimes(await traceOf(session, 'ancestor(alice, ?who)'))).toEqual(first);
});

test('counts no use of a fact and no firing of a rule', async () => {
  const session = await family();
  const state = async () =>
    JSON.stringify([
      await session.engine.rules(session.caller),
      await session.list(),
      session.engine.counters(),
    ]);
  const before = await state();
  await traceOf(session, 'ancestor(alice, ?who)');
  expect(await state()).toBe(before);
});

test('answers a traced question in one state, whatever is written meanwhile', async () => {
  const { pause, hold, release } = gate();
  const session = await openSession({ pause });
  await session.tellAll(chainOf(300));
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  const held = hold();
  const tracing = traceOf(session, 'reach(?x, ?y)');
  await held;
  await session.tell('edge(n300, n301)');
  expect((await session.ask('edge(n300, ?x)')).count).toBe(1);
  release();
  expect((await tracing).answers).toBe(45_150);
});

test('returns 422 like a question, and leaves nothing behind', async () => {
  const session = await openSession({ memoryBudgetBytes: 1_000_000 });
  await session.tellAll([...chainOf(600), 'n(0)']);
  await session.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await session.teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  await session.teach('n(?y) :- n(?x), ?y = ?x + 1');
  const limits = [
    ['reach(?x, ?y)', { maxDerivations: 100 }, 'maxDerivations'],
    ['n(?x)', { timeoutMs: 20 }, 'timeoutMs'],
    ['reach(?x, ?y)', {}, 'memory'],
  ] as const;
  for (const [goal, fields, limit] of limits) {
    const refused = await refusal(traceOf(session, goal, fields));
    expect(refused.code).toBe('InferenceLimitExceeded');
    expect(refused.members['limit']).toBe(limit);
  }
  expect((await traceOf(session, 'reach(n598, ?x)')).answers).toBe(2);
});

test('cancels a trace whose client disconnects', async () => {
  const controller = new AbortController();
  const session = (await family()).as({ signal: controller.signal });
  await session.tell('n(0)');
  await session.teach('n(?y) :- n(?x), ?y = ?x + 1');
  const tracing = traceOf(session, 'n(?x)');
  setImmediate(() => controller.abort());
  await expect(tracing).rejects.toThrow('the client has gone');
});

test('counts more than 100,000 subgoals and lists the first of them', async () => {
  const session = await openSession();
  const facts = Array.from({ length: 100_000 }, (_, at) => ({ ...factInput('node(a)'), args: [`n${at}`] }));
  await session.engine.tellAll(session.caller, facts);
  await session.teach('marked(?x) :- mark(?x)');
  await session.tell('mark(n7)');
  const trace = await traceOf(session, 'node(?x), not marked(?x)', { maxEvents: 1 });
  expect(trace).toMatchObject({ answers: 99_999, truncated: true });
  expect(trace.subgoals).toHaveLength(100_000);
  expect(trace.rules).toMatchObject([{ fired: 1, derived: 1 }]);
});

test('traces a question of another tenant on its facts only', async () => {
  const session = await family();
  const other = session.as({ tenant: 'other' });
  const trace = await traceOf(other, 'ancestor(?x, ?y)');
  expect(trace).toMatchObject({ answers: 0, subgoals: [{ calls: 1, answers: 0 }] });
});

test('rejects an unsafe question', async () => {
  const session = await family();
  expect((await refusal(traceOf(session, 'not parent(?x, ?y)'))).code).toBe('RuleException');
});
