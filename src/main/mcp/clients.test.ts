/**
 * What every agent can do with each official client, over every transport and at every revision: with a key, in the
 * database and the tenant of its headers.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import {
  type Agent,
  type AgentKind,
  connectAgent,
  sessionRevisions,
  statelessRevision,
} from './testing/agent-clients.ts';

const generations = [1, 2] as const;
const newest = sessionRevisions[0];
const oldest = '2024-11-05';

const kinds: readonly AgentKind[] = [
  ...generations.flatMap((generation) => [
    ...sessionRevisions.map(
      (revision) => ({ generation, transport: 'Streamable HTTP', path: '/mcp', revision }) as const,
    ),
    { generation, transport: 'Streamable HTTP', path: '/mcp/sse', revision: newest } as const,
    { generation, transport: 'SSE', path: '/mcp/sse', revision: newest } as const,
    { generation, transport: 'SSE', path: '/mcp/sse', revision: oldest } as const,
  ]),
  { generation: 2, transport: 'Streamable HTTP', path: '/mcp', revision: statelessRevision },
  { generation: 2, transport: 'Streamable HTTP', path: '/mcp/sse', revision: statelessRevision },
  { generation: 2, transport: 'Streamable HTTP', path: '/mcp', revision: statelessRevision, probes: true },
];

const apiKey = 'key-of-the-agents';
const database = 'agents';

interface Place {
  readonly 'X-Database': string;
  readonly 'X-Tenant-ID': string;
}

interface Case {
  readonly kind: AgentKind;
  readonly agent: Agent;
  readonly name: string;
  readonly place: Place;
  /** Rules belong to the whole database: a predicate of this agent's own. */
  readonly grand: string;
}

let service: ServiceUnderTest;
let cases: Case[] = [];

beforeAll(async () => {
  service = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: apiKey });
  const headers = { 'x-api-key': apiKey };
  await service.call('POST', '/databases', { name: database }, { headers });
  cases = await Promise.all(
    kinds.map(async (kind, index) => {
      const name = `agent-${index}`;
      const place = { 'X-Database': database, 'X-Tenant-ID': `tenant-${index}` };
      // Half of them send it one way, half the other.
      const key: Record<string, string> =
        index % 2 === 0 ? { Authorization: `Bearer ${apiKey}` } : { 'X-API-Key': apiKey };
      const agent = await connectAgent(kind, service.address, { ...key, ...place }, name);
      return { kind, agent, name, place, grand: `grandparent_${index}` };
    }),
  );
});
afterAll(async () => {
  await Promise.all(cases.map(({ agent }) => agent.close()));
  await service.close();
});

/** All of them at once. A failure names the client that caused it. */
async function ofEveryAgent(
  check: (each: Case) => Promise<void>,
  of: readonly Case[] = cases,
): Promise<void> {
  expect(of.length).toBeGreaterThan(0);
  await Promise.all(
    of.map(async (each) => {
      try {
        await check(each);
      } catch (error) {
        if (error instanceof Error) error.message = `${JSON.stringify(each.kind)}: ${error.message}`;
        throw error;
      }
    }),
  );
}

/** Long enough for a notification on a busy machine. */

/** A request from a foreign origin. */
async function post(path: string, body: unknown, where: Partial<Place>): Promise<unknown> {
  const answered = await service.call<unknown>('POST', path, body, {
    headers: { 'x-api-key': apiKey, ...where },
  });
  expect(answered.status).toBe(200);
  return answered.body;
}

async function tell(where: Partial<Place>, predicate: string, args: string[], more: object = {}) {
  await post('/tell', { predicate, args, ...more }, where);
}

function ruleOf(grand: string): string {
  return `${grand}(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)`;
}

/**
 * The SSE address offers no notification stream in a Streamable HTTP session: the client is told and continues without.
 */
function hasNotices({ kind }: Case): boolean {
  return kind.transport === 'SSE' || kind.path === '/mcp' || kind.revision === statelessRevision;
}

describe('an agent of any kind', () => {
  it('gets the server info of its revision and finds the ten tools', () =>
    ofEveryAgent(async ({ agent, kind }) => {
      expect(agent.revision).toBe(kind.revision);
      expect(agent.serverName).toBe('corollary');
      expect(agent.instructions).toContain('predicates');
      const tools = await agent.listTools();
      expect(tools.map(({ name }) => name).toSorted()).toEqual(
        [
          'ask',
          'cleanup',
          'compress',
          'context',
          'forget',
          'predicates',
          'recall',
          'search',
          'teach',
          'tell',
        ].toSorted(),
      );
      for (const { inputSchema, outputSchema } of tools) {
        expect(inputSchema).toMatchObject({ type: 'object' });
        expect(outputSchema).toMatchObject({ type: 'object' });
      }
    }));

  it('tells facts and teaches rules', () =>
    ofEveryAgent(async ({ agent, grand }) => {
      for (const args of [
        ['alice', 'bob'],
        ['bob', 'carol'],
      ])
        expect(await agent.call('tell', { predicate: 'parent', args })).toMatchObject({
          isError: false,
          text: expect.stringContaining('Stored'),
          content: { status: 'asserted' },
        });
      const rule = ruleOf(grand);
      expect(await agent.call('teach', { text: rule })).toMatchObject({ isError: false, content: { rule } });
    }));

  // All have taught by now: a new rule makes the database drop its cached conclusions.
  it('asks, sees the proof with its sources, and forgetting a fact removes its conclusions', () =>
    ofEveryAgent(async ({ agent, name, grand }) => {
      const rule = ruleOf(grand);
      const conclusion = `${grand}(alice, carol)`;
      const asked = await agent.call('ask', { predicate: grand, args: ['alice', '?who'] });
      expect(asked.content).toMatchObject({
        results: [conclusion],
        bindings: [{ who: 'carol' }],
        count: 1,
        truncated: false,
        proof: {
          roots: [expect.any(Number)],
          steps: expect.arrayContaining([
            expect.objectContaining({ atom: conclusion, kind: 'rule', rule }),
            expect.objectContaining({ atom: 'parent(alice, bob)', kind: 'fact', metadata: { source: name } }),
          ]),
        },
      });
      for (const part of [conclusion, rule, 'parent(bob, carol)']) expect(asked.text).toContain(part);

      // All agents forget at once: on a busy machine what goes with it may take longer than by default.
      const what = { predicate: 'parent', args: ['bob', '?child'], timeoutMs: 600_000 };
      const forgotten = await agent.call('forget', what);
      expect(forgotten.content).toMatchObject({ retracted: 1, dependents: [conclusion] });
      const after = await agent.call('ask', { predicate: grand, args: ['alice', '?who'] });
      expect(after).toMatchObject({ isError: false, content: { results: [], count: 0 } });
    }));

  it('works only in the database and the tenant of its headers', () =>
    ofEveryAgent(async ({ agent, place }) => {
      await agent.call('tell', { predicate: 'here', args: ['x'] });
      const query = { predicate: 'here', args: ['?x'] };
      expect(await post('/query', query, place)).toHaveLength(1);
      expect(await post('/query', query, { 'X-Tenant-ID': place['X-Tenant-ID'] })).toEqual([]);
      expect(await post('/query', query, { ...place, 'X-Tenant-ID': 'another' })).toEqual([]);
    }));

  it('learns from a tool error how to fix a call', () =>
    ofEveryAgent(async ({ agent }) => {
      expect(await agent.call('ask', { predicate: 'parent', arguments: [] })).toMatchObject({
        isError: true,
        text: expect.stringMatching(/arguments: unknown field[^]*Fields of ask/),
      });
      expect(await agent.call('recollect')).toMatchObject({
        isError: true,
        text: expect.stringContaining('tell, '),
      });
    }));

  it('reads predicates, rules, scopes and the facts of a predicate as documents', () =>
    ofEveryAgent(async ({ agent, place, grand }) => {
      await tell(place, 'likes/most', ['a', 'b'], { scope: 'draft' });
      const always = ['kb://predicates', 'kb://rules', 'kb://scopes', 'ui://corollary/proof'];
      const addresses = await agent.listResources();
      expect(addresses.slice(0, 4)).toEqual(always);
      expect(addresses).toContain('kb://facts/likes%2Fmost');
      expect(await agent.read('kb://predicates')).toMatchObject({
        predicates: expect.arrayContaining([expect.objectContaining({ name: 'likes/most', facts: 1 })]),
      });
      expect(await agent.read('kb://rules')).toMatchObject({
        rules: expect.arrayContaining([expect.objectContaining({ text: expect.stringContaining(grand) })]),
      });
      expect(await agent.read('kb://scopes')).toMatchObject({ scopes: [{ name: 'draft' }] });
      expect(await agent.read('kb://facts/likes%2Fmost')).toMatchObject({
        facts: [{ predicate: 'likes/most', args: ['a', 'b'] }],
        total: 1,
      });
      expect(await agent.read('kb://facts/unheard_of')).toMatchObject({ facts: [], total: 0 });
      expect(await agent.listTemplates()).toContain('kb://facts/{predicate}');
      for (const uri of [
        'kb://nothing',
        'kb://facts/',
        'kb://facts/%E0%A4',
        'kb://facts/a(b',
        'http://a.example/',
      ])
        await expect(agent.read(uri), uri).rejects.toMatchObject({ code: -32602 });
    }));

  it('is notified of changed and new documents, only of its own space, until it unsubscribes', () =>
    ofEveryAgent(async ({ agent, place }) => {
      const { told } = agent;
      await tell(place, 'road', ['a', 'b']);
      await agent.watch(['kb://facts/road', 'kb://facts/path']);
      const lists = told.lists;
      await tell({ ...place, 'X-Tenant-ID': 'another' }, 'path', ['z', 'z']);
      await tell({ 'X-Tenant-ID': place['X-Tenant-ID'] }, 'path', ['z', 'z']);
      await tell(place, 'road', ['b', 'c']);
      await expect.poll(() => told.updated).toContain('kb://facts/road');
      await tell(place, 'river', ['b']);
      await expect.poll(() => told.lists).toBeGreaterThan(lists);
      await agent.unwatch('kb://facts/road');
      const before = told.updated.length;
      expect(new Set(told.updated)).toEqual(new Set(['kb://facts/road']));
      await tell(place, 'road', ['c', 'd']);
      await tell(place, 'path', ['a', 'b']);
      await expect.poll(() => told.updated).toHaveLength(before + 1);
      expect(told.updated.at(-1)).toBe('kb://facts/path');
    }, cases.filter(hasNotices)));

  it('is notified of changed rules, whoever in the database changed them', async () => {
    const listening = cases.filter(hasNotices);
    await ofEveryAgent(({ agent }) => agent.watch(['kb://rules']), listening);
    await post('/teach', { text: 'way(?x) :- road(?x, ?y)' }, { 'X-Database': database });
    await ofEveryAgent(async ({ agent }) => {
      await expect.poll(() => agent.told.updated).toContain('kb://rules');
    }, listening);
  });

  it('gets prompts that know the vocabulary, and an error if an argument is missing', () =>
    ofEveryAgent(async ({ agent, place }) => {
      await tell(place, 'capital', ['france', 'paris']);
      expect(await agent.listPrompts()).toEqual(['start_session', 'extract_facts', 'explain_conclusion']);
      const started = await agent.prompt('start_session', { topic: 'geography' });
      for (const part of ['geography', 'capital/2', 'capital(france, paris)'])
        expect(started).toContain(part);
      const text = 'Bob is the son of Alice.';
      expect(await agent.prompt('extract_facts', { text })).toContain(text);
      expect(await agent.prompt('explain_conclusion', { atom: 'p(a)' })).toContain('p(a)');
      for (const name of ['extract_facts', 'unknown'])
        await expect(agent.prompt(name)).rejects.toMatchObject({ code: -32602 });
    }));

  it('gets completions of predicate names', () =>
    ofEveryAgent(async ({ agent, place }) => {
      for (const name of ['zebra', 'has_zebra', 'zoo']) await tell(place, name, ['a']);
      const template = { type: 'ref/resource', uri: 'kb://facts/{predicate}' } as const;
      expect(await agent.complete(template, 'predicate', 'ZEB')).toMatchObject({
        values: ['zebra', 'has_zebra'],
        total: 2,
      });
      const prompt = { type: 'ref/prompt', name: 'explain_conclusion' } as const;
      expect((await agent.complete(prompt, 'atom', 'zo')).values).toEqual(['zoo']);
      expect((await agent.complete(prompt, 'atom', 'zoo(')).values).toEqual([]);
    }));

  it('is refused without a key', async () => {
    for (const kind of kinds)
      await expect(connectAgent(kind, service.address, {}), JSON.stringify(kind)).rejects.toThrow(/401/);
  });
});
