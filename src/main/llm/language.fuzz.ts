/** Whatever a model answers, stored facts are valid and occur in the text, and our answer is never a bug. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Extracted, Synthesized } from '../../engine/contract/extraction.ts';
import { constantsSchema, predicateSchema } from '../../engine/contract/language-schemas.ts';
import type { FactList } from '../../engine/contract/facts.ts';
import { parseAtom, renderAtom } from '../../engine/index.ts';
import { startLanguageUnderTest } from './testing/language-under-test.ts';
import type { Reply } from './testing/scripted-provider.ts';

const numRuns = process.env['LONG'] === '1' ? 1000 : 60;

const text =
  'Alice knows Bob.\nBob  is\t30, and "Carol" (😀) lives in New York.\nparent(alice, bob).\nIt rains: p(x).';

const words = fc.constantFrom(
  'knows',
  'Alice',
  'bob',
  'carol',
  '30',
  'new_york',
  'p',
  '-p',
  'parent',
  'Parent',
  '=',
  'not',
);
const odd = fc.constantFrom(
  '',
  ' ',
  '?x',
  '?',
  '\ud800',
  '\u0000',
  '"',
  'p(a)',
  ':-',
  '%',
  'a.',
  'x'.repeat(300),
  '__proto__',
);
const name = fc.oneof(
  { weight: 4, arbitrary: words },
  { weight: 1, arbitrary: odd },
  fc.string({ maxLength: 5 }),
);
const quote = fc.oneof(
  fc.tuple(fc.nat(text.length), fc.nat(30)).map(([at, length]) => text.slice(at, at + length)),
  name,
  fc.constantFrom('Bob is 30', 'knows  Bob', text),
);
const scalar = fc.oneof(
  { weight: 5, arbitrary: name },
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
);
const fact = fc.record({
  predicate: name,
  args: fc.array(scalar, { maxLength: 4 }),
  negated: fc.boolean(),
  confidence: fc.oneof(fc.double({ min: -1, max: 2, noNaN: true }), fc.integer()),
  quote,
});
const rule = fc.oneof(
  fc.constantFrom(
    'q(?x) :- p(?x)',
    'q(?y) :- p(?x).',
    'p(?x) :- p(?x), not p(?x)',
    'p(a).',
    'n(?y) :- n(?x), ?y = ?x + 1',
  ),
  name,
);
const query = fc.record({
  predicate: name,
  args: fc.array(fc.oneof(scalar, fc.constantFrom('?x', '?who')), { maxLength: 3 }),
});
const answer = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      facts: fc.array(fact, { maxLength: 6 }),
      rules: fc.array(rule, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);

it('stores only valid facts from the text, whatever the model returns for an extraction', {
  timeout: 3_600_000,
}, async () => {
  let reply: unknown = null;
  const { service } = await startLanguageUnderTest((): Reply => ({ json: reply }));
  let tenant = 0;
  await fc.assert(
    fc.asyncProperty(answer, fc.boolean(), async (given, rules) => {
      reply = given;
      const headers = { 'x-tenant-id': `t${tenant++}` };
      const sent = { text, assert: true, rules };
      const { status, body } = await service.call<Extracted>('POST', '/extract', sent, { headers });
      const stored = await service.call<FactList>('GET', '/facts?limit=1000', undefined, { headers });
      if (status !== 200) {
        expect(status).toBe(502);
        expect(stored.body.total).toBe(0);
        return;
      }
      expect(body.asserted).toBe(true);
      expect(stored.body.total).toBe(body.assertedCount);
      expect(body.facts).toHaveLength(body.assertedCount);
      for (const { predicate, args, negated, confidence, source } of body.facts) {
        expect(predicateSchema.safeParse(predicate).success).toBe(true);
        expect(constantsSchema.safeParse(args).success).toBe(true);
        expect(parseAtom(renderAtom({ predicate, args, negated }))).toEqual({ predicate, args, negated });
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
        expect(/[\p{L}\p{N}]/u.test(text.slice(source.start, source.end))).toBe(true);
      }
      expect(body.facts).toContainEqual(
        expect.objectContaining({ predicate: 'parent', args: ['alice', 'bob'] }),
      );
    }),
    { numRuns },
  );
});

it('asks and states only known facts, whatever the model plans and words', {
  timeout: 3_600_000,
}, async () => {
  const replies: unknown[] = [];
  let turn = 0;
  const { service } = await startLanguageUnderTest((): Reply => ({ json: replies[turn++ % replies.length] }));
  await service.call('POST', '/context', {
    turns: ['parent(alice, bob). parent(bob, carol). -p(carol). age(zed, 30).'],
  });
  await service.call('POST', '/teach', { text: 'knows(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)' });
  const records = service.engine.counters().records;
  const said = fc.oneof(
    fc.record({ answer: fc.array(name, { maxLength: 6 }).map((each) => each.join(' ')) }),
    fc.jsonValue(),
  );
  const planned = fc.oneof(
    { weight: 8, arbitrary: fc.record({ queries: fc.array(query, { maxLength: 12 }) }) },
    fc.jsonValue(),
  );
  await fc.assert(
    fc.asyncProperty(planned, said, async (plan, wording) => {
      replies.splice(0, replies.length, plan, wording, wording);
      turn = 0;
      const { status, body } = await service.call<Synthesized>('POST', '/synthesize', {
        question: 'Who is it?',
      });
      if (status !== 200) {
        expect(status).toBe(502);
        return;
      }
      expect(body.queriesExecuted.length).toBeLessThanOrEqual(8);
      for (const executed of body.queriesExecuted) parseAtom(executed);
      const isKnown = body.derivation.length > 0;
      expect(body.confidence).toBe(isKnown ? 1 : 0);
      expect(body.answer.trim()).not.toBe('');
      if (!body.derivation.some(({ fact: proved }) => proved.includes('zed')))
        expect(body.answer).not.toMatch(/\bzed\b/i);
    }),
    { numRuns },
  );
  expect(service.engine.counters().records).toBe(records);
});
