/**
 * The one link to the service, kept: found, opened, and found again when it is lost, for as long as the client lives.
 *
 * Looking goes on all the time; a service is started only while a call waits for it, and after a moment in which one
 * that is being restarted can come back by itself. A refusal (a key, a database) is told at once to those who wait, and
 * tried again when somebody asks again.
 */
import { Cancelled, codes, failureOf, NotTaken, Refused } from './failures.ts';
import type { Found } from './find-service.ts';
import type { Link } from './link.ts';

export interface ConnectionParts {
  find(): Promise<Found>;
  /** Starts a service where none runs; null: none may be started. */
  readonly starter: { readonly why: string | null; start(): Promise<void> } | null;
  makeLink(url: string): Link;
  /** Makes a new link usable. Rejects with NotTaken, Broken or Refused. */
  resume(link: Link, signal: AbortSignal): Promise<void>;
  /** There is a link again, after the first. */
  onReturn(): void;
  readonly now: () => number;
  say(line: string): void;
}

/** Between two looks, and before a service that has just gone is started again. */
const lookMs = 200;
const graceMs = 2500;
/** Before a service that refused is asked again by itself. */
const refusedMs = 5000;

interface Problem {
  readonly message: string;
  /** It does not pass by waiting. */
  readonly refusal: Refused | null;
}

export class Connection {
  readonly #parts: ConnectionParts;
  readonly #ending = new AbortController();
  #link: Link | null = null;
  #problem: Problem = { message: 'Corollary has not been found yet', refusal: null };
  /** Attempts to connect that have come to an end. */
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

  /** The link, as soon as there is one. Rejects with Refused where there is none until then, or Cancelled. */
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

  /** Ends the session at the service, and all that waits. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#changes.tell();
    await this.#link?.close();
    await this.#running;
  }

  #unavailable(): Refused {
    const { starter } = this.#parts;
    const what = starter?.why ?? this.#problem.message;
    return new Refused({
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
      this.#changes.tell();
      this.#parts.say(`connected to ${link.url}`);
      if (!isFirst) this.#parts.onReturn();
      isFirst = false;
      await Promise.race([link.lost, aborted(signal)]);
      if (signal.aborted) return;
      this.#lostAt = this.#parts.now();
      this.#problem = { message: 'Corollary has gone', refusal: null };
      this.#parts.say('Corollary has gone: waiting for it');
    }
  }

  /** One attempt, with the pause that it takes where it fails. */
  async #connect(): Promise<Link | null> {
    const { find, makeLink, resume, say } = this.#parts;
    const { signal } = this.#ending;
    const found = await find();
    if (found.kind !== 'ready') {
      const message = found.kind === 'none' ? found.why : `Corollary is not ready at ${found.url}`;
      this.#failed({ message, refusal: null });
      if (found.kind === 'none') await this.#startWhereWanted();
      await sleep(lookMs, signal);
      return null;
    }
    const link = makeLink(found.url);
    try {
      await resume(link, signal);
      return link;
    } catch (error) {
      const failure = error instanceof Cancelled ? new NotTaken('ended') : failureOf(error);
      await link.close();
      const isRefusal = failure instanceof Refused;
      if (isRefusal && this.#problem.message !== failure.message) say(failure.message);
      this.#failed({ message: failure.message, refusal: isRefusal ? failure : null });
      if (isRefusal) await this.#asked.wait(refusedMs, signal);
      await sleep(lookMs, signal);
      return null;
    }
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

/** Wakes those who wait. */
class Signal {
  readonly #wake = new Set<() => void>();

  tell(): void {
    for (const wake of this.#wake) wake();
  }

  /** Resolves when it is told, after so many milliseconds, or when the signal aborts. */
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

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Signal().wait(ms, signal);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
