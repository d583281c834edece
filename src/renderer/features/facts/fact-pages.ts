/**
 * The facts behind a grid, page by page from the service, however many there are.
 *
 * Pages hang together by cursors, so a page can be had once the one before it is known. Two chains are kept: one
 * from the first row, one from the last in reversed order, so that both ends are one request away and the middle
 * is reached from the nearer end. Cursors are kept, pages far from what is looked at are not. After a change the
 * shown pages are fetched again; until then the old rows stay. Subscribers are told of every difference.
 */
import type { FactList, StoredFact } from '../../../engine/contract/facts.ts';

/** Loads the page after `cursor` (null: the first), in the wanted order or its reverse. */
export type LoadPage = (
  cursor: string | null,
  isReversed: boolean,
  limit: number,
  signal: AbortSignal,
) => Promise<FactList>;

interface Page {
  rows: StoredFact[];
  epoch: number;
}

interface Chain {
  /** `cursors[i]` opens page i. */
  cursors: (string | null)[];
  pages: Map<number, Page>;
}

export interface FactPagesState {
  /** null before the first answer. */
  readonly total: number | null;
  readonly error: unknown;
  readonly isLoading: boolean;
}

const greatestPages = 40;

function emptyChain(): Chain {
  return { cursors: [null], pages: new Map() };
}

export class FactPages {
  readonly #load: LoadPage;
  readonly #pageSize: number;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #head = emptyChain();
  readonly #tail = emptyChain();
  #state: FactPagesState = { total: null, error: null, isLoading: false };
  #wanted = { first: 0, last: 1 };
  #epoch = 0;

  constructor(load: LoadPage, pageSize = 200) {
    this.#load = load;
    this.#pageSize = pageSize;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A new object after every difference, of rows too. */
  readonly state = (): FactPagesState => this.#state;

  rowAt(index: number): StoredFact | undefined {
    const size = this.#pageSize;
    const fromHead = this.#head.pages.get(Math.floor(index / size))?.rows[index % size];
    if (fromHead !== undefined || this.#state.total === null) return fromHead;
    const back = this.#state.total - 1 - index;
    return this.#tail.pages.get(Math.floor(back / size))?.rows[back % size];
  }

  /** Says which rows are looked at, the last exclusive. */
  need(first: number, last: number): void {
    this.#wanted = { first, last };
    void this.#pump();
  }

  /** Fetches what is looked at again, for it may have changed; also after a failure. */
  refresh(): void {
    this.#epoch += 1;
    this.#change({ error: null });
    void this.#pump();
  }

  close(): void {
    this.#closing.abort();
    this.#listeners.clear();
  }

  #change(part: Partial<FactPagesState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }

  #isFresh(chain: Chain, page: number): boolean {
    return chain.pages.get(page)?.epoch === this.#epoch;
  }

  /** The page to load next for the wanted rows, or null where all are there. */
  #nextStep(): { chain: Chain; page: number } | null {
    const { total } = this.#state;
    if (total === null) return { chain: this.#head, page: 0 };
    const size = this.#pageSize;
    const last = Math.min(this.#wanted.last, total);
    for (let row = Math.max(0, Math.min(this.#wanted.first, total - 1)); row < last; row += 1) {
      const headPage = Math.floor(row / size);
      const tailPage = Math.floor((total - 1 - row) / size);
      if (this.#isFresh(this.#head, headPage)) row = (headPage + 1) * size - 1;
      else if (!this.#isFresh(this.#tail, tailPage)) return this.#stepTowards(headPage, tailPage);
    }
    return total === 0 && !this.#isFresh(this.#head, 0) ? { chain: this.#head, page: 0 } : null;
  }

  /** The next page on the shorter way to a row; null where both chains end before it, against the total. */
  #stepTowards(headPage: number, tailPage: number): { chain: Chain; page: number } | null {
    const steps = [
      { chain: this.#head, target: headPage },
      { chain: this.#tail, target: tailPage },
    ].map(({ chain, target }) => {
      const page = Math.min(target, chain.cursors.length - 1);
      return { chain, page, distance: target - page };
    });
    // Ties go to the head, whose rows are numbered without the total.
    const [best] = steps
      .filter((step) => !this.#isFresh(step.chain, step.page))
      .sort((a, b) => a.distance - b.distance);
    return best ?? null;
  }

  async #pump(): Promise<void> {
    if (this.#state.isLoading || this.#state.error !== null || this.#closing.signal.aborted) return;
    const step = this.#nextStep();
    if (step === null) return;
    this.#change({ isLoading: true });
    const { chain, page } = step;
    const epoch = this.#epoch;
    try {
      const cursor = chain.cursors[page] ?? null;
      const list = await this.#load(cursor, chain === this.#tail, this.#pageSize, this.#closing.signal);
      this.#take(chain, page, list, epoch);
      this.#change({ isLoading: false, total: list.total });
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#change({ isLoading: false, error });
    }
    await this.#pump();
  }

  #take(chain: Chain, page: number, list: FactList, epoch: number): void {
    chain.pages.set(page, { rows: list.facts, epoch });
    if (list.nextCursor === null) chain.cursors.length = page + 1;
    else if (chain.cursors[page + 1] !== list.nextCursor) {
      chain.cursors.length = page + 1;
      chain.cursors.push(list.nextCursor);
      // What came after was cut elsewhere; it is numbered wrongly now.
      for (const later of chain.pages.keys()) if (later > page) chain.pages.delete(later);
    }
    if (chain.pages.size <= greatestPages) return;
    const furthest = [...chain.pages.keys()].sort((a, b) => Math.abs(b - page) - Math.abs(a - page))[0];
    if (furthest !== undefined) chain.pages.delete(furthest);
  }
}
