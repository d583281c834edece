/** Counts what this node answers from each database, so that the database can be closed once nothing is any more. */
import type { ServerResponse } from 'node:http';

/** A request that takes longer than this is cut off when its database is closed, in milliseconds. */
const waitMs = 30_000;

/** The answers under way, by database. */
export class AnswersHere {
  readonly #answers = new Map<string, Map<Pick<ServerResponse, 'destroy'>, { readonly isStream: boolean }>>();
  readonly #onIdle = new Map<string, () => void>();

  /** Counts an answer until it is closed. `isStream`: it stays open until either side ends it. */
  count(
    database: string,
    answer: Pick<ServerResponse, 'closed' | 'destroy'> & {
      once(event: 'close', listener: () => void): unknown;
    },
    isStream: boolean,
  ): void {
    if (answer.closed) return;
    const answers = this.#answers.get(database) ?? new Map<typeof answer, { readonly isStream: boolean }>();
    this.#answers.set(database, answers);
    if (answers.has(answer)) return;
    answers.set(answer, { isStream });
    answer.once('close', () => {
      answers.delete(answer);
      if (answers.size > 0) return;
      this.#answers.delete(database);
      this.#onIdle.get(database)?.();
    });
  }

  /** Ends the streams of the database, and resolves when nothing is answered from it, or is cut off after `limitMs`. */
  async whenUnused(database: string, limitMs = waitMs): Promise<void> {
    this.#cut(database, ({ isStream }) => isStream);
    if (!this.#answers.has(database)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#cut(database, () => true), limitMs);
      this.#onIdle.set(database, () => {
        clearTimeout(timer);
        this.#onIdle.delete(database);
        resolve();
      });
    });
  }

  #cut(database: string, isCut: (answer: { readonly isStream: boolean }) => boolean): void {
    for (const [answer, of] of this.#answers.get(database) ?? []) if (isCut(of)) answer.destroy();
  }
}
