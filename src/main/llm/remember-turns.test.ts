import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TurnsAnswer } from '../../engine/contract/extraction.ts';
import type { StoredFact } from '../../engine/contract/facts.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { saidTexts } from './said-turns.ts';

/** Turns that are remembered: contract section 19. */

async function open(...options: Parameters<typeof startServiceUnderTest>): Promise<ServiceUnderTest> {
  const service = await startServiceUnderTest(...options);
  onTestFinished(() => service.close());
  return service;
}

function remember(service: ServiceUnderTest, turns: string[], more: object = {}, headers: HeadersInit = {}) {
  return service.call<TurnsAnswer>('POST', '/context', { turns, remember: true, ...more }, { headers });
}

async function said(service: ServiceUnderTest): Promise<StoredFact[]> {
  const { body } = await service.call<{ facts: StoredFact[] }>('GET', '/facts?predicate=said');
  return body.facts;
}

async function saidArgs(service: ServiceUnderTest): Promise<string[][]> {
  const all = (await said(service)).map(({ args }) => args);
  return all.sort((left, right) => (left.join() < right.join() ? -1 : 1));
}

describe('POST /context with remember', () => {
  it('keeps each turn as an episode, numbered within its session', async () => {
    const service = await open();
    const { status, body } = await remember(service, ['My cat is called Tofu.', 'parent(a, b).'], {
      sessionId: 'chat-1',
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      newFactsExtracted: 1,
      remembered: { sessionId: 'chat-1', first: 1, count: 2 },
      generation: 1,
    });
    expect(await saidArgs(service)).toEqual([
      ['chat-1', '1', 'My cat is called Tofu.'],
      ['chat-1', '2', 'parent(a, b).'],
    ]);
    for (const { metadata } of await said(service)) expect(metadata).toEqual({ episode: true });
  });

  it('goes on counting in later calls of the session, and begins anew in another one', async () => {
    const service = await open();
    await remember(service, ['one', 'two'], { sessionId: 's' });
    await remember(service, ['other'], { sessionId: 't' });
    const { body } = await remember(service, ['three'], { sessionId: 's', scope: 'elsewhere' });
    expect(body.remembered).toEqual({ sessionId: 's', first: 3, count: 1 });
    expect(await saidArgs(service)).toEqual([
      ['s', '1', 'one'],
      ['s', '2', 'two'],
      ['s', '3', 'three'],
      ['t', '1', 'other'],
    ]);
  });

  it('uses the session default if none is named, and skips blank turns', async () => {
    const service = await open();
    const { body } = await remember(service, ['  ', 'hello', '']);
    expect(body.remembered).toEqual({ sessionId: 'default', first: 1, count: 1 });
    const blank = await remember(service, [' ']);
    expect(blank.body.remembered).toEqual({ sessionId: 'default', first: null, count: 0 });
    expect(blank.body).not.toHaveProperty('generation');
    expect(await saidArgs(service)).toEqual([['default', '1', 'hello']]);
  });

  it('numbers the turns of calls at the same time without a gap', async () => {
    const service = await open();
    const calls = Array.from({ length: 8 }, (_, at) => remember(service, [`turn ${at}`, `more ${at}`]));
    await Promise.all(calls);
    const numbers = (await saidArgs(service)).map(([, number]) => Number(number));
    expect(numbers.sort((left, right) => left - right)).toEqual(
      Array.from({ length: 16 }, (_, at) => at + 1),
    );
  });

  it('does nothing twice for a request repeated with its key, after a restart too', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'corollary-remember-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const first = await startServiceUnderTest({ STORAGE_DIR: folder });
    const headers = { 'Idempotency-Key': 'turns-1' };
    const call = (service: ServiceUnderTest) => remember(service, ['a turn'], { sessionId: 's' }, headers);
    const { body } = await call(first);
    expect((await call(first)).body).toEqual(body);
    await first.close();
    const second = await open({ STORAGE_DIR: folder });
    const again = (await call(second)).body;
    expect(again.remembered).toEqual({ sessionId: 's', first: 1, count: 1 });
    expect(again).toMatchObject({ generation: body.generation, newFactsExtracted: 0 });
    expect(await saidArgs(second)).toEqual([['s', '1', 'a turn']]);
    expect((await remember(second, ['the next'], { sessionId: 's' })).body.remembered?.first).toBe(2);
  });

  it('does not answer with what was just said, but with what was said before', async () => {
    const service = await open();
    await remember(service, ['The budget for the garden party is 300 euros.'], { sessionId: 's' });
    const { body } = await remember(service, ['What is the budget for the garden party?'], {
      sessionId: 's',
    });
    const texts = (body.facts ?? []).map(({ args }) => args[2]);
    expect(texts).toEqual(['The budget for the garden party is 300 euros.']);
  });

  it('is found by its words, with session and number', async () => {
    const service = await open();
    await remember(service, ['We met the plumber near the old harbour.', 'Nothing else.'], {
      sessionId: 'may',
    });
    const { body } = await service.call<{ hits: { atom: string }[] }>('POST', '/search', {
      text: 'who was at the harbour',
      kinds: ['fact'],
    });
    expect(body.hits[0]?.atom).toBe('said(may, 1, We met the plumber near the old harbour.)');
  });

  it('is forgotten by decay', async () => {
    let now = Date.UTC(2026, 0, 1);
    const service = await open({}, { clock: { now: () => now, monotonic: () => now } });
    await remember(service, ['an old turn']);
    now += 400 * 86_400_000;
    await remember(service, ['a new turn']);
    const { body } = await service.call<{ atoms: string[] }>('POST', '/memory/decay', {});
    expect(body.atoms).toEqual(['said(default, 1, an old turn)']);
  });

  it('counts within quotas, all or nothing', async () => {
    const service = await open();
    const place = '/admin/databases/default/tenants/default/quota';
    expect((await service.call('PUT', place, { facts: 2 })).status).toBe(200);
    const refused = await remember(service, ['one', 'two', 'parent(a, b).']);
    expect([refused.status, (refused.body as unknown as { code: string }).code]).toEqual([
      507,
      'QuotaExceeded',
    ]);
    expect(await said(service)).toEqual([]);
    expect((await remember(service, ['one', 'two'])).status).toBe(200);
  });

  it('needs the role of a writer', async () => {
    const service = await open({ AUTH_ENABLED: 'true', API_KEY: 'boss' });
    const made = await service.call<{ key: string }>(
      'POST',
      '/auth/keys',
      { role: 'reader' },
      { headers: { Authorization: 'Bearer boss' } },
    );
    const headers = { Authorization: `Bearer ${made.body.key}` };
    expect((await remember(service, ['a turn'], {}, headers)).status).toBe(403);
  });

  it.each([{ sessionId: '?x' }, { sessionId: 'lone \ud800' }])(
    'refuses a session that is no constant: %o',
    async (more) => {
      const service = await open();
      const { status } = await remember(service, ['a turn'], more);
      expect(status).toBe(400);
    },
  );
});

describe('a turn that is too long for a constant', () => {
  const bytes = (text: string): number => Buffer.byteLength(text);

  it('is cut at line breaks', () => {
    const line = 'x'.repeat(30_000);
    expect(saidTexts([[line, line, line].join('\n')])).toEqual([`${line}\n${line}`, line]);
  });

  it('is kept whole up to 65,536 bytes', () => {
    const longest = 'é'.repeat(32_768);
    expect(saidTexts([longest])).toEqual([longest]);
    expect(saidTexts([`${longest}é`]).map(bytes)).toEqual([65_536, 2]);
  });

  it('is cut at spaces in a line that is too long, and between characters if it has none', () => {
    const words = `${'word '.repeat(20_000)}end`;
    const parts = saidTexts([words]);
    expect(parts.join(' ')).toBe(words);
    expect(parts.every((part) => bytes(part) <= 65_536)).toBe(true);
    const emoji = saidTexts(['😀'.repeat(20_000)]);
    expect(emoji.map(bytes)).toEqual([65_536, 14_464]);
  });

  it('never starts with a question mark', () => {
    expect(saidTexts(['?what', '? '])).toEqual([' ?what', ' ? ']);
    const cut = saidTexts([`${'x'.repeat(65_536)}\n?y`]);
    expect(cut.at(-1)).toBe(' ?y');
    expect(saidTexts([`?${'x'.repeat(65_535)}`]).map(bytes)).toEqual([65_536, 1]);
  });
});
