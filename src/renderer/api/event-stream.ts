/**
 * A persistent stream of changes: reconnects from the last event and reports its state.
 *
 * Read with fetch, since an EventSource cannot send the tenant. A stream silent for longer than the service's
 * heartbeat counts as broken. `live.ts` interprets the changes.
 */
import { operations } from '../../../client/src/operations.ts';
import { changesOf } from '../../../client/src/streams.ts';
import type { ChangeEvent } from '../../../client/src/types.ts';
import type { ChangeData, ChangeKind } from '../../engine/contract/administration.ts';
import { type ApiEndpoint, newRequestId } from './client.ts';
import { apiErrorOf, errorOfSilence, type ApiFailure, apiFailureOf } from './problem.ts';

/** A change as the stream reports it. */
export interface StreamedChange extends ChangeData {
  readonly kind: ChangeKind;
}

/** State of the connection. */
export type StreamState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** `retryAt`: epoch milliseconds of the next attempt. */
  | {
      readonly kind: 'waiting';
      readonly failure: ApiFailure;
      readonly attempt: number;
      readonly retryAt: number;
    }
  /** The key is refused; no retry until `retryNow`. */
  | { readonly kind: 'refused'; readonly failure: ApiFailure };

/** Callbacks of a stream. */
interface StreamListener {
  onChanges(changes: readonly StreamedChange[]): void;
  onState(state: StreamState): void;
}

/** An open stream. */
export interface EventStream {
  /** Retries at once if waiting or refused. */
  retryNow(): void;
  /** Replaces the connection, whose database or key may no longer be valid. */
  reconnect(): void;
  close(): void;
}

const silenceMs = 60_000;
const maxPauseMs = 8_000;
/** A stream that ends cleanly after this long is reopened at once. */
const steadyMs = 1_000;

/** Returns the delay in milliseconds before attempt `attempt`, from 1: doubling from half a second. */
export function pauseBefore(attempt: number): number {
  return Math.min(maxPauseMs, 500 * 2 ** (attempt - 1));
}

const knownKinds: Readonly<Record<ChangeKind, true>> = {
  'fact.asserted': true,
  'fact.retracted': true,
  'fact.superseded': true,
  'conclusion.withdrawn': true,
  'rule.changed': true,
  'declaration.changed': true,
  'test.changed': true,
  'alias.changed': true,
  'constraint.changed': true,
  'constraint.violated': true,
  'constraint.satisfied': true,
  'scope.changed': true,
  'memory.evicted': true,
  'mcp.call': true,
  reset: true,
};

function isChangeKind(kind: string): kind is ChangeKind {
  return Object.hasOwn(knownKinds, kind);
}

/** The change of an event; null for a kind that this workbench does not know. */
function changeOf({ eventId: _, ...change }: ChangeEvent): StreamedChange | null {
  return isChangeKind(change.kind) ? change : null;
}

/** Reads one connection to its end. Throws if it cannot be opened or breaks. */
async function readConnection(
  endpoint: ApiEndpoint,
  lastId: string,
  signal: AbortSignal,
  onOpen: () => void,
  onEvents: (events: ChangeEvent[]) => void,
): Promise<void> {
  const options = {
    requestId: newRequestId(),
    signal,
    timeoutMs: silenceMs,
    onOpen,
    ...(lastId === '' ? {} : { after: lastId }),
  };
  try {
    for await (const events of changesOf(endpoint, operations.events, options)) onEvents(events);
  } catch (error) {
    throw apiErrorOf(error);
  }
}

/** Opens the change stream of the endpoint's database and tenant; runs until `close`. */
export function openEventStream(endpoint: ApiEndpoint, listener: StreamListener): EventStream {
  const closing = new AbortController();
  let lastId = '';
  let connection = new AbortController();
  let wake: () => void = () => undefined;

  /** Infinity waits until woken. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function onEvents(events: ChangeEvent[]): void {
    const last = events.at(-1);
    if (last !== undefined) lastId = last.eventId;
    const changes = events.map(changeOf).filter((change) => change !== null);
    if (changes.length > 0) listener.onChanges(changes);
  }

  async function run(): Promise<void> {
    let attempt = 0;
    while (!closing.signal.aborted) {
      listener.onState({ kind: 'connecting' });
      connection = new AbortController();
      const { signal } = connection;
      let failure: ApiFailure;
      let openedAt = Infinity;
      try {
        await readConnection(
          endpoint,
          lastId,
          AbortSignal.any([closing.signal, signal]),
          () => {
            attempt = 0;
            openedAt = performance.now();
            listener.onState({ kind: 'live' });
          },
          onEvents,
        );
        // The service ends streams whose key is no longer valid: the next response says why.
        if (performance.now() - openedAt >= steadyMs) continue;
        failure = errorOfSilence('the stream ended', '');
      } catch (error) {
        failure = apiFailureOf(error);
      }
      if (closing.signal.aborted) return;
      if (signal.aborted) continue;
      if (failure.code === 'Unauthenticated') {
        listener.onState({ kind: 'refused', failure });
        await pause(Infinity);
        continue;
      }
      attempt += 1;
      const ms = pauseBefore(attempt);
      listener.onState({ kind: 'waiting', failure, attempt, retryAt: Date.now() + ms });
      await pause(ms);
    }
  }

  void run();
  return {
    retryNow: () => wake(),
    reconnect: () => connection.abort(),
    close() {
      closing.abort();
      wake();
    },
  };
}
