/** The agent cards over real HTTP, with and without authentication, and who may call the agent. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { AgentCard } from '@a2a-js/sdk';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreatedKey } from '../../engine/contract/authentication.ts';
import type { Problem } from '../../engine/contract/problems.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { cardPath, earlierCardPath } from './mount.ts';
import { cardSchema, earlierCardSchema } from './testing/card-schemas.ts';
import { message, revisions, rpc, said, sendMethod } from './testing/conversation.ts';

const apiKey = 'admin-of-the-test';
/** One service without authentication, one with it. */
let open: ServiceUnderTest;
let closed: ServiceUnderTest;
beforeAll(async () => {
  open = await startServiceUnderTest();
  closed = await startServiceUnderTest({ AUTH_ENABLED: 'true', API_KEY: apiKey });
});
afterAll(async () => {
  await open.close();
  await closed.close();
});

const ajv = new Ajv2020({ strict: true, allErrors: true });

type Card = Record<string, unknown>;

async function cardAt(service: ServiceUnderTest, path: string): Promise<Card> {
  const response = await fetch(`${service.address}${path}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await response.json()) as Card;
}

/** The parts of the card that violate the schema. */
function complaints(schema: object, card: Card): unknown[] {
  const validate = ajv.compile(schema);
  return validate(card) ? [] : (validate.errors ?? []);
}

/** The card as served to a client that sends this Host. */
async function cardFor(service: ServiceUnderTest, host: string): Promise<Card> {
  const asked = request({ port: service.port, host: '127.0.0.1', path: earlierCardPath, headers: { host } });
  asked.end();
  const [response] = await new Promise<[NodeJS.ReadableStream]>((resolve) => {
    asked.on('response', (...answer) => resolve(answer));
  });
  return JSON.parse(await text(response)) as Card;
}

describe('the card at /.well-known/agent-card.json', () => {
  it.each(['open', 'closed'] as const)(
    'conforms to the A2A 1.0 schema and needs no credential: %s',
    async (which) => {
      const service = which === 'open' ? open : closed;
      const card = await cardAt(service, cardPath);
      expect(complaints(cardSchema, card)).toEqual([]);
      // The card after the SDK, built from the specification's messages, has parsed and serialized it.
      expect(AgentCard.toJSON(AgentCard.fromJSON(card))).toEqual(card);
      expect(card).toMatchObject({
        supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
          url: `${service.address}/a2a`,
          protocolBinding: 'JSONRPC',
          protocolVersion,
        })),
        capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
      });
    },
  );

  it('lists the security schemes if authentication is on, and none if it is off', async () => {
    expect(await cardAt(closed, cardPath)).toMatchObject({
      securitySchemes: {
        bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
        apiKey: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
      },
      securityRequirements: [{ schemes: { bearer: {} } }, { schemes: { apiKey: {} } }],
    });
    expect(Object.keys(await cardAt(open, cardPath)).filter((name) => /security/.test(name))).toEqual([]);
  });
});

describe('the card at /.well-known/agent.json', () => {
  it.each(['open', 'closed'] as const)(
    'conforms to the A2A 0.3 schema and needs no credential: %s',
    async (which) => {
      const service = which === 'open' ? open : closed;
      const card = await cardAt(service, earlierCardPath);
      expect(complaints(earlierCardSchema, card)).toEqual([]);
      expect(card).toMatchObject({
        protocolVersion: '0.3.0',
        url: `${service.address}/a2a`,
        preferredTransport: 'JSONRPC',
        capabilities: { streaming: false, pushNotifications: false, stateTransitionHistory: false },
      });
    },
  );

  it('lists the security schemes if authentication is on, and none if it is off', async () => {
    expect(await cardAt(closed, earlierCardPath)).toMatchObject({
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      security: [{ bearer: [] }, { apiKey: [] }],
    });
    expect(
      Object.keys(await cardAt(open, earlierCardPath)).filter((name) => name.startsWith('security')),
    ).toEqual([]);
  });
});

describe('the schemas used by the tests', () => {
  it('reject a card that lacks a required field or has an unknown one', async () => {
    for (const [schema, path] of [
      [cardSchema, cardPath],
      [earlierCardSchema, earlierCardPath],
    ] as const) {
      const card = await cardAt(closed, path);
      for (const name of ['name', 'description', 'version', 'capabilities', 'skills', 'defaultInputModes'])
        expect(complaints(schema, { ...card, [name]: undefined }), name).not.toEqual([]);
      expect(complaints(schema, { ...card, extra: 1 })).not.toEqual([]);
      expect(complaints(schema, { ...card, skills: [{}] })).not.toEqual([]);
    }
    expect(complaints(cardSchema, await cardAt(open, earlierCardPath))).not.toEqual([]);
    expect(complaints(earlierCardSchema, await cardAt(open, cardPath))).not.toEqual([]);
  });
});

describe('both cards', () => {
  it('report the version of the service and the skills tell, teach, ask and forget', async () => {
    const card = await cardAt(open, cardPath);
    const earlier = await cardAt(open, earlierCardPath);
    for (const name of [
      'name',
      'description',
      'version',
      'skills',
      'defaultInputModes',
      'defaultOutputModes',
    ])
      expect(card[name], name).toEqual(earlier[name]);
    expect(card['version']).toBe((await open.call<{ version: string }>('GET', '/health')).body.version);
    expect((card['skills'] as { id: string }[]).map(({ id }) => id)).toEqual([
      'tell',
      'teach',
      'ask',
      'forget',
    ]);
  });

  it('have examples that do what their skill says', async () => {
    const { skills } = (await cardAt(open, cardPath)) as { skills: { id: string; examples: string[] }[] };
    const headers = { 'x-tenant-id': 'examples' };
    const outcome = { tell: 'atom', teach: 'rule', ask: 'results', forget: 'retracted' };
    for (const { id, examples } of skills)
      for (const example of examples) {
        const { data } = await said(open, example, headers);
        expect(data, example).toHaveLength(1);
        expect(data[0], example).toHaveProperty(outcome[id as keyof typeof outcome]);
      }
  });

  it('contain the address that the client used', async () => {
    for (const host of [`localhost:${open.port}`, 'LOCALHOST', '[::1]:9300', '127.0.0.1'])
      expect((await cardFor(open, host))['url']).toBe(`http://${host}/a2a`);
  });

  it('are cacheable for a minute and then revalidated by ETag', async () => {
    for (const path of [cardPath, earlierCardPath]) {
      const { headers } = await open.call('GET', path);
      const etag = headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]{22}"$/);
      expect(headers.get('cache-control')).toBe('public, max-age=60');
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`])
        expect(
          await open.call('GET', path, undefined, { headers: { 'if-none-match': known } }),
        ).toMatchObject({
          status: 304,
          body: '',
        });
      const other = await open.call('GET', path, undefined, { headers: { 'if-none-match': '"other"' } });
      expect(other.status).toBe(200);
    }
  });

  it('answer HEAD, return 405 for other methods and 403 for a foreign Origin', async () => {
    for (const path of [cardPath, earlierCardPath]) {
      expect(await closed.call('HEAD', path)).toMatchObject({ status: 200, body: '' });
      const { status, headers } = await closed.call('POST', path, {});
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
      const foreign = { headers: { origin: 'https://evil.example' } };
      expect((await closed.call('GET', path, undefined, foreign)).status).toBe(403);
    }
  });
});

describe('authentication', () => {
  const good = rpc('SendMessage', { message: message('1.0', 'secret(?x)') });

  async function made(input: Record<string, unknown>): Promise<string> {
    const headers = { 'x-api-key': apiKey };
    return (await closed.call<CreatedKey>('POST', '/auth/keys', input, { headers })).body.key;
  }

  async function statusOf(headers: Record<string, string>, body: unknown = good): Promise<number> {
    return (await closed.call('POST', '/a2a', body, { headers })).status;
  }

  it('requires a key at /a2a: 401 without one, 403 for the role replica', async () => {
    const { status, body, headers } = await closed.call<Problem>('POST', '/a2a', good);
    expect([status, body.code, headers.get('www-authenticate')]).toEqual([401, 'Unauthenticated', 'Bearer']);
    expect(await statusOf({ 'x-api-key': 'made-up' })).toBe(401);
    expect(await statusOf({}, '{')).toBe(401);
    expect(await statusOf({ 'x-api-key': await made({ role: 'replica' }) })).toBe(403);
    for (const role of ['reader', 'writer', 'admin']) {
      const key = await made({ role });
      expect(await statusOf({ 'x-api-key': key }), role).toBe(200);
      expect(await statusOf({ authorization: `Bearer ${key}` }), role).toBe(200);
    }
  });

  it('returns 403 if the key does not cover the database or tenant, even for defaults, before any other error', async () => {
    const ofTenant = { 'x-api-key': await made({ role: 'writer', tenants: ['acme'] }) };
    const unnamed = await fetch(`${closed.address}/a2a`, {
      method: 'POST',
      headers: { ...ofTenant, 'content-type': 'application/json' },
      body: JSON.stringify(good),
    });
    expect(unnamed.status).toBe(403);
    expect(await statusOf(ofTenant)).toBe(403);
    expect(await statusOf({ ...ofTenant, 'content-type': 'text/plain' })).toBe(403);
    expect(await statusOf({ ...ofTenant, 'x-tenant-id': 'acme' })).toBe(200);
    const ofDatabase = { 'x-api-key': await made({ role: 'writer', databases: ['elsewhere'] }) };
    expect(await statusOf(ofDatabase)).toBe(403);
    expect(await statusOf({ ...ofDatabase, 'x-database': 'elsewhere' })).toBe(404);
  });

  it.each(revisions)(
    'lets a reader ask but refuses telling and teaching with Forbidden, in %s',
    async (revision) => {
      const headers = { 'x-tenant-id': `readers-${revision}` };
      await said(closed, 'open(door).', { ...headers, 'x-api-key': apiKey });
      const reader = { ...headers, 'x-api-key': await made({ role: 'reader' }) };
      const { data, text: words } = await said(
        closed,
        'open(window).\nway(?x) :- open(?x).\nopen(?x)?',
        reader,
        revision,
      );
      const refused = {
        status: 'failed',
        code: 'Forbidden',
        detail: 'this needs the role writer; the credential is a reader',
      };
      expect(data).toEqual([refused, refused, expect.objectContaining({ results: ['open(door)'] })]);
      expect(words).toContain('line 1 failed: Forbidden: this needs the role writer');
      const { body } = await closed.call(
        'POST',
        '/ask',
        { predicate: 'way', args: ['?x'] },
        { headers: reader },
      );
      expect(body).toMatchObject({ count: 0 });
    },
  );

  it('lets a tenant-restricted key tell but not teach', async () => {
    const headers = { 'x-tenant-id': 'acme', 'x-api-key': await made({ role: 'writer', tenants: ['acme'] }) };
    expect((await said(closed, 'own(fact).\nall(?x) :- own(?x).', headers)).data).toMatchObject([
      { status: 'asserted', atom: 'own(fact)' },
      { status: 'failed', code: 'Forbidden' },
    ]);
  });

  it('refuses a revoked key at once', async () => {
    const admin = { 'x-api-key': apiKey };
    const { body } = await closed.call<CreatedKey>(
      'POST',
      '/auth/keys',
      { role: 'writer' },
      { headers: admin },
    );
    const headers = { 'x-api-key': body.key };
    const request = rpc(sendMethod('0.3'), { message: message('0.3', 'p(?x)') });
    expect(await statusOf(headers, request)).toBe(200);
    await closed.call('DELETE', `/auth/keys/${body.id}`, undefined, { headers: admin });
    expect(await statusOf(headers, request)).toBe(401);
  });
});
