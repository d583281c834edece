import type { KnownAt } from '../contract/moments.ts';
import { systemOrigin, type WriteOrigin } from './origin.ts';

/** The identity and context of one request. Every handler and every write passes it on, down to the log record. */
export interface Caller {
  /** Id of the credential; null: the caller is anonymous. */
  readonly credential: string | null;
  readonly role: 'reader' | 'writer' | 'admin' | 'replica';
  /** The databases and tenants that the credential is restricted to; empty: no restriction. */
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
  /** The database and tenant of this call. */
  readonly database: string;
  readonly tenant: string;
  /** Name of the client program, such as an MCP client's; null: not given. */
  readonly client: string | null;
  /** The transaction that this call belongs to; null: none. */
  readonly transaction: string | null;
  /** The moment that it asks about; absent: the present. */
  readonly moment?: Moment;
  /** Told the generation whose knowledge answers a question about a moment, before the answer's first piece. */
  readonly onKnown?: (generation: number) => void;
  /** Makes a repeated write return the first write's answer; null: no idempotency key. */
  readonly idempotency: Idempotency | null;
  /**
   * Entity tags, one of which the rule to be changed must have; `*` matches any; absent: no precondition. Weak tags
   * never match and are left out.
   */
  readonly ifMatch?: readonly string[] | '*';
  readonly requestId: string;
  /** What records of its writes say about it, beside the credential. */
  readonly origin: WriteOrigin;
  /** Address of the peer; absent or undefined: unknown. */
  readonly peer?: string | undefined;
  /** Aborts when the client disconnects. That cancels its question, but not its writes. */
  readonly signal: AbortSignal | Cancellation;
}

/** The moment that a question is about, in valid time and in transaction time; not both are null. */
export interface Moment {
  /** The instant of valid time, epoch milliseconds; null: that of `asKnown`. */
  readonly asOf: number | null;
  /** null: the latest knowledge. */
  readonly asKnown: KnownAt | null;
  /** Told the generation whose knowledge was used. */
  readonly onKnown?: (generation: number) => void;
}

/** Reports whether a call was cancelled. Creates an AbortSignal on demand, since few calls need one. */
export interface Cancellation {
  readonly aborted: boolean;
  toSignal(): AbortSignal;
}

/** The caller's AbortSignal, for code that must be notified of a cancellation. */
export function signalOf({ signal }: Pick<Caller, 'signal'>): AbortSignal {
  return 'toSignal' in signal ? signal.toSignal() : signal;
}

/** A cancellation that takes effect as soon as either of the two does. */
export function eitherOf(one: Caller['signal'], other: Caller['signal']): Cancellation {
  let signal: AbortSignal | null = null;
  return {
    get aborted() {
      return one.aborted || other.aborted;
    },
    toSignal: () => (signal ??= AbortSignal.any([signalOf({ signal: one }), signalOf({ signal: other })])),
  };
}

/** A one-shot cancellation. It creates its AbortSignal on demand. */
export class CancellationSource implements Cancellation {
  #controller: AbortController | null = null;
  aborted = false;

  toSignal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  cancel(): void {
    this.aborted = true;
    this.#controller?.abort();
  }
}

/** The key that the client chose for one write, and a digest of the request that distinguishes it from others. */
export interface Idempotency {
  readonly key: string;
  readonly fingerprint: string;
}

/** The service itself, for what it does by the clock or at its start. */
export function systemCaller(actor: string, database: string, tenant: string, signal: AbortSignal): Caller {
  return {
    credential: actor,
    role: 'writer',
    databases: [],
    tenants: [],
    database,
    tenant,
    client: null,
    transaction: null,
    idempotency: null,
    requestId: actor,
    origin: systemOrigin,
    signal,
  };
}
