/**
 * Holds writes back at the edge of the service while another node is given the log: before their bodies are read, so that
 * they can still be passed on.
 */
import type { ServerResponse } from 'node:http';
import { EngineError } from '../../engine/index.ts';

/** Counts the writes to each database that are answered here, and lets later ones wait. */
export class WriteGate {
  readonly #held = new Map<string, Promise<void>>();
  readonly #underWay = new Map<string, number>();
  readonly #onIdle = new Map<string, () => void>();

  /** Resolves when nothing holds writes to the database back: at once, as a rule. */
  async open(database: string): Promise<void> {
    for (let held = this.#held.get(database); held !== undefined; held = this.#held.get(database)) await held;
  }

  /** A write is answered here, until this answer is closed. Its client may be gone already, while it waited at `open`. */
  count(
    database: string,
    answer: Pick<ServerResponse, 'closed'> & { once(event: 'close', listener: () => void): unknown },
  ): void {
    if (answer.closed) return;
    this.#underWay.set(database, this.#writesTo(database) + 1);
    answer.once('close', () => {
      const left = this.#writesTo(database) - 1;
      this.#underWay.set(database, left);
      if (left > 0) return;
      this.#underWay.delete(database);
      this.#onIdle.get(database)?.();
    });
  }

  /**
   * Runs the step while no counted write to the database is under way; later ones wait at `open`. Refuses with Conflict if
   * those under way do not end within `limitMs`, unless it is to `go on` then, or while another step of the database runs.
   */
  async hold<Result>(
    limitMs: number,
    database: string,
    step: () => Promise<Result>,
    ifBusy: 'refuse' | 'go on' = 'refuse',
  ): Promise<Result> {
    if (this.#held.has(database)) throw new EngineError('Conflict', 'the log is being moved already');
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#held.set(database, held);
    try {
      if (!(await this.#idleWithin(limitMs, database)) && ifBusy === 'refuse')
        throw new EngineError(
          'Conflict',
          `writes are under way that take more than ${limitMs / 1000} s, such as an import. Nothing changed: try again when ` +
            'they have ended.',
        );
      return await step();
    } finally {
      this.#held.delete(database);
      release();
    }
  }

  #writesTo(database: string): number {
    return this.#underWay.get(database) ?? 0;
  }

  #idleWithin(limitMs: number, database: string): Promise<boolean> {
    if (this.#writesTo(database) === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (isIdle: boolean): void => {
        clearTimeout(timer);
        this.#onIdle.delete(database);
        resolve(isIdle);
      };
      const timer = setTimeout(() => end(false), limitMs);
      this.#onIdle.set(database, () => end(true));
    });
  }
}
