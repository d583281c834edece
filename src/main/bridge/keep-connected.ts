/**
 * Keeps one link to the service: finds and opens it, and again whenever it is lost, until the client ends.
 *
 * It looks for a service continuously, but starts one only while a call waits, and after a moment in which a restarting
 * service can come back by itself. A refusal (a key, a database) goes to the waiting calls at once, and is tried again
 * at the next call.
 */
import { Cancelled, codes, sendFailureOf, NotTaken, RefusedRequest } from './failures.ts';
import type { FoundService } from './find-service.ts';
import type { Link } from './link.ts';
import type { ServiceStarter } from './start-service.ts';

export interface ConnectionParts {
  find(): Promise<FoundService>;
  /** Starts a service if none is running; null: must not start one. */
  readonly starter: Pick<ServiceStarter, 'why' | 'start' | 'succeeded'> | null;
  makeLink(url: string): Link;
  /** Makes a new link usable. Rejects with NotTaken, Broken or Refused. */
  resume(link: Link, signal: AbortSignal): Promise<void>;
  /** A link is open again, after the first one. */
  onReturn(): void;
  readonly now: () => number;
  say(line: string): void;
}

/** Milliseconds between two looks while a call waits, while none does, and before a lost service is started again. */
const lookMs = 200;
const idleLookMs = 1000;
const graceMs = 2500;
/** Milliseconds before the bridge asks a service that refused again by itself. */
const refusedMs = 5000;

interface Problem {
  readonly message: string;
  /** A refusal that waiting does not resolve. */
  readonly refusal: RefusedRequest | null;
}

/** The bridge's connection to the service, over any number of links. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #ending = new AbortController();
  #link: Link | null = null;
  #problem: Problem = { message: 'Corollary has not been found yet', refusal: null };
  /** Completed attempts to connect. */
  #attempts = 0;
  #waiting = 0;
  #lostAt: number | null = null;
  readonly #changes = new Signal();
  readonly #asked = new Signal();
  #running: Promise<void> | null = null;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  get current(): Link | null {
    return this.#link?.isLost === false ? this.#link : null;
  }

  start(): void {
    this.#running ??= this.#keep();
  }

  /** Resolves with the link as soon as there is one. Rejects with Refused at the time `until`, or with Cancelled. */
  async link(until: number, signal: AbortSignal): Promise<Link> {
    const attempts = this.#attempts;
    this.#waiting++;
    try {
      for (;;) {
        const { current } = this;
        if (current !== null) return current;
        if (signal.aborted) throw new Cancelled();
        const { refusal } = this.#problem;
        if (refusal !== null && this.#attempts > attempts) throw refusal;
        const left = until - this.#parts.now();
        if (left <= 0 || this.#ending.signal.aborted) throw this.#unavailable();
        this.#asked.tell();
        await this.#changes.wait(Math.min(left, 1000), signal);
      }
    } finally {
      this.#waiting--;
    }
  }

  /** Ends the session at the service and all waiting calls. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#changes.tell();
    await this.#link?.close();
    await this.#running;
  }

  #unavailable(): RefusedRequest {
    const { starter } = this.#parts;
    const what = starter?.why ?? this.#problem.message;
    return new RefusedRequest({
      code: codes.unavailable,
      message: `${what}. Start Corollary (the app, or "corollary serve"), then call again.`,
    });
  }

  async #keep(): Promise<void> {
    const { signal } = this.#ending;
    let isFirst = true;
    while (!signal.aborted) {
      const link = await this.#connect();
      if (link === null) continue;
      this.#link = link;
      this.#parts.starter?.succeeded();
      this.#changes.tell();
      this.#parts.say(`connected to ${link.url}`);
      if (!isFirst) this.#parts.onReturn();
      isFirst = false;
      await Promise.race([link.lost, aborted(signal)]);
      if (signal.aborted) return;
      this.#lostAt = this.#parts.now();
      this.#problem = { message: 'Corollary has stopped', refusal: null };
      this.#parts.say('Corollary has stopped: waiting for it to return');
    }
  }

  /** One attempt, followed by a pause if it fails. */
  async #connect(): Promise<Link | null> {
    const { find, makeLink, resume, say } = this.#parts;
    const { signal } = this.#ending;
    const found = await find();
    if (found.kind !== 'ready') {
      const message = found.kind === 'none' ? found.why : `Corollary is not ready at ${found.url}`;
      this.#failed({ message, refusal: null });
      if (found.kind === 'none') await this.#startWhereWanted();
      await this.#rest();
      return null;
    }
    const link = makeLink(found.url);
    try {
      await resume(link, signal);
      return link;
    } catch (error) {
      const failure = error instanceof Cancelled ? new NotTaken('ended') : sendFailureOf(error);
      await link.close();
      const isRefusal = failure instanceof RefusedRequest;
      if (isRefusal && this.#problem.message !== failure.message) say(failure.message);
      this.#failed({ message: failure.message, refusal: isRefusal ? failure : null });
      if (isRefusal) await this.#asked.wait(refusedMs, signal);
      await this.#rest();
      return null;
    }
  }

  async #rest(): Promise<void> {
    const { signal } = this.#ending;
    if (this.#waiting === 0) await this.#asked.wait(idleLookMs - lookMs, signal);
    await new Signal().wait(lookMs, signal);
  }

  #failed(problem: Problem): void {
    this.#problem = problem;
    this.#attempts++;
    this.#changes.tell();
  }

  async #startWhereWanted(): Promise<void> {
    const { starter, now, say } = this.#parts;
    const isJustLost = this.#lostAt !== null && now() - this.#lostAt < graceMs;
    if (starter === null || this.#waiting === 0 || isJustLost) return;
    try {
      await starter.start();
    } catch (error) {
      say(`Corollary could not be started: ${(error as Error).message}`);
    }
  }
}

/** Wakes waiting calls. */
class Signal {
  readonly #wake = new Set<() => void>();

  tell(): void {
    for (const wake of this.#wake) wake();
  }

  /** Resolves when signalled, after `ms` milliseconds, or when the signal aborts. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
      this.#wake.add(done);
    });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
