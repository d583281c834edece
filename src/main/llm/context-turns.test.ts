import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TurnsContext } from '../../engine/contract/extraction.ts';
import type { StoredRule } from '../../engine/contract/rules.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { found, proposal, startLanguageUnderTest } from './testing/language-under-test.ts';
import { goalsOfTurns } from './turns.ts';

async function withoutProvider(): Promise<ServiceUnderTest> {
  const service = await startServiceUnderTest();
  onTestFinished(() => service.close());
  return service;
}

function context(service: ServiceUnderTest, turns: string[], more: object = {}, headers: HeadersInit = {}) {
  return service.call<TurnsContext>('POST', '/context', { turns, ...more }, { headers });
}

function atomsOf({ facts }: TurnsContext): string[] {
  return facts.map(({ predicate, args, negated }) =>
    [negated ? `-${predicate}` : predicate, ...args].join(' '),
  );
}

async function total(service: ServiceUnderTest): Promise<number> {
  return (await service.call<{ total: number }>('GET', '/facts')).body.total;
}

describe('POST /context', () => {
  it('reads statements without an LLM, skips natural language, and returns facts', async () => {
    const service = await withoutProvider();
    const turns = [
      'Hello. Bob is nice.',
      'parent(alice, bob).\nI mean it.',
      '-parent(bob, alice). tall(bob).',
    ];
    const { status, body } = await context(service, turns);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      totalFactsInKB: 3,
      factsReturned: 3,
      contradictions: 0,
      newFactsExtracted: 3,
      extraction: 'statements',
      warning:
        'LLM provider not configured: natural language in the turns was left alone. Lines that are statements are read without one, as in parent(alice, bob)',
      generation: 1,
    });
    expect(body.facts).toHaveLength(3);
    for (const fact of body.facts) {
      expect(fact.provenance).toBeNull();
      expect(fact.salience).toBeGreaterThan(0);
    }
  });

  it('reads a single statement without its full stop, without a warning', async () => {
    const service = await withoutProvider();
    const { body } = await context(service, [
      'customer_tier(acme, gold)',
      'vip(?x) :- customer_tier(?x, gold)\nvip(?who)\nvip(acme)?',
    ]);
    expect(body).toMatchObject({ newFactsExtracted: 1, extraction: 'statements', generation: 1 });
    expect(body).not.toHaveProperty('warning');
    expect(body.facts.map(({ predicate }) => predicate)).toContain('vip');
  });

  it('counts newly stored facts, and keeps the generation if there are none', async () => {
    const service = await withoutProvider();
    await context(service, ['p(a).']);
    expect((await context(service, ['p(a). p(b).', 'p(b).'])).body).toMatchObject({
      newFactsExtracted: 1,
      generation: 2,
    });
    expect((await context(service, ['p(a).'])).body).toMatchObject({ newFactsExtracted: 0, generation: 2 });
    expect((await context(service, ['How do you do?'])).body).not.toHaveProperty('generation');
  });

  it('extracts natural language if a provider is configured and enabled', async () => {
    const { service, provider, inputs } = await startLanguageUnderTest([
      found([proposal('nice', ['bob'], 'Bob is nice', { confidence: 0.7 })]),
    ]);
    const { body } = await context(service, ['Hello.', 'Bob is nice.', 'parent(alice, bob).']);
    expect(body).toMatchObject({ newFactsExtracted: 2, extraction: 'llm', totalFactsInKB: 2 });
    expect(inputs()).toEqual([
      { text: 'Hello.\n\nBob is nice.', about: '', wantsRules: false, relations: [] },
    ]);
    expect((await context(service, ['p(a).'])).body.extraction).toBe('statements');
    expect(provider.asked).toHaveLength(1);
  });

  it('skips natural language if the provider is disabled', async () => {
    const { service, provider } = await startLanguageUnderTest([found([])], { EXTRACTION_ENABLED: 'false' });
    const { status, body } = await context(service, ['Bob is nice.', 'p(a).']);
    expect([status, body.extraction, body.newFactsExtracted]).toEqual([200, 'statements', 1]);
    expect(body.warning).toContain('LLM extraction is disabled');
    expect(provider.asked).toEqual([]);
  });

  it('stores nothing if the provider fails: 502', async () => {
    const { service } = await startLanguageUnderTest([{ text: 'no' }]);
    expect((await context(service, ['p(a).', 'Bob is nice.'])).status).toBe(502);
    expect(await total(service)).toBe(0);
  });

  it('teaches rules among the statements, in the same generation', async () => {
    const service = await withoutProvider();
    const { body } = await context(service, ['p(a). q(?x) :- p(?x).']);
    expect(body).toMatchObject({ newFactsExtracted: 1, generation: 1 });
    const rules = await service.call<{ rules: StoredRule[] }>('GET', '/rules');
    expect(rules.body.rules.map(({ text }) => text)).toEqual(['q(?x) :- p(?x)']);
  });

  it.each(['q(?y) :- p(?x).', 'q(?x) :- p(?x), not q(?x).'])(
    'stores nothing if a rule is invalid, such as %s: 422',
    async (rule) => {
      const service = await withoutProvider();
      const { status, body } = await context(service, ['p(a).', rule]);
      expect(status).toBe(422);
      expect(body).toMatchObject({ code: 'RuleException' });
      expect(await total(service)).toBe(0);
    },
  );

  it('puts the answers to questions in the turns first, with their derivation', async () => {
    const service = await withoutProvider();
    await context(service, [
      'parent(alice, bob). parent(bob, carol). parent(zed, yan).',
      'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).',
    ]);
    const { body } = await context(service, ['And now:', 'grandparent(alice, ?who)?'], { maxFacts: 3 });
    expect(atomsOf(body).toSorted()).toEqual([
      'grandparent alice carol',
      'parent alice bob',
      'parent bob carol',
    ]);
    expect(body.facts.find(({ predicate }) => predicate === 'grandparent')?.provenance).toEqual({
      rule: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)',
      premises: ['parent(alice, bob)', 'parent(bob, carol)'],
    });
  });

  it('puts facts about things named in the turns before others', async () => {
    const service = await withoutProvider();
    const facts = Array.from({ length: 30 }, (_, at) => ({ predicate: 'n', args: [`c${at}`] }));
    await service.call('POST', '/assert/facts', [
      { predicate: 'lives_in', args: ['ann', 'new_york'] },
      { predicate: 'colour', args: ['sky', 'blue'] },
      ...facts,
    ]);
    const { body } = await context(service, ['I was in New York.', 'What colour was it?'], { maxFacts: 2 });
    expect(atomsOf(body)).toEqual(['lives_in ann new_york', 'colour sky blue']);
  });

  it('fills up with the rest by salience, up to maxFacts, by default 50', async () => {
    const service = await withoutProvider();
    const facts = Array.from({ length: 80 }, (_, at) => ({ predicate: 'n', args: [`c${at}`] }));
    await service.call('POST', '/assert/facts', facts);
    expect((await context(service, ['Hello.'])).body).toMatchObject({
      factsReturned: 50,
      totalFactsInKB: 80,
    });
    expect((await context(service, ['c70'], { maxFacts: 5 })).body.facts).toHaveLength(5);
    expect(atomsOf((await context(service, ['c70'], { maxFacts: 5 })).body)[0]).toBe('n c70');
  });

  it('counts contradictions and shows both sides', async () => {
    const service = await withoutProvider();
    const { body } = await context(service, ['flies(tux). -flies(tux).']);
    expect(body.contradictions).toBe(1);
    expect(atomsOf(body).toSorted()).toEqual(['-flies tux', 'flies tux']);
  });

  it('stores and answers in the given scope', async () => {
    const service = await withoutProvider();
    await context(service, ['p(a).']);
    const { body } = await context(service, ['p(b).'], { scope: 's' });
    expect(atomsOf(body)).toEqual(['p b']);
    expect(body.totalFactsInKB).toBe(1);
    expect(atomsOf((await context(service, ['Hm.'], { unscoped: true })).body)).toEqual(['p a']);
  });

  it('does not count as a use of the facts it returns', async () => {
    const service = await withoutProvider();
    await context(service, ['p(a).']);
    const breakdown = async () =>
      (await service.call<{ salienceBreakdown: { uses: number } }>('GET', '/facts/f1-0')).body
        .salienceBreakdown;
    const { uses } = await breakdown();
    await context(service, ['What of a?', 'p(?x)?']);
    expect((await breakdown()).uses).toBe(uses);
  });

  it('answers even if a question in the turns does not terminate', async () => {
    const service = await withoutProvider();
    await context(service, ['n(0).', 'm(?y) :- n(?x), ?y = ?x + 1.', 'm(?y) :- m(?x), ?y = ?x + 1.']);
    const { status, body } = await context(service, ['m(?x)?']);
    expect(status).toBe(200);
    expect(atomsOf(body)).toEqual(['n 0']);
  });

  it.each([
    [{ turns: [] }],
    [{ turns: 'p(a).' }],
    [{ turns: ['\ud800'] }],
    [{ turns: ['x'.repeat(600_000), 'x'.repeat(600_000)] }],
    [{ turns: Array<string>(1001).fill('x') }],
    [{ turns: ['p(a).'], maxFacts: 0 }],
    [{}],
  ])('rejects invalid input with 400 %#', async (body) => {
    const service = await withoutProvider();
    expect((await service.call('POST', '/context', body)).status).toBe(400);
    expect(await total(service)).toBe(0);
  });

  it('accepts a megabyte of white space and many thousands of statements; over 100,000 returns 400', async () => {
    const service = await withoutProvider();
    expect((await context(service, [' '.repeat(1_000_000)])).body).toMatchObject({ newFactsExtracted: 0 });
    const statements = (count: number) =>
      Array.from({ length: count }, (_, at) => `p(${at.toString(36)}).`).join('\n');
    const { body } = await context(service, [statements(10_000)], { maxFacts: 1 });
    expect(body).toMatchObject({ newFactsExtracted: 10_000, generation: 1 });
    expect((await context(service, [statements(100_001)])).status).toBe(400);
  });
});

describe('a question among turns', () => {
  it('is a line with an atom that has a variable, or an atom followed by a question mark', () => {
    const turns = [
      'p(?x)',
      'p(a)?\nq(a, ?y).',
      '-r(?z) ?',
      'p(a).',
      'p(a)',
      'what(?x) is it',
      'why?',
      'f((?x)',
    ];
    expect(goalsOfTurns(turns)).toEqual([
      { predicate: 'p', args: ['?x'], negated: false },
      { predicate: 'p', args: ['a'], negated: false },
      { predicate: 'q', args: ['a', '?y'], negated: false },
      { predicate: 'r', args: ['?z'], negated: true },
    ]);
  });

  it('counts once, and only the last 20 count', () => {
    const turns = Array.from({ length: 50 }, (_, at) => `p(${at % 40}, ?x)?`);
    expect(goalsOfTurns(turns).map(({ args }) => args[0])).toEqual(
      Array.from({ length: 20 }, (_, at) => String((at + 30) % 40)),
    );
  });
});

describe('a repeated Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'key' };

  it('returns the first answer, asks no model again and stores nothing twice', async () => {
    const { service, provider } = await startLanguageUnderTest([
      found([proposal('nice', ['bob'], 'Bob is nice')]),
    ]);
    const first = await context(service, ['Bob is nice.'], {}, headers);
    await service.call('POST', '/retract', { predicate: 'nice', args: ['bob'] });
    const again = await context(service, ['Bob is nice.'], {}, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(provider.asked).toHaveLength(1);
    expect(await total(service)).toBe(0);
    expect((await context(service, ['Another.'], {}, headers)).status).toBe(422);
  });

  it.each(['/context', '/context/ingest', '/extract'])(
    'of %s is answered after a restart from what was read and stored the first time',
    async (path) => {
      const folder = await mkdtemp(join(tmpdir(), 'corollary-language-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const { service, provider } = await startLanguageUnderTest(
        [found([proposal('nice', ['bob'], 'Bob is nice')]), { status: 400, body: '{}' }],
        { STORAGE_DIR: folder },
      );
      const text = 'Bob is nice.\np(a).';
      const body = { '/context': { turns: [text] }, '/context/ingest': { text } }[path] ?? {
        text,
        assert: true,
      };
      const first = await service.call<Record<string, unknown>>('POST', path, body, { headers });
      expect(first.status).toBe(200);
      await service.close();
      const later = await startServiceUnderTest({ STORAGE_DIR: folder });
      onTestFinished(() => later.close());
      const again = await later.call<Record<string, unknown>>('POST', path, body, { headers });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      const lasting = ({ context: _window, facts, ...rest }: Record<string, unknown>) => ({
        ...rest,
        facts: path === '/extract' ? facts : null,
      });
      expect(lasting(again.body)).toEqual(lasting(first.body));
      expect(provider.asked).toHaveLength(1);
      expect(await total(later)).toBe(2);
    },
  );
});
