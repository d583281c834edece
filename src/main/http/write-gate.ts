/**
 * Holds writes back at the edge of the service while another node is given the log: before their bodies are read, so that
 * they can still be passed on.
 */
import type { ServerResponse } from 'node:http';
import { EngineError } from '../../engine/index.ts';

/** Counts the writes that are answered here, and lets later ones wait. */
export class WriteGate {
  #held: Promise<void> | null = null;
  #underWay = 0;
  #onIdle: () => void = () => {};

  /** Resolves when nothing holds writes back: at once, as a rule. */
  async open(): Promise<void> {
    while (this.#held !== null) await this.#held;
  }

  /** A write is answered here, until this answer is closed. Its client may be gone already, while it waited at `open`. */
  count(
    answer: Pick<ServerResponse, 'closed'> & { once(event: 'close', listener: () => void): unknown },
  ): void {
    if (answer.closed) return;
    this.#underWay++;
    answer.once('close', () => {
      if (--this.#underWay === 0) this.#onIdle();
    });
  }

  /**
   * Runs the step while no counted write is under way; later ones wait at `open`. Refuses with Conflict if those under way
   * do not end within `limitMs`, or while another step runs.
   */
  async hold<Result>(limitMs: number, step: () => Promise<Result>): Promise<Result> {
    if (this.#held !== null) throw new EngineError('Conflict', 'the log is being moved already');
    let release = (): void => {};
    this.#held = new Promise<void>((resolve) => {
      release = resolve;
    });
    try {
      if (!(await this.#idleWithin(limitMs)))
        throw new EngineError(
          'Conflict',
          `writes are under way that take more than ${limitMs / 1000} s, such as an import. Nothing changed: try again when ` +
            'they have ended.',
        );
      return await step();
    } finally {
      this.#held = null;
      release();
    }
  }

  #idleWithin(limitMs: number): Promise<boolean> {
    if (this.#underWay === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), limitMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}
