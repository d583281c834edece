import { expect, test } from 'vitest';
import { aggregateInputSchema, type AggregateResult } from '../contract/aggregation.ts';
import { parseAtom } from '../language/parse.ts';
import {
  factInput,
  type Fields,
  hour,
  longest,
  openSession,
  refusal,
  type Session,
} from '../testing/engine-fixtures.ts';

/** POST /aggregate: contract section 3. */

/** An aggregate over the atoms that match a pattern, or over a whole predicate if the text is only its name. */
function aggregate(
  { engine, caller }: Session,
  operation: string,
  text: string,
  fields: Fields = {},
): Promise<AggregateResult> {
  const pattern = text.includes('(') ? parseAtom(text) : { predicate: text, args: null };
  const { predicate, args } = pattern;
  return engine.aggregate(
    caller,
    aggregateInputSchema.parse({ operation, predicate, args, ...longest, ...fields }),
  );
}

async function figure(...asked: Parameters<typeof aggregate>): Promise<AggregateResult['result']> {
  return (await aggregate(...asked)).result;
}

/** The schema's errors for the request: path and message. */
function refusedFields(fields: Fields): string[] {
  const parsed = aggregateInputSchema.safeParse({ operation: 'COUNT', predicate: 'p', ...fields });
  return parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

async function shop(): Promise<Session> {
  const session = await openSession();
  await session.tellAll([
    'sold(north, pen, 3)',
    'sold(north, ink, 5)',
    'sold(south, pen, 3)',
    'sold(south, pen, 10)',
    '-sold(south, ink, 99)',
  ]);
  return session;
}

test('counts matching atoms with COUNT, which needs no variable', async () => {
  const session = await shop();
  expect(await aggregate(session, 'COUNT', 'sold(?region, ?what, ?n)')).toEqual({
    operation: 'COUNT',
    result: 4,
    matchedFacts: 4,
    groups: [],
  });
  expect(await figure(session, 'COUNT', 'sold(south, pen, ?_)')).toBe(2);
});

test('computes SUM, MIN, MAX and AVG of a variable or of the argument at an index', async () => {
  const session = await shop();
  for (const of of [{ variable: 'n' }, { variable: '?n' }, { argIndex: 2 }]) {
    const figures = ['SUM', 'MIN', 'MAX', 'AVG'].map((name) => figure(session, name, 'sold(?r, ?w, ?n)', of));
    expect(await Promise.all(figures)).toEqual([21, 3, 10, 5.25]);
  }
});

test('computes a value for each group with groupBy, ordered by their keys by code point', async () => {
  const session = await shop();
  const fields = { variable: 'n', groupBy: ['what', '?region'] };
  expect(await aggregate(session, 'SUM', 'sold(?region, ?what, ?n)', fields)).toEqual({
    operation: 'SUM',
    result: 21,
    matchedFacts: 4,
    groups: [
      { key: { what: 'ink', region: 'north' }, result: 5, matchedFacts: 1 },
      { key: { what: 'pen', region: 'north' }, result: 3, matchedFacts: 1 },
      { key: { what: 'pen', region: 'south' }, result: 13, matchedFacts: 2 },
    ],
  });
});

test('orders keys by code point, not by UTF-16 unit', async () => {
  const session = await openSession();
  await session.tellAll(['p(\u{1F600})', 'p(\uFF21)', 'p(b)', 'p(a)']);
  const { groups } = await aggregate(session, 'COUNT', 'p(?x)', { groupBy: ['x'] });
  expect(groups.map(({ key }) => key.x)).toEqual(['a', 'b', '\uFF21', '\u{1F600}']);
});

test('counts every value once with distinct, in total and in each group', async () => {
  const session = await shop();
  const fields = { variable: 'n', groupBy: ['what'], distinct: true };
  expect(await aggregate(session, 'SUM', 'sold(?r, ?what, ?n)', fields)).toEqual({
    operation: 'SUM',
    result: 18,
    matchedFacts: 4,
    groups: [
      { key: { what: 'ink' }, result: 5, matchedFacts: 1 },
      { key: { what: 'pen' }, result: 13, matchedFacts: 3 },
    ],
  });
  expect(await figure(session, 'COUNT', 'sold(?r, ?w, ?n)', { variable: 'w', distinct: true })).toBe(2);
  expect(await figure(session, 'COUNT', 'sold(?r, ?w, ?n)', { variable: 'w' })).toBe(4);
  expect(await figure(session, 'AVG', 'sold(?r, ?w, ?n)', { variable: 'n', distinct: true })).toBe(6);
});

test('aggregates only true facts', async () => {
  const session = await shop();
  expect(await figure(session, 'MAX', 'sold(south, ?what, ?n)', { variable: 'n' })).toBe(10);
  expect(await figure(session, 'COUNT', 'sold')).toBe(4);
});

test('matches any number of arguments without args', async () => {
  const session = await openSession();
  await session.tellAll(['p()', 'p(1)', 'p(2, 3)', 'p(2, 4, x)', '-p(9)', 'q(7)']);
  expect(await aggregate(session, 'COUNT', 'p')).toMatchObject({ result: 4, matchedFacts: 4 });
  expect(await aggregate(session, 'SUM', 'p', { argIndex: 0 })).toMatchObject({ result: 5, matchedFacts: 3 });
  expect(await aggregate(session, 'SUM', 'p', { argIndex: 1 })).toMatchObject({ result: 7, matchedFacts: 2 });
  expect(await figure(session, 'SUM', 'p', { argIndex: 0, distinct: true })).toBe(3);
  expect(await figure(session, 'COUNT', 'p', { argIndex: 0, distinct: true })).toBe(2);
});

test('returns 0 for COUNT and SUM without a match, null for the others', async () => {
  const session = await shop();
  const of = { argIndex: 0, groupBy: ['x'] };
  const figures = ['COUNT', 'SUM', 'MIN', 'MAX', 'AVG'].map((name) =>
    aggregate(session, name, 'none(?x)', of),
  );
  expect(await Promise.all(figures)).toEqual([
    { operation: 'COUNT', result: 0, matchedFacts: 0, groups: [] },
    { operation: 'SUM', result: 0, matchedFacts: 0, groups: [] },
    { operation: 'MIN', result: null, matchedFacts: 0, groups: [] },
    { operation: 'MAX', result: null, matchedFacts: 0, groups: [] },
    { operation: 'AVG', result: null, matchedFacts: 0, groups: [] },
  ]);
  expect(await figure(session, 'COUNT', 'sold', { argIndex: 7 })).toBe(0);
  const stranger = session.as({ tenant: 'stranger' });
  expect(await figure(stranger, 'COUNT', 'sold')).toBe(0);
});

test('rejects SUM and AVG over a value that is not a number, naming the least of several', async () => {
  const session = await openSession();
  await session.tellAll(['p(x, 1)', 'p(x, zwei)', 'p(y, "ein, s")', 'p(y, 007)', 'p(z, "")', 'q(x, 1)']);
  const refused = await refusal(aggregate(session, 'SUM', 'p(?x, ?n)', { variable: 'n', groupBy: ['x'] }));
  expect(refused.code).toBe('ValidationException');
  expect(refused.message).toBe('variable: SUM takes numbers, and "" is no number');
  const ofMean = await refusal(aggregate(session, 'AVG', 'p(y, ?n)', { argIndex: 1 }));
  expect(ofMean.message).toBe('argIndex: AVG takes numbers, and "007" is no number');
  const long = await openSession();
  await long.tell(`p(${'\u{1F600}'.repeat(5000)})`);
  const ofLong = await refusal(aggregate(long, 'SUM', 'p(?x)', { variable: 'x' }));
  expect(ofLong.message).toBe(`variable: SUM takes numbers, and "${'\u{1F600}'.repeat(100)}…" is no number`);
});

test('compares MIN and MAX numerically if all are numbers, else by code point', async () => {
  const session = await openSession();
  await session.tellAll([
    'n(10)',
    'n(9)',
    'n(1e1)',
    'n(-2.5)',
    'm(10)',
    'm(9)',
    'm(b)',
    'm(\uFF21)',
    'm(\u{1F600})',
  ]);
  expect(await figure(session, 'MIN', 'n(?x)', { variable: 'x' })).toBe(-2.5);
  expect(await figure(session, 'MAX', 'n(?x)', { variable: 'x' })).toBe(10);
  expect(await figure(session, 'MIN', 'm(?x)', { variable: 'x' })).toBe('10');
  expect(await figure(session, 'MAX', 'm(?x)', { variable: 'x' })).toBe('\u{1F600}');
});

test('decides separately for each group whether all values are numbers', async () => {
  const session = await openSession();
  await session.tellAll(['p(a, 10)', 'p(a, 9)', 'p(b, 10)', 'p(b, 9)', 'p(b, x)']);
  expect(await aggregate(session, 'MAX', 'p(?g, ?n)', { variable: 'n', groupBy: ['g'] })).toMatchObject({
    result: 'x',
    groups: [{ result: 10 }, { result: 'x' }],
  });
});

test('sums exactly, in whatever order the facts were told', async () => {
  const session = await openSession();
  await session.tellAll(['p(1e16)', 'p(1)', 'p(-1e16)', 'q(0.1)', 'q(0.2)', 'q(0.3)', 'q(-0.6)']);
  expect(await figure(session, 'SUM', 'p(?x)', { variable: 'x' })).toBe(1);
  expect(await figure(session, 'AVG', 'p(?x)', { variable: 'x' })).toBe(1 / 3);
  expect(await figure(session, 'SUM', 'q(?x)', { variable: 'x' })).toBe(2.7755575615628914e-17);
});

test('returns an integer that JSON numbers cannot represent as text with all its digits', async () => {
  const session = await openSession();
  await session.tellAll(['p(9007199254740991)', 'p(1)', 'p(123456789012345678901234567890)', 'q(1e400)']);
  expect(await figure(session, 'SUM', 'p(?x)', { variable: 'x' })).toBe('123456789012354686100489308882');
  expect(await figure(session, 'MAX', 'p(?x)', { variable: 'x' })).toBe('123456789012345678901234567890');
  expect(await figure(session, 'MAX', 'p(9007199254740991)', { argIndex: 0 })).toBe(9007199254740991);
  expect(await figure(session, 'MAX', 'q(?x)', { variable: 'x' })).toBe('1e400');
});

test('rejects a sum or mean beyond a double, with the reason', async () => {
  const session = await openSession();
  await session.tellAll(['p(1e308)', 'p(1.5e308)', 'q(1e400)']);
  // Stored before the length of constants was limited.
  await session.engine.tell(session.caller, { ...factInput('r(9)'), args: ['9'.repeat(200_000)] });
  expect((await refusal(aggregate(session, 'SUM', 'p(?x)', { variable: 'x' }))).message).toMatch(
    /the SUM is beyond the greatest number/,
  );
  expect(await figure(session, 'AVG', 'p(?x)', { variable: 'x' })).toBe(1.25e308);
  expect((await refusal(aggregate(session, 'AVG', 'q(?x)', { variable: 'x' }))).message).toMatch(
    /"1e400" is beyond the greatest number/,
  );
  expect((await refusal(aggregate(session, 'SUM', 'r(?x)', { variable: 'x' }))).message).toMatch(
    /longer than the 100000 characters/,
  );
});

test('counts the same atom of several scopes once, and accepts a scope or unscoped', async () => {
  const session = await openSession();
  await session.tellAll(['p(1)', 'p(2)']);
  await session.tell('p(2)', { scope: 's' });
  await session.tell('p(4)', { scope: 's' });
  await session.tell('p(4)', { scope: 't' });
  const sum = (fields: Fields) => aggregate(session, 'SUM', 'p(?x)', { variable: 'x', ...fields });
  expect(await sum({})).toMatchObject({ result: 7, matchedFacts: 3 });
  expect(await sum({ scope: 's' })).toMatchObject({ result: 6, matchedFacts: 2 });
  expect(await sum({ unscoped: true })).toMatchObject({ result: 3, matchedFacts: 2 });
  expect(await sum({ scope: 'none' })).toMatchObject({ result: 0, matchedFacts: 0 });
});

test('matches equal constants for a repeated variable in args, and anything for ?_', async () => {
  const session = await openSession();
  await session.tellAll(['e(1, 1)', 'e(1, 2)', 'e(3, 3)']);
  for (const infer of [false, true]) {
    expect(await figure(session, 'SUM', 'e(?x, ?x)', { variable: 'x', infer })).toBe(4);
    expect(await figure(session, 'COUNT', 'e(?_, ?_)', { infer })).toBe(3);
    expect(await figure(session, 'SUM', 'e(?_, ?_)', { argIndex: 1, infer })).toBe(6);
    expect(await figure(session, 'SUM', 'e(1, ?_)', { argIndex: 0, infer })).toBe(2);
    expect(await figure(session, 'COUNT', 'e(1, ?_)', { argIndex: 0, distinct: true, infer })).toBe(1);
  }
});

test('counts only stored facts without infer, and derivable ones too with it, each atom once', async () => {
  const session = await openSession();
  await session.tellAll(['edge(a, b)', 'edge(b, c)', 'path(a, b)']);
  await session.teach('path(?x, ?y) :- edge(?x, ?y)');
  await session.teach('path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)');
  await session.teach('path(?n) :- ?n = count { ?x, ?y : path(?x, ?y) }');
  expect(await figure(session, 'COUNT', 'path(?x, ?y)')).toBe(1);
  expect(await aggregate(session, 'COUNT', 'path(?x, ?y)', { infer: true, groupBy: ['x'] })).toEqual({
    operation: 'COUNT',
    result: 3,
    matchedFacts: 3,
    groups: [
      { key: { x: 'a' }, result: 2, matchedFacts: 2 },
      { key: { x: 'b' }, result: 1, matchedFacts: 1 },
    ],
  });
  expect(await figure(session, 'COUNT', 'path', { infer: true })).toBe(4);
  expect(await figure(session, 'MAX', 'path', { infer: true, argIndex: 0 })).toBe('b');
});

test('sums and distinguishes values computed by arithmetic like any others', async () => {
  const session = await openSession();
  await session.tellAll(['n(1)', 'n(2)', 'n(10, 4)']);
  await session.teach('n(?z, ?y) :- n(?x), ?y = ?x * ?x, ?z = ?x + 100');
  expect(await figure(session, 'SUM', 'n(?z, ?y)', { variable: 'y', infer: true })).toBe(9);
  const distinct = { infer: true, argIndex: 0, distinct: true };
  expect(await figure(session, 'SUM', 'n', distinct)).toBe(1 + 2 + 10 + 101 + 102);
  const { groups } = await aggregate(session, 'COUNT', 'n(?z, ?y)', { groupBy: ['y'], infer: true });
  expect(groups.map(({ key, result }) => [key.y, result])).toEqual([
    ['1', 1],
    ['4', 2],
  ]);
});

test('evaluates scoped rules in the view of their scope and in the view of everything', async () => {
  const session = await openSession();
  await session.tell('p(1)');
  await session.tell('p(2)', { scope: 's' });
  await session.teach('q(?x) :- p(?x)', { scope: 's' });
  const sum = (fields: Fields) => figure(session, 'SUM', 'q(?x)', { variable: 'x', infer: true, ...fields });
  expect(await sum({})).toBe(2);
  expect(await sum({ scope: 's' })).toBe(2);
  expect(await sum({ unscoped: true })).toBe(0);
});

test('counts facts only while they are valid', async () => {
  const session = await openSession();
  await session.tell('p(1)', { ttl: hour });
  await session.tell('p(2)', { validFrom: session.clock.now() + hour });
  expect(await figure(session, 'SUM', 'p(?x)', { variable: 'x' })).toBe(1);
  session.clock.advance(hour);
  expect(await figure(session, 'SUM', 'p(?x)', { variable: 'x' })).toBe(2);
});

test('does not count as a use of the aggregated facts', async () => {
  const session = await openSession();
  const { id } = await session.tell('p(1)');
  await aggregate(session, 'SUM', 'p(?x)', { variable: 'x' });
  await aggregate(session, 'SUM', 'p(?x)', { variable: 'x', infer: true });
  expect((await session.engine.fact(session.caller, id)).salienceBreakdown.uses).toBe(1);
});

test('stops an aggregate over too much at its limits and when its client disconnects', async () => {
  const session = await openSession();
  await session.tellAll(Array.from({ length: 200 }, (_, at) => `n(${at})`));
  await session.teach('pair(?x, ?y) :- n(?x), n(?y)');
  const refused = await refusal(aggregate(session, 'COUNT', 'pair', { infer: true, maxDerivations: 1000 }));
  expect(refused.code).toBe('InferenceLimitExceeded');
  expect(refused.members['limit']).toBe('maxDerivations');
  const gone = session.as({ signal: AbortSignal.abort() });
  await expect(aggregate(gone, 'COUNT', 'pair', { infer: true })).rejects.toThrow(/client has gone/);
});

test('accepts variables with odd names as keys', async () => {
  const session = await openSession();
  await session.tellAll(['p(1, 2)']);
  const { groups } = await session.engine.aggregate(
    session.caller,
    aggregateInputSchema.parse({
      operation: 'COUNT',
      predicate: 'p',
      args: ['?__proto__', '?ärger'],
      groupBy: ['__proto__', 'ärger', '?ärger'],
    }),
  );
  expect(JSON.stringify(groups)).toBe('[{"key":{"__proto__":"1","ärger":"2"},"result":1,"matchedFacts":1}]');
});

test.each([
  [{ operation: 'SUM' }, 'variable: SUM needs variable or argIndex'],
  [{ args: ['?x'], variable: 'x', argIndex: 0 }, 'argIndex: give either variable or argIndex, not both'],
  [{ variable: 'x' }, 'variable: variable must be one of args: give args, or argIndex instead'],
  [{ groupBy: ['x'] }, 'groupBy: the variables of groupBy are those of args: give args'],
  [{ args: ['?x'], variable: 'y' }, 'variable: ?y is not among the variables of args'],
  [{ args: ['x'], variable: 'x' }, 'variable: ?x is not among the variables of args'],
  [{ args: ['?x'], groupBy: ['x', 'y'] }, 'groupBy.1: ?y is not among the variables of args'],
  [{ args: ['?x'], argIndex: 1 }, 'argIndex: args has 1 argument, counted from 0'],
  [{ args: [], argIndex: 0 }, 'argIndex: args has 0 arguments, counted from 0'],
  [{ args: ['?_'], variable: '_' }, 'variable: ?_ matches anything and has no value: use a named variable'],
  [
    { args: ['?_'], groupBy: ['?_'] },
    'groupBy.0: ?_ matches anything and has no value: use a named variable',
  ],
  [{ args: ['?x'], variable: 'x y' }, 'variable: a variable name is letters, digits or _, with or without ?'],
  [{ scope: 's', unscoped: true }, 'unscoped: give either scope or unscoped, not both'],
])('rejects an inconsistent request with the reason: %j', (fields, message) => {
  expect(refusedFields(fields)).toEqual([message]);
});

test.each([
  [{ operation: 'count' }, 'operation'],
  [{ predicate: '<' }, 'predicate'],
  [{ argIndex: -1 }, 'argIndex'],
  [{ args: ['?x'], variable: '' }, 'variable'],
  [{ args: ['?x y'] }, 'args.0'],
  [{ having: 1 }, ''],
])('rejects a request of the wrong shape: %j', (fields, path) => {
  expect(refusedFields(fields).map((each) => each.split(':')[0])).toEqual([path]);
});
