import { expect, it, onTestFinished } from 'vitest';
import { type Caller, EngineError, openEngine } from '../../engine/index.ts';
import { parseConfig } from '../base/config.ts';
import { nobody } from '../base/dispatch.ts';
import { Authentication } from './authentication.ts';

/** Who may use the built-in password, by the address at the other end: contract section 10. */

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

it('the built-in default password is 403 from elsewhere, naming SERVICE_ADMIN_PASS, and taken from loopback', async () => {
  const auth = await authentication();
  for (const peer of ['192.0.2.1', undefined])
    expect(await codeOf(auth.bootstrap(from(peer), builtIn))).toMatch(/^Forbidden: .*SERVICE_ADMIN_PASS/);
  expect(auth.status().bootstrapRequired).toBe(true);
  expect(await auth.bootstrap(from('127.0.0.1'), builtIn)).toMatchObject({ role: 'admin' });
});

it('is as good as any other wrong password where another one is set, and that one is taken from everywhere', async () => {
  const auth = await authentication({ SERVICE_ADMIN_PASS: 'another' });
  for (const peer of ['192.0.2.1', '127.0.0.1'])
    expect(await codeOf(auth.bootstrap(from(peer), builtIn))).toMatch(/^Unauthenticated/);
  const right = { ...builtIn, password: 'another' };
  expect(await auth.bootstrap(from('192.0.2.1'), right)).toMatchObject({ role: 'admin' });
});

it('a wrong password from elsewhere is 401: nobody learns that the built-in one is set', async () => {
  const auth = await authentication();
  const wrong = { ...builtIn, password: 'x' };
  expect(await codeOf(auth.bootstrap(from('192.0.2.1'), wrong))).toMatch(/^Unauthenticated/);
});

it('a credential that was never given holds nothing, and a key that is not one text is none', async () => {
  const auth = await authentication();
  const place = { database: 'default', tenant: 'default' };
  expect(auth.holds({ credential: 'never-given', ...place })).toBe(false);
  expect(() => auth.authenticate({})).toThrow('send the key');
  expect(() => auth.authenticate({ 'x-api-key': ['a', 'b'] })).toThrow('send the key');
});
