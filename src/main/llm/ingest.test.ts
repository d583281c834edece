import { describe, expect, it, onTestFinished } from 'vitest';
import type { Ingested } from '../../engine/contract/extraction.ts';
import type { WindowDiff } from '../../engine/contract/context.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { found, proposal, startLanguageUnderTest } from './testing/language-under-test.ts';

async function withoutProvider(): Promise<ServiceUnderTest> {
  const service = await startServiceUnderTest();
  onTestFinished(() => service.close());
  return service;
}

function ingest(service: ServiceUnderTest, text: string, more: object = {}) {
  return service.call<Ingested>('POST', '/context/ingest', { text, ...more });
}

async function total(service: ServiceUnderTest): Promise<number> {
  return (await service.call<{ total: number }>('GET', '/facts')).body.total;
}

describe('POST /context/ingest', () => {
  it('of text wholly in the grammar needs no LLM and returns a window', async () => {
    const service = await withoutProvider();
    const { status, body } = await ingest(service, 'p(a).\n-q(b, "c, d"). p(a).\n');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      extracted: [
        { predicate: 'p', args: ['a'], negated: false, confidence: 1 },
        { predicate: 'q', args: ['b', 'c, d'], negated: true, confidence: 1 },
      ],
      extractionProvider: 'statements',
      discarded: [],
      generation: 1,
      context: { totalFactsIncluded: 2, knowledgeGeneration: 1, goalDriven: false },
    });
  });

  it.each([
    ['without a provider', {}, 'LLM provider not configured'],
    [
      'with one that may not be used',
      { LOCAL_LLM_BASE_URL: 'http://127.0.0.1:9/' },
      'LLM extraction is disabled',
    ],
  ])('of natural language %s returns 503 and stores nothing', async (_, environment, detail) => {
    const service = await startServiceUnderTest(environment);
    onTestFinished(() => service.close());
    const { status, body } = await ingest(service, 'p(a).\nBob is nice.');
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'LlmUnavailable', detail });
    expect(await total(service)).toBe(0);
  });

  it('of natural language stores what the provider finds, given the topic of the text', async () => {
    const { service, inputs } = await startLanguageUnderTest([
      found([proposal('nice', ['bob'], 'Bob is nice', { confidence: 0.5 }), proposal('x', ['y'], 'nowhere')]),
    ]);
    const { body } = await ingest(service, 'Bob is nice.\np(a).', { contextHint: 'friends', scope: 's' });
    expect(body).toMatchObject({
      extracted: [
        { predicate: 'nice', args: ['bob'], negated: false, confidence: 0.5 },
        { predicate: 'p', args: ['a'], negated: false, confidence: 1 },
      ],
      extractionProvider: 'local',
      discarded: [{ what: 'x(y)', reason: 'its quote does not occur in the text' }],
      generation: 1,
      context: { totalFactsIncluded: 2 },
    });
    expect(inputs()).toMatchObject([{ about: 'friends', text: 'Bob is nice.' }]);
    expect(body.context.entries.map(({ scope }) => scope)).toEqual(['s', 's']);
  });

  it('selects the window for goals', async () => {
    const service = await withoutProvider();
    const text = 'parent(a, b). parent(b, c). parent(y, z).\ngp(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).';
    const { body } = await ingest(service, text, {
      goals: [{ predicate: 'gp', args: ['a', '?z'] }],
      maxFacts: 3,
    });
    expect(body.context).toMatchObject({ goalDriven: true, totalFactsIncluded: 3 });
    expect(
      body.context.entries.map(({ predicate, args }) => [predicate, ...args].join(' ')).toSorted(),
    ).toEqual(['gp a c', 'parent a b', 'parent b c']);
  });

  it("with sessionId stores the window as the session's snapshot", async () => {
    const service = await withoutProvider();
    const { body } = await ingest(service, 'p(a).', { sessionId: 'one' });
    await ingest(service, 'p(b).');
    const diff = await service.call<WindowDiff>('POST', '/context/diff', { sessionId: 'one' });
    expect(diff.body).toMatchObject({ previousWindowId: body.context.windowId, unchanged: 1 });
    expect(diff.body.added).toMatchObject([{ predicate: 'p', args: ['b'] }]);
  });

  it('leaves contradictions unresolved on request', async () => {
    const service = await withoutProvider();
    const { body } = await ingest(service, 'p(a). -p(a).');
    expect(body.context.totalFactsIncluded).toBe(1);
    const again = await ingest(service, 'p(a).', { autoResolveContradictions: false });
    expect(again.body.context.totalFactsIncluded).toBe(2);
  });

  it('of white space stores nothing and returns the current generation', async () => {
    const service = await withoutProvider();
    await ingest(service, 'p(a).');
    const records = service.engine.counters().records;
    expect((await ingest(service, ' \n')).body).toMatchObject({ extracted: [], generation: 1 });
    expect(service.engine.counters().records).toBe(records);
  });

  it('stores nothing if a rule is invalid: 422', async () => {
    const service = await withoutProvider();
    expect((await ingest(service, 'p(a).\nq(?y) :- p(?x).')).status).toBe(422);
    expect(await total(service)).toBe(0);
  });

  it('stores nothing if the provider fails: 502', async () => {
    const { service } = await startLanguageUnderTest([{ status: 500, body: '' }]);
    expect((await ingest(service, 'p(a).\nBob is nice.')).status).toBe(502);
    expect(await total(service)).toBe(0);
  });
});
