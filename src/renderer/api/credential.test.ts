import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  asSignedIn,
  askToSignIn,
  currentKey,
  dismissSignIn,
  noteRefused,
  restoreKey,
  signIn,
  signOut,
  useCredential,
} from './credential.ts';
import { type ApiError, errorOfAnswer } from './problem.ts';

const before = useCredential.getState();
const stored = new Map<string, string>();

beforeEach(() => {
  // Browsers have these; this environment does not.
  Object.defineProperty(globalThis, 'sessionStorage', {
    configurable: true,
    value: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => void stored.set(name, value),
      removeItem: (name: string) => void stored.delete(name),
    },
  });
});

afterEach(() => {
  useCredential.setState(before, true);
  stored.clear();
  Reflect.deleteProperty(globalThis, 'sessionStorage');
  Reflect.deleteProperty(globalThis, 'corollary');
});

function refusal(detail = 'the key has expired'): ApiError {
  return errorOfAnswer(401, { code: 'Unauthenticated', detail, requestId: 'r1' }, 'r1');
}

/** A service that accepts one key; `calls` are the keys it received. */
function serviceOf(taken: string): { calls: (string | null)[]; ask: () => Promise<string> } {
  const calls: (string | null)[] = [];
  const ask = async () => {
    const key = currentKey();
    calls.push(key);
    if (key !== taken) throw refusal();
    return 'answer';
  };
  return { calls, ask };
}

describe('a call whose key is refused', () => {
  test('opens the sign-in with the reason, waits, and retries with the next key', async () => {
    const { calls, ask } = serviceOf('second');
    signIn('first');
    const answer = asSignedIn(ask);
    await expect.poll(() => useCredential.getState().isAsking).toBe(true);
    expect(useCredential.getState().refusal).toMatchObject({
      detail: 'the key has expired',
      requestId: 'r1',
    });
    signIn('third');
    await expect.poll(() => calls.length).toBe(2);
    signIn('second');
    expect(await answer).toBe('answer');
    expect(calls).toEqual(['first', 'third', 'second']);
    expect(useCredential.getState()).toMatchObject({ refusal: null, isAsking: false });
    expect([...stored.values()]).toEqual(['second']);
  });

  test('fails if the sign-in is closed, without opening it again', async () => {
    const { calls, ask } = serviceOf('second');
    const first = asSignedIn(ask);
    await expect.poll(() => useCredential.getState().isAsking).toBe(true);
    dismissSignIn();
    await expect(first).rejects.toMatchObject({ code: 'Unauthenticated' });
    await expect(asSignedIn(ask)).rejects.toMatchObject({ code: 'Unauthenticated' });
    expect(useCredential.getState().isAsking).toBe(false);
    expect(calls).toEqual([null, null]);
    // The user signs in; calls made meanwhile wait.
    askToSignIn();
    const waiting = asSignedIn(ask);
    await expect.poll(() => calls.length).toBe(3);
    signIn('second');
    expect(await waiting).toBe('answer');
  });

  test('opens the sign-in again on request', async () => {
    const { ask } = serviceOf('second');
    const first = asSignedIn(ask);
    await expect.poll(() => useCredential.getState().isAsking).toBe(true);
    dismissSignIn();
    await expect(first).rejects.toMatchObject({ code: 'Unauthenticated' });
    const wanted = asSignedIn(ask, { isWanted: true });
    await expect.poll(() => useCredential.getState().isAsking).toBe(true);
    signIn('second');
    expect(await wanted).toBe('answer');
  });

  test('is cleared when the same key is accepted again', async () => {
    signIn('first');
    const { ask } = serviceOf('first');
    const { turn } = useCredential.getState();
    noteRefused('first', refusal());
    dismissSignIn();
    await asSignedIn(ask);
    expect(useCredential.getState()).toMatchObject({ key: 'first', refusal: null, turn: turn + 1 });
  });

  test('rejects as aborted if it is cancelled while it waits', async () => {
    const controller = new AbortController();
    const waiting = asSignedIn(serviceOf('none').ask, { signal: controller.signal });
    await expect.poll(() => useCredential.getState().isAsking).toBe(true);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('does not affect a user who has signed in meanwhile', async () => {
    signIn('first');
    let refuse: (error: ApiError) => void = () => undefined;
    const answers = [new Promise<string>((_, reject) => (refuse = reject)), Promise.resolve('answer')];
    const late = asSignedIn(() => answers.shift() ?? Promise.reject(new Error('asked too often')));
    signIn('second');
    refuse(refusal());
    expect(await late).toBe('answer');
    expect(useCredential.getState()).toMatchObject({ refusal: null, isAsking: false });
    noteRefused('first', refusal());
    expect(useCredential.getState().isAsking).toBe(false);
  });

  test('for any other reason fails at once', async () => {
    const forbidden = errorOfAnswer(403, { code: 'Forbidden', detail: 'no', requestId: 'r2' }, 'r2');
    await expect(asSignedIn(() => Promise.reject(forbidden))).rejects.toBe(forbidden);
    expect(useCredential.getState().isAsking).toBe(false);
  });
});

test('forgets the key at sign-out, and starts again for another user', () => {
  signIn('first');
  const { turn, person } = useCredential.getState();
  signOut();
  expect(stored.size).toBe(0);
  expect(useCredential.getState()).toMatchObject({ key: null, turn: turn + 1, person: person + 1 });
  signIn('second');
  expect(useCredential.getState()).toMatchObject({ person: person + 1 });
});

describe('in the desktop application', () => {
  /** An application that stores `key`; returns what it was given to store. */
  function application(key: string | null): (string | null)[] {
    const given: (string | null)[] = [];
    Object.assign(globalThis, {
      corollary: {
        readKey: async () => ({ key, place: 'kept' }),
        keepKey: async (next: string | null) => {
          given.push(next);
          return 'kept';
        },
      },
    });
    return given;
  }

  test('restores the stored key and how it is stored', async () => {
    application('kept-key');
    await restoreKey();
    expect(useCredential.getState()).toMatchObject({ key: 'kept-key', place: 'kept' });
  });

  test('stores and deletes keys by the application, never in the browser’s storage', async () => {
    const given = application(null);
    await restoreKey();
    signIn('first');
    await expect.poll(() => useCredential.getState().place).toBe('kept');
    signOut();
    expect(given).toEqual(['first', null]);
    expect(stored.size).toBe(0);
  });
});

test('restores nothing in a browser', async () => {
  signIn('first');
  await restoreKey();
  expect(useCredential.getState()).toMatchObject({ key: 'first', place: 'tab' });
});
