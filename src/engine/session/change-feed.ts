import type { ChangeKind, ChangeData } from '../contract/administration.ts';

/**
 * The changes of all databases as they happen, and the last of them for who comes back.
 *
 * What changed is remembered apart from which tools were called, so that many calls cost nobody the changes. Who comes back
 * gets all that concerns them since, in the order of telling, or a `reset`: never a part. A subscriber who falls behind is
 * told to start again rather than held in memory without end.
 */
const historySize = 10_000;
const maxQueued = 10_000;

/** Spaces of which it is known what was forgotten. */
const maxTenants = 1000;

export class ChangeFeed {
  readonly #changes = new History();
  readonly #calls = new History();
  #published = 0;
  readonly #listeners = new Set<(change: Change) => void>();

  publish(change: Change): void {
    const memory = change.kind === 'mcp.call' ? this.#calls : this.#changes;
    memory.add({ at: this.#published++, change });
    for (const listener of this.#listeners) listener(change);
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Changes that `concerns` takes, from this call on or after `lastId`. Where that one, or one after it, is no longer
   * remembered the first is `reset`. Ends when the signal aborts or the reader leaves.
   */
  stream(
    concerns: (change: Change) => boolean,
    lastId: string | null,
    reset: () => Change,
    signal: AbortSignal,
  ): AsyncIterableIterator<Change> {
    const missed = lastId === null ? [] : (this.#after(lastId, concerns) ?? [reset()]);
    const subscription = new Subscription(missed, reset, signal);
    if (!signal.aborted)
      subscription.onEnd = this.subscribe((change) => {
        if (concerns(change)) subscription.add(change);
      });
    return subscription;
  }

  /** null: they are not all remembered. */
  #after(lastId: string, concerns: (change: Change) => boolean): Change[] | null {
    const memories = [this.#changes, this.#calls];
    const mine = memories
      .flatMap((memory) => memory.entries.filter(({ change }) => concerns(change)))
      .toSorted((left, right) => left.at - right.at);
    const index = mine.findLastIndex(({ change }) => change.id === lastId);
    const last = mine[index];
    if (last === undefined || memories.some((memory) => memory.hasEvicted(last.at, concerns))) return null;
    return mine.slice(index + 1).map(({ change }) => change);
  }
}

/** A change, and the how manieth it was. */
interface Published {
  readonly at: number;
  readonly change: Change;
}

/** The last of what was told, and of each space the last that was forgotten. */
class History {
  entries: Published[] = [];
  /** By space, the one that forgot last at the end. */
  readonly #evicted = new Map<string, Published>();
  /** The last that was forgotten of spaces that are not among them. */
  #evictedElsewhere = -1;

  add(told: Published): void {
    this.entries.push(told);
    if (this.entries.length <= 2 * historySize) return;
    const gone = this.entries.slice(0, -historySize);
    this.entries = this.entries.slice(-historySize);
    for (const each of gone) {
      const space = `${each.change.database} ${each.change.tenant ?? ''}`;
      this.#evicted.delete(space);
      this.#evicted.set(space, each);
    }
    for (const [space, { at }] of this.#evicted) {
      if (this.#evicted.size <= maxTenants) break;
      this.#evicted.delete(space);
      this.#evictedElsewhere = Math.max(this.#evictedElsewhere, at);
    }
  }

  /** True where one after `at` that concerns the reader is, or may be, forgotten. */
  hasEvicted(at: number, concerns: (change: Change) => boolean): boolean {
    if (this.#evictedElsewhere > at) return true;
    return [...this.#evicted.values()].some((each) => each.at > at && concerns(each.change));
  }
}

/** One subscriber's changes, from the feed to whoever reads them. */
class Subscription implements AsyncIterableIterator<Change> {
  onEnd: () => void = () => {};
  #queue: Change[];
  #wake: (() => void) | null = null;
  #isOver = false;
  readonly #reset: () => Change;
  readonly #signal: AbortSignal;
  readonly #onAbort = (): void => this.#end();

  constructor(waiting: Change[], reset: () => Change, signal: AbortSignal) {
    this.#queue = waiting;
    this.#reset = reset;
    this.#signal = signal;
    if (signal.aborted) this.#end();
    else signal.addEventListener('abort', this.#onAbort);
  }

  add(change: Change): void {
    if (this.#queue.length >= maxQueued) this.#queue = [this.#reset()];
    else this.#queue.push(change);
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Change>> {
    while (!this.#isOver) {
      const change = this.#queue.shift();
      if (change !== undefined) return { done: false, value: change };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Change>> {
    this.#end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    this.#isOver = true;
    this.#queue = [];
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.onEnd();
    this.#wake?.();
  }
}

/**
 * One change, as subscribers and GET /events get it. `id` is `generation.index`: who resumes names it, and gets what came
 * after it. What a change withdrew is told when it is known, so changes of a later write can come before.
 */
export interface Change {
  readonly id: string;
  readonly kind: ChangeKind;
  readonly database: string;
  /** null: concerns every tenant of the database (rules, scopes of rules). */
  readonly tenant: string | null;
  readonly data: ChangeData;
}
