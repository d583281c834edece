/**
 * Who calls: it goes through every handler and every write, from the first byte of a request to its log record.
 */
export interface Caller {
  /** Id of the credential, or null where the caller is anonymous. */
  readonly credential: string | null;
  readonly role: 'reader' | 'writer' | 'admin' | 'replica';
  /** Databases and tenants the credential is restricted to; empty: no restriction. */
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
  /** The database and tenant of this call. */
  readonly database: string;
  readonly tenant: string;
  /** Name of the client program, such as an MCP client's; null where it did not say. */
  readonly client: string | null;
  /** The transaction that the call is to be part of; null: none. */
  readonly transaction: string | null;
  /** What makes a repeated write be answered as the first one was; null: nothing. */
  readonly idempotency: Idempotency | null;
  /**
   * Entity tags of which the rule that is to be changed must have one, `*` for any; absent: whatever it is. Weak tags
   * match nothing and are left out.
   */
  readonly ifMatch?: readonly string[] | '*';
  readonly requestId: string;
  /** Address of the other end of the connection; absent or undefined: none is known. */
  readonly peer?: string | undefined;
  /** Aborts when the client has gone: its question is cancelled, its writes are not. */
  readonly signal: AbortSignal | Cancellation;
}

/** Tells who looks whether a call was cancelled. A signal, which few calls need, is made when somebody asks for one. */
export interface Cancellation {
  readonly aborted: boolean;
  toSignal(): AbortSignal;
}

/** The signal of the caller, for who wants to be told. */
export function signalOf({ signal }: Pick<Caller, 'signal'>): AbortSignal {
  return 'toSignal' in signal ? signal.toSignal() : signal;
}

/** Cancelled as soon as one of the two is. */
export function eitherOf(one: Caller['signal'], other: Caller['signal']): Cancellation {
  let signal: AbortSignal | null = null;
  return {
    get aborted() {
      return one.aborted || other.aborted;
    },
    toSignal: () => (signal ??= AbortSignal.any([signalOf({ signal: one }), signalOf({ signal: other })])),
  };
}

/** Of one that may be cancelled once; its signal is made where somebody asks for it. */
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

/** A key that the client chose for one write, and a digest of the request that tells it from another one. */
export interface Idempotency {
  readonly key: string;
  readonly fingerprint: string;
}
