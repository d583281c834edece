import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Problem } from '../../engine/contract/problems.ts';
import { EngineError, serving } from '../../engine/index.ts';
import { Authentication, newKeyText } from '../auth/authentication.ts';
import { type Config, parseConfig } from '../base/config.ts';
import { createDispatcher } from '../base/dispatch.ts';
import { findInstallation } from '../base/installation.ts';
import { createHandlers } from '../service/handlers.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createHttpApp, type HttpApp } from './app.ts';

/** The HTTP layer while the engine is opening: there is no engine yet. */
let http: HttpApp;
let address: string;
/** The same with keys, which cannot be looked up yet. */
let withKeys: HttpApp;
let addressWithKeys: string;

beforeAll(async () => {
  [http, address] = await started(parseConfig({ API_KEY: 'a-key' }));
  [withKeys, addressWithKeys] = await started(parseConfig({ AUTH_ENABLED: 'true', API_KEY: 'a-key' }));
});

afterAll(() => Promise.all([http.app.close(), withKeys.app.close()]));

async function started(settings: Config): Promise<[HttpApp, string]> {
  const state = {
    get engine(): never {
      throw new EngineError('NotReady', 'not yet');
    },
    version: '1.0.0',
    uptimeMs: () => 1,
    get language(): never {
      return notStarted();
    },
    get agents(): never {
      return notStarted();
    },
    authentication: new Authentication({
      settings,
      keys: notStarted,
      isLoopback: () => true,
      now: () => 0,
    }),
    moveLog: () => Promise.reject(new Error('not asked for')),
    storagePlace: null,
    databases: () => Promise.reject(new Error('not asked for')),
    replicationStatus: () => ({
      mode: 'FOLLOWER' as const,
      state: 'connecting' as const,
      leader: 'http://leader.example',
      position: 0,
      leaderPosition: null,
      lagRecords: null,
      lagMs: null,
      lastContactAt: null,
      lastError: null,
      historyId: null,
      epoch: 0,
      followers: [],
    }),
    readiness: () => {
      const subsystems = {
        engine: 'off',
        storage: 'off',
        replication: 'off',
        mcp: 'off',
        llm: 'off',
      } as const;
      return { status: 'not_ready' as const, subsystems };
    },
  };
  const sources = {
    counters: () => null,
    figures: () => null,
    traffic: () => null,
    node: () => null,
    passedOn: () => null,
    replication: () => null,
    scheduler: serving,
    isStorageReady: () => false,
    uptimeMs: state.uptimeMs,
  };
  const made = await createHttpApp({
    ...findInstallation(),
    log: createLogger({ level: 'ERROR', format: 'json', write: () => {} }),
    settings: parseConfig({}),
    dispatcher: createDispatcher(createHandlers(state), {
      leaderUrl: null,
      checkOutputs: true,
      beginQuestion: () => () => {},
      onCall: () => {},
    }),
    metrics: createMetrics(sources, []),
    phase: () => 'starting',
    hasDatabase: () => state.engine,
    token: () => null,
    atLeast: () => state.engine,
    confirm: () => state.engine,
    remembers: () => state.engine,
    keptImport: () => null,
    whenErased: () => undefined,
    metricsHistory: () => '',
    abandon: () => false,
    authenticate: (headers) => state.authentication.authenticate(headers),
    holds: () => state.engine,
    admitTry: () => {},
    nodes: null,
    needsCredential: false,
  });
  await made.app.listen({ host: '127.0.0.1', port: 0 });
  return [made, `http://127.0.0.1:${(made.app.server.address() as AddressInfo).port}`];
}

it.each([
  ['POST', '/ask', {}],
  ['GET', '/databases', {}],
  ['GET', '/', {}],
  ['GET', '/openapi.json', {}],
  ['GET', '/nowhere', {}],
  ['PUT', '/ask', {}],
  ['GET', '/facts/%ff', {}],
  ['POST', '/ask', { origin: 'https://evil.example', 'content-type': 'text/plain' }],
])('returns 503 NotReady before any other check: %s %s %j', async (method, path, headers) => {
  const response = await fetch(address + path, { method, headers });
  const problem = (await response.json()) as Problem;
  expect(response.status).toBe(503);
  expect(problem).toMatchObject({ code: 'NotReady', status: 503 });
  expect(response.headers.get('x-request-id')).toBe(problem.requestId);
});

it('still answers health, readiness and metrics', async () => {
  const health = await fetch(`${address}/health`);
  expect({ status: health.status, body: await health.json() }).toMatchObject({
    status: 200,
    body: { status: 'ok' },
  });
  const ready = await fetch(`${address}/health/ready`);
  expect({ status: ready.status, body: await ready.json() }).toMatchObject({
    status: 503,
    body: { status: 'not_ready', subsystems: { engine: 'off' } },
  });
  const metrics = await fetch(`${address}/metrics`, { headers: { 'x-api-key': 'a-key' } });
  expect(metrics.status).toBe(200);
  expect((await fetch(`${address}/metrics`)).status).toBe(401);
});

it('returns metrics for API_KEY if authentication is on, and 503 for other keys, which cannot be looked up yet', async () => {
  const status = async (key?: string): Promise<[number, string]> => {
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const response = await fetch(`${addressWithKeys}/metrics`, { headers });
    const text = await response.text();
    return [response.status, response.status === 200 ? 'metrics' : (JSON.parse(text) as Problem).code];
  };
  expect(await status('a-key')).toEqual([200, 'metrics']);
  expect(await status(newKeyText())).toEqual([503, 'NotReady']);
  expect(await status('made-up')).toEqual([401, 'Unauthenticated']);
  expect(await status()).toEqual([401, 'Unauthenticated']);
});

function notStarted(): never {
  throw new EngineError('NotReady', 'the service is starting: try again soon');
}
