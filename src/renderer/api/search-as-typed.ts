/**
 * A search that follows a text as it is typed: it waits for a pause in typing, cancels what an earlier text has under
 * way, and shows only what belongs to the last text.
 *
 * The search is asked in parts, such as what is quickly found and what needs inference; each shows when it arrives.
 * What was found for an earlier text stays until the part has an answer for the new one, so that nothing flickers.
 */
import type { Mention } from '../../engine/contract/mention.ts';
import type { Searched, SearchHit } from '../../engine/contract/search.ts';
import { type ApiFailure, apiFailureOf, isCancelled } from './problem.ts';

/** The pause in typing before a search begins, in milliseconds. */
export const typingPauseMs = 120;

/** What a search as typed shows. */
export interface TypedSearch {
  /** Some part has no answer for the last text yet. */
  readonly isSearching: boolean;
  /** Part by part; in each, best first. */
  readonly hits: readonly SearchHit[];
  readonly mentions: readonly Mention[];
  /** A part that has no answer; the hits are of the others. */
  readonly failure: ApiFailure | null;
}

/** What is shown for no text. */
export const nothingTyped: TypedSearch = { isSearching: false, hits: [], mentions: [], failure: null };

type Answer = Pick<Searched, 'hits' | 'mentions'>;

interface SearchOptions {
  /** Number of parts. */
  readonly parts: number;
  /** Asks for one part; must reject when the signal aborts. */
  readonly ask: (text: string, part: number, signal: AbortSignal) => Promise<Answer>;
  readonly publish: (state: TypedSearch) => void;
  /** Calls `then` after `ms`, unless the returned function is called before. */
  readonly wait?: (ms: number, then: () => void) => () => void;
}

function waitByTimer(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms);
  return () => clearTimeout(timer);
}

/** Searches for the text last typed. */
export class SearchAsTyped {
  readonly #options: Required<SearchOptions>;
  #text = '';
  /** By part; null: none yet. */
  #answers: (Answer | null)[] = [];
  #failure: ApiFailure | null = null;
  #underWay = 0;
  #stop: () => void = () => undefined;

  constructor(options: SearchOptions) {
    this.#options = { wait: waitByTimer, ...options };
  }

  /** Takes the text as it is now; a blank one clears what was found. */
  type(text: string): void {
    const wanted = text.trim();
    if (wanted === this.#text) return;
    this.stop();
    this.#text = wanted;
    if (wanted === '') {
      this.#answers = [];
      this.#failure = null;
      this.#options.publish(nothingTyped);
      return;
    }
    this.#underWay = this.#options.parts;
    this.#publish();
    this.#stop = this.#options.wait(typingPauseMs, () => this.#ask());
  }

  /** Searches for the same text again, at once. */
  again(): void {
    this.stop();
    if (this.#text !== '') this.#ask();
  }

  /** Cancels what is under way; nothing more is published for the text. */
  stop(): void {
    this.#stop();
    this.#stop = () => undefined;
    this.#underWay = 0;
  }

  #ask(): void {
    const controller = new AbortController();
    const { signal } = controller;
    this.#stop = () => controller.abort();
    const { parts, ask } = this.#options;
    this.#underWay = parts;
    this.#failure = null;
    this.#publish();
    for (let part = 0; part < parts; part++)
      ask(this.#text, part, signal).then(
        (answer) => this.#take(signal, part, answer, null),
        (error: unknown) => {
          // Its text is no longer wanted: nothing failed.
          if (!isCancelled(error)) this.#take(signal, part, null, apiFailureOf(error));
        },
      );
  }

  #take(signal: AbortSignal, part: number, answer: Answer | null, failure: ApiFailure | null): void {
    if (signal.aborted) return;
    this.#answers[part] = answer;
    this.#failure ??= failure;
    this.#underWay -= 1;
    this.#publish();
  }

  #publish(): void {
    const answers = this.#answers.filter((answer) => answer !== null && answer !== undefined);
    this.#options.publish({
      isSearching: this.#underWay > 0,
      hits: answers.flatMap(({ hits }) => hits),
      // Every part reads the text alike.
      mentions: answers[0]?.mentions ?? [],
      failure: this.#failure,
    });
  }
}
