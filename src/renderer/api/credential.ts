/**
 * The key of this tab: kept for the tab alone, and by the system's store for secrets on the desktop; never written to disk
 * by the workbench, and given up for another one when the service refuses it.
 *
 * A call that is refused waits here for another key and is then made again, so that whoever signs in goes on where
 * they were. Each sign-in and sign-out begins a new turn; what is refused of an earlier one says nothing of this one.
 * Who closes the sign-in is not asked again by calls that go on failing, only when asking for it.
 */
import { create } from 'zustand';
import type { SecretPlace } from '../../desktop-contract/channels.ts';
import { notifyTrouble } from '../ui/notify.tsx';
import { desktopShell } from './desktop.ts';
import { ApiError, type ApiFailure } from './problem.ts';

const keyStorage = 'corollary.key';

interface Credential {
  readonly key: string | null;
  /** How long a key lasts: with the tab, with the desktop application, or kept by the system's store. */
  readonly place: 'tab' | SecretPlace;
  /** Counts sign-ins and sign-outs. */
  readonly turn: number;
  /** Counts sign-outs alone: what was on screen is not for whoever comes next. */
  readonly person: number;
  /** Why the service wants another key, or one at all; null while it does not. */
  readonly refusal: ApiFailure | null;
  /** Whether the sign-in is open. */
  readonly isAsking: boolean;
}

export const useCredential = create<Credential>()(() => ({
  key: desktopShell() === null ? (globalThis.sessionStorage?.getItem(keyStorage) ?? null) : null,
  place: 'tab',
  turn: 0,
  person: 0,
  refusal: null,
  isAsking: false,
}));

export function currentKey(): string | null {
  return useCredential.getState().key;
}

/** Takes up the key that the desktop application keeps, before anything is asked of the service. In a browser, nothing. */
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

/** Forgets the key, and whose it was. */
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

/** Closes the sign-in without another key: calls that waited for one fail. */
export function dismissSignIn(): void {
  useCredential.setState({ isAsking: false });
}

/** To be told when a call that carried `key` was answered 401. The first refusal of a key opens the sign-in. */
export function noteRefused(key: string | null, failure: ApiFailure): void {
  const { key: current, refusal } = useCredential.getState();
  if (key !== current) return;
  useCredential.setState(refusal === null ? { refusal: failure, isAsking: true } : { refusal: failure });
}

/**
 * Resolves once the turn is another one than `turn`: true. False where the sign-in is closed without one. Rejects
 * with the signal's reason when it is aborted.
 */
export function nextTurn(turn: number, signal: AbortSignal | undefined): Promise<boolean> {
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
  /** Gives up waiting for another key. */
  readonly signal?: AbortSignal | undefined;
  /** True: somebody asks for just this now, and is asked to sign in again though they closed the sign-in. */
  readonly isWanted?: boolean;
}

/** Does `work`, which carries the key of the moment; where that is refused, again with the next one, if there is any. */
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

/** A key that was refused is good again, or none is asked for any more: what failed meanwhile is to be asked again. */
function noteTaken(turn: number): void {
  useCredential.setState((state) =>
    state.turn === turn && state.refusal !== null
      ? { turn: turn + 1, refusal: null, isAsking: false }
      : state,
  );
}
