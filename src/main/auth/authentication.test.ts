import { expect, it, onTestFinished } from 'vitest';
import { type Caller, EngineError, openEngine, systemOrigin } from '../../engine/index.ts';
import { parseConfig } from '../base/config.ts';
import { nobody } from '../base/dispatch.ts';
import { Authentication } from './authentication.ts';

/** Who may use the built-in password, by the peer address: contract section 10. */

async function authentication(environment: Record<string, string> = {}): Promise<Authentication> {
  const engine = await openEngine({ storageDir: null });
  onTestFinished(() => engine.close());
  return new Authentication({
    settings: parseConfig({ AUTH_ENABLED: 'true', ...environment }),
    keys: () => engine.keys,
    isLoopback: (address) => address === '127.0.0.1',
    now: () => 0,
  });
}

function from(peer?: string): Caller {
  return {
    ...nobody,
    database: 'default',
    tenant: 'default',
    client: null,
    transaction: null,
    idempotency: null,
    requestId: 'request',
    origin: systemOrigin,
    ...(peer === undefined ? {} : { peer }),
    signal: new AbortController().signal,
  };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof EngineError ? `${error.code}: ${error.message}` : String(error);
}

const builtIn = { username: 'admin', password: 'corollary-admin' };

it('accepts the built-in default password from loopback and returns 403 naming SERVICE_ADMIN_PASS elsewhere', async () => {
  const auth = await authentication();
  for (const peer of ['192.0.2.1', undefined])
    expect(await codeOf(auth.bootstrap(from(peer), builtIn))).toMatch(/^Forbidden: .*SERVICE_ADMIN_PASS/);
  expect(auth.status().bootstrapRequired).toBe(true);
  expect(await auth.bootstrap(from('127.0.0.1'), builtIn)).toMatchObject({ role: 'admin' });
});

it('treats the default password as wrong if another one is set, and accepts that one from any address', async () => {
  const auth = await authentication({ SERVICE_ADMIN_PASS: 'another' });
  for (const peer of ['192.0.2.1', '127.0.0.1'])
    expect(await codeOf(auth.bootstrap(from(peer), builtIn))).toMatch(/^Unauthenticated/);
  const right = { ...builtIn, password: 'another' };
  expect(await auth.bootstrap(from('192.0.2.1'), right)).toMatchObject({ role: 'admin' });
});

it('returns 401 for a wrong password from elsewhere, so it does not reveal that the default is set', async () => {
  const auth = await authentication();
  const wrong = { ...builtIn, password: 'x' };
  expect(await codeOf(auth.bootstrap(from('192.0.2.1'), wrong))).toMatch(/^Unauthenticated/);
});

it('grants nothing without a credential, and nothing for a key that is not a single string', async () => {
  const auth = await authentication();
  const place = { database: 'default', tenant: 'default' };
  expect(auth.holds({ credential: 'never-given', ...place })).toBe(false);
  expect(() => auth.authenticate({})).toThrow('send the key');
  expect(() => auth.authenticate({ 'x-api-key': ['a', 'b'] })).toThrow('send the key');
});
