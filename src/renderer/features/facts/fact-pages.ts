/**
 * The facts behind a grid, loaded page by page, however many there are.
 *
 * A page is requested by its offset, so any row is one request away. All pages of one state share the cursor
 * of the first response: saliences are frozen at that moment, else facts would move between pages. Pages far
 * from the visible rows are evicted. Fast scrolling requests few pages, and requests no longer needed are
 * aborted. After a change the visible pages are reloaded; the old rows stay until then, also if that fails. Passing
 * failures are retried. Subscribers hear of every change.
 */
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { FactList, StoredFact } from '../../../engine/contract/facts.ts';
import { useLive } from '../../api/live.ts';
import { isPassing, passingRetries } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import type { FactsSearch } from './facts-search.ts';

/** A page to load. */
export interface PageRequest {
  /** Number of facts before the page. */
  readonly offset: number;
  readonly limit: number;
  /** The cursor of another page of the same list; null: the current list. */
  readonly cursor: string | null;
}

/** Loads a page; rejects when the signal is aborted. */
export type LoadPage = (request: PageRequest, signal: AbortSignal) => Promise<FactList>;

interface Page {
  readonly rows: readonly StoredFact[];
  readonly epoch: number;
}

interface FactPagesState {
  /** null before the first response. */
  readonly total: number | null;
  /** Suggested filters, if nothing matches. */
  readonly hints: readonly string[];
  /** Of the last request; nothing is loaded before `refresh`. null: none. */
  readonly error: unknown;
}

interface FactPagesOptions {
  readonly pageSize?: number;
  /** Waits so many milliseconds. */
  readonly pause?: (ms: number) => Promise<void>;
}

/** The delay after a jump before the next request. */
const restMs = 100;

function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

const maxPages = 40;
/** Maximum page size of the service. */
const maxRowsPerRequest = 1000;

/** Page numbers, the last exclusive. */
interface PageSpan {
  readonly first: number;
  readonly last: number;
}

function countOf({ first, last }: PageSpan): number {
  return last - first;
}

/** The pages of one list of facts. */
export class FactPages {
  readonly #load: LoadPage;
  readonly #pageSize: number;
  readonly #pause: (ms: number) => Promise<void>;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #pages = new Map<number, Page>();
  readonly #underWay = new Map<number, AbortController>();
  #state: FactPagesState = { total: null, hints: [], error: null };
  #wanted = { first: 0, last: 1 };
  #epoch = 0;
  /** The cursor of the current epoch. */
  #cursor: string | null = null;
  #isResting = false;

  constructor(load: LoadPage, { pageSize = 100, pause = pauseFor }: FactPagesOptions = {}) {
    this.#load = load;
    this.#pageSize = pageSize;
    this.#pause = pause;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A new object after every change, including changes of rows. */
  readonly state = (): FactPagesState => this.#state;

  /** True while any page is loading. */
  get isLoading(): boolean {
    return this.#underWay.size > 0;
  }

  /** The row at an index; undefined if not loaded. */
  rowAt(index: number): StoredFact | undefined {
    return this.#pages.get(Math.floor(index / this.#pageSize))?.rows[index % this.#pageSize];
  }

  /** Declares which rows are visible, the last exclusive. */
  need(first: number, last: number): void {
    this.#wanted = { first, last };
    this.#fetchWanted();
  }

  /**
   * The rows of a range, the last exclusive, in list order; missing rows are fetched but not cached. Errors:
   * those of `load`.
   */
  async slice(first: number, last: number): Promise<StoredFact[]> {
    const end = Math.min(last, this.#state.total ?? 0);
    const rows: StoredFact[] = [];
    while (first + rows.length < end) {
      const offset = first + rows.length;
      const known = this.#pages.get(Math.floor(offset / this.#pageSize));
      const found =
        known?.epoch === this.#epoch
          ? known.rows.slice(offset % this.#pageSize)
          : (await this.#ask(offset, Math.min(maxRowsPerRequest, end - offset), this.#closing.signal)).facts;
      // The list is shorter than was known.
      if (found.length === 0) break;
      rows.push(...found.slice(0, end - offset));
    }
    return rows;
  }

  /** Reloads the visible pages, which may have changed; also retries after a failure. */
  refresh(): void {
    this.#epoch += 1;
    this.#cursor = null;
    for (const aborter of this.#underWay.values()) aborter.abort();
    this.#underWay.clear();
    if (this.#state.error !== null) this.#change({ error: null });
    this.#fetchWanted();
  }

  /** Aborts all requests and drops all subscribers. */
  close(): void {
    this.#closing.abort();
    for (const aborter of this.#underWay.values()) aborter.abort();
    this.#listeners.clear();
  }

  #change(part: Partial<FactPagesState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }

  async #ask(offset: number, limit: number, signal: AbortSignal): Promise<FactList> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#load({ offset, limit, cursor: this.#cursor }, signal);
      } catch (error) {
        if (signal.aborted || failures === passingRetries.most || !isPassing(error)) throw error;
      }
      await this.#pause(passingRetries.afterMs);
      signal.throwIfAborted();
    }
  }

  /**
   * The pages of the visible rows and of `more` rows on either side; at least one, which returns the total.
   */
  #pagesAround(more: number): PageSpan {
    const { total } = this.#state;
    if (total === null) return { first: 0, last: 1 };
    const size = this.#pageSize;
    const pages = Math.max(1, Math.ceil(total / size));
    const first = Math.max(0, Math.min(Math.floor((this.#wanted.first - more) / size), pages - 1));
    return {
      first,
      last: Math.max(first + 1, Math.min(Math.ceil((this.#wanted.last + more) / size), pages)),
    };
  }

  #missingOf({ first, last }: PageSpan): number[] {
    const missing: number[] = [];
    for (let page = first; page < last; page += 1)
      if (this.#pages.get(page)?.epoch !== this.#epoch) missing.push(page);
    return missing;
  }

  #fetchWanted(): void {
    if (this.#state.error !== null || this.#closing.signal.aborted) return;
    const wanted = this.#pagesAround(0);
    const around = this.#pagesAround(this.#pageSize / 2);
    const missing = this.#missingOf(wanted);
    // Visible pages first; once they are loaded, those that scrolling would reach next.
    const next = missing.length > 0 ? missing : this.#missingOf(around);
    if (next.every((page) => this.#underWay.has(page))) return;
    // If no visible page is loaded, the user may be scrolling past.
    const isJump = missing.every((page) => !this.#pages.has(page)) && missing.length === countOf(wanted);
    if (isJump && this.#isResting) return;
    if (isJump && this.#state.total !== null) this.#restFromJump();
    for (const [page, aborter] of this.#underWay)
      if (page < around.first || page >= around.last) {
        aborter.abort();
        this.#underWay.delete(page);
      }
    for (const page of next) if (!this.#underWay.has(page)) void this.#fetch(page);
  }

  #restFromJump(): void {
    this.#isResting = true;
    void this.#pause(restMs).then(() => {
      this.#isResting = false;
      this.#fetchWanted();
    });
  }

  async #fetch(page: number): Promise<void> {
    const aborter = new AbortController();
    this.#underWay.set(page, aborter);
    try {
      const list = await this.#ask(page * this.#pageSize, this.#pageSize, aborter.signal);
      if (aborter.signal.aborted) return;
      this.#underWay.delete(page);
      this.#cursor ??= list.nextCursor;
      this.#cache(page, list.facts);
      this.#change({ total: list.total, hints: list.hints ?? [] });
    } catch (error) {
      if (aborter.signal.aborted) return;
      this.#underWay.delete(page);
      this.#change({ error });
    }
    // The total may have shrunk, or may only be known now.
    this.#fetchWanted();
  }

  #cache(page: number, rows: readonly StoredFact[]): void {
    this.#pages.set(page, { rows, epoch: this.#epoch });
    if (this.#pages.size <= maxPages) return;
    const [furthest] = [...this.#pages.keys()].sort((a, b) => Math.abs(b - page) - Math.abs(a - page));
    if (furthest !== undefined) this.#pages.delete(furthest);
  }
}

/** The pages of the facts selected by the address, reloaded after every change of the knowledge. */
export function useFactPages(search: FactsSearch): { pages: FactPages; state: FactPagesState } {
  const {
    call,
    moment,
    space: { scope },
  } = useSession();
  const { predicate, q, truth, derived, sort = 'predicate', order = 'asc' } = search;
  const pages = useMemo(() => {
    const { scope: name, unscoped } = scopeFieldsOf(scope);
    return new FactPages(({ offset, limit, cursor }, signal) =>
      call(
        'listFacts',
        {
          query: {
            predicate,
            q,
            truthVal: truth,
            derived,
            scope: name,
            unscoped: unscoped === true ? 'true' : undefined,
            sort,
            order,
            limit: String(limit),
            offset: String(offset),
            cursor,
          },
        },
        { signal },
      ),
    );
  }, [call, scope, predicate, q, truth, derived, sort, order]);

  useEffect(() => () => pages.close(), [pages]);
  const version = useLive((live) => live.versions.facts);
  const seen = useRef(version);
  useEffect(() => {
    if (seen.current === version) return;
    seen.current = version;
    // The past never changes.
    if (moment === null) pages.refresh();
  }, [version, pages, moment]);
  const state = useSyncExternalStore(pages.subscribe, pages.state);
  return { pages, state };
}
