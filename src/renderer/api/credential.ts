/**
 * The key of this tab. The workbench keeps it in the tab, on the desktop in the system's secret store; it never writes
 * it to disk, and gives it up when the service refuses it.
 *
 * A refused call waits for another key and is retried with it, so that work continues after sign-in. Each sign-in and
 * sign-out begins a new turn; refusals of earlier turns are ignored. Once the user closes the sign-in, failing calls
 * do not reopen it; only a wanted call does.
 */
import { create } from 'zustand';
import type { SecretPlace } from '../../desktop-contract/channels.ts';
import { notifyTrouble } from '../ui/notify.tsx';
import { desktopShell } from './desktop.ts';
import { ApiError, type ApiFailure } from './problem.ts';

const keyStorage = 'corollary.key';

interface Credential {
  readonly key: string | null;
  /** How long the key lasts: as long as the tab, as the desktop application, or in the system's store. */
  readonly place: 'tab' | SecretPlace;
  /** Counts sign-ins and sign-outs. */
  readonly turn: number;
  /** Counts sign-outs only: the next user must not see the previous user's view. */
  readonly person: number;
  /** Why the service requires a key or another one; null if it does not. */
  readonly refusal: ApiFailure | null;
  /** True while the sign-in is open. */
  readonly isAsking: boolean;
}

/** Store of the credential. */
export const useCredential = create<Credential>()(() => ({
  key: desktopShell() === null ? (globalThis.sessionStorage?.getItem(keyStorage) ?? null) : null,
  place: 'tab',
  turn: 0,
  person: 0,
  refusal: null,
  isAsking: false,
}));

/** Returns the current key; null without one. */
export function currentKey(): string | null {
  return useCredential.getState().key;
}

/** Restores the key kept by the desktop application, before the first call. No effect in a browser. */
export async function restoreKey(): Promise<void> {
  const shell = desktopShell();
  if (shell !== null) useCredential.setState(await shell.readKey());
}

function keepKey(key: string | null): void {
  const shell = desktopShell();
  if (shell === null) {
    if (key === null) sessionStorage.removeItem(keyStorage);
    else sessionStorage.setItem(keyStorage, key);
    return;
  }
  shell.keepKey(key).then(
    (place) => useCredential.setState({ place }),
    (error: unknown) =>
      notifyTrouble(key === null ? 'The key was not forgotten' : 'The key was not kept', error),
  );
}

/** Signs in with a key. */
export function signIn(key: string): void {
  keepKey(key);
  useCredential.setState(({ turn }) => ({ key, turn: turn + 1, refusal: null, isAsking: false }));
}

/** Forgets the key and clears the user's state. */
export function signOut(): void {
  keepKey(null);
  useCredential.setState(({ turn, person }) => ({
    key: null,
    turn: turn + 1,
    person: person + 1,
    refusal: null,
    isAsking: false,
  }));
}

/** Opens the sign-in. */
export function askToSignIn(): void {
  useCredential.setState({ isAsking: true });
}

/** Closes the sign-in without a key: calls waiting for one fail. */
export function dismissSignIn(): void {
  useCredential.setState({ isAsking: false });
}

/** Records that a call with `key` was answered 401. The first refusal of a key opens the sign-in. */
export function noteRefused(key: string | null, failure: ApiFailure): void {
  const { key: current, refusal } = useCredential.getState();
  if (key !== current) return;
  useCredential.setState(refusal === null ? { refusal: failure, isAsking: true } : { refusal: failure });
}

/**
 * Resolves with true once the turn differs from `turn`, with false if the sign-in is closed first. Rejects with the
 * signal's reason when aborted.
 */
function nextTurn(turn: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    function look(): boolean {
      const state = useCredential.getState();
      if (state.turn === turn && state.isAsking) return false;
      end();
      resolve(state.turn !== turn);
      return true;
    }
    function onAbort(): void {
      end();
      const { reason } = signal as AbortSignal;
      reject(reason instanceof Error ? reason : new DOMException('given up', 'AbortError'));
    }
    let stop: () => void = () => undefined;
    function end(): void {
      stop();
      signal?.removeEventListener('abort', onAbort);
    }
    if (look()) return;
    if (signal?.aborted === true) return onAbort();
    stop = useCredential.subscribe(() => void look());
    signal?.addEventListener('abort', onAbort);
  });
}

interface SigningIn {
  /** Stops waiting for another key. */
  readonly signal?: AbortSignal | undefined;
  /** True if the user requested this call: the sign-in reopens even after it was closed. */
  readonly isWanted?: boolean;
}

/** Runs `work` with the current key; if that is refused, again with the next one. */
export async function asSignedIn<Result>(
  work: () => Promise<Result>,
  { signal, isWanted = false }: SigningIn = {},
): Promise<Result> {
  for (;;) {
    const { key, turn, refusal } = useCredential.getState();
    try {
      const result = await work();
      if (refusal !== null) noteTaken(turn);
      return result;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'Unauthenticated') throw error;
      noteRefused(key, error);
      if (isWanted && useCredential.getState().turn === turn) askToSignIn();
      if (!(await nextTurn(turn, signal))) throw error;
    }
  }
}

/** Records that the key is accepted, or none needed: failed queries are fetched again. */
function noteTaken(turn: number): void {
  useCredential.setState((state) =>
    state.turn === turn && state.refusal !== null
      ? { turn: turn + 1, refusal: null, isAsking: false }
      : state,
  );
}
