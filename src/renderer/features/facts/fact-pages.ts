/**
 * The facts behind a grid, page by page from the service, however many there are.
 *
 * A page is asked for by its number, so that any row is one request away. The pages of one state hang together by a
 * cursor of the first answer: saliences are those of then, or facts would change places between two pages. Pages far
 * from what is looked at are not kept. While one drags past pages few of them are asked for, and what nobody waits for
 * any more is aborted. After a change the shown pages are fetched again; until then the old rows stay. Subscribers are
 * told of every difference.
 */
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { FactList, StoredFact } from '../../../engine/contract/facts.ts';
import { useLive } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import type { FactsSearch } from './facts-search.ts';

export interface PageRequest {
  /** So many facts come before it. */
  readonly offset: number;
  readonly limit: number;
  /** What another page of the same list gave; null: the list as it is now. */
  readonly cursor: string | null;
}

export type LoadPage = (request: PageRequest, signal: AbortSignal) => Promise<FactList>;

interface Page {
  readonly rows: readonly StoredFact[];
  readonly epoch: number;
}

interface FactPagesState {
  /** null before the first answer. */
  readonly total: number | null;
  /** What the filters probably meant, where nothing is left. */
  readonly hints: readonly string[];
  readonly error: unknown;
}

interface FactPagesOptions {
  readonly pageSize?: number;
  /** What has to pass after a jump before the service hears of the next. */
  readonly rest?: () => Promise<void>;
}

const restMs = 100;

function shortRest(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, restMs);
  });
}

const mostPages = 40;
/** What the service gives at most at a time. */
const mostRowsAtOnce = 1000;

/** Numbers of pages, the last exclusive. */
interface PageSpan {
  readonly first: number;
  readonly last: number;
}

function countOf({ first, last }: PageSpan): number {
  return last - first;
}

export class FactPages {
  readonly #load: LoadPage;
  readonly #pageSize: number;
  readonly #rest: () => Promise<void>;
  readonly #closing = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #pages = new Map<number, Page>();
  readonly #underWay = new Map<number, AbortController>();
  #state: FactPagesState = { total: null, hints: [], error: null };
  #wanted = { first: 0, last: 1 };
  #epoch = 0;
  /** A cursor of this epoch. */
  #cursor: string | null = null;
  #isResting = false;

  constructor(load: LoadPage, { pageSize = 200, rest = shortRest }: FactPagesOptions = {}) {
    this.#load = load;
    this.#pageSize = pageSize;
    this.#rest = rest;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** A new object after every difference, of rows too. */
  readonly state = (): FactPagesState => this.#state;

  /** True while something is fetched. */
  get isLoading(): boolean {
    return this.#underWay.size > 0;
  }

  rowAt(index: number): StoredFact | undefined {
    return this.#pages.get(Math.floor(index / this.#pageSize))?.rows[index % this.#pageSize];
  }

  /** Says which rows are looked at, the last exclusive. */
  need(first: number, last: number): void {
    this.#wanted = { first, last };
    this.#fetchWanted();
  }

  /**
   * The rows from one to another, the last exclusive, in the order of the list; those that are not at hand are fetched,
   * and not kept. Errors: those of `load`.
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
          : (await this.#ask(offset, Math.min(mostRowsAtOnce, end - offset), this.#closing.signal)).facts;
      // It ended earlier than was known.
      if (found.length === 0) break;
      rows.push(...found.slice(0, end - offset));
    }
    return rows;
  }

  /** Fetches what is looked at again, for it may have changed; also after a failure. */
  refresh(): void {
    this.#epoch += 1;
    this.#cursor = null;
    for (const aborter of this.#underWay.values()) aborter.abort();
    this.#underWay.clear();
    if (this.#state.error !== null) this.#change({ error: null });
    this.#fetchWanted();
  }

  close(): void {
    this.#closing.abort();
    for (const aborter of this.#underWay.values()) aborter.abort();
    this.#listeners.clear();
  }

  #change(part: Partial<FactPagesState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }

  #ask(offset: number, limit: number, signal: AbortSignal): Promise<FactList> {
    return this.#load({ offset, limit, cursor: this.#cursor }, signal);
  }

  /** The pages of what is looked at, and of so many rows more on either side; at least one, which tells how many there are. */
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
    // What is seen comes first; what comes next when one scrolls on, when all of that is there.
    const next = missing.length > 0 ? missing : this.#missingOf(around);
    if (next.every((page) => this.#underWay.has(page))) return;
    // Where nothing at all is there to be seen, one may be on the way through to elsewhere.
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
    void this.#rest().then(() => {
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
      this.#keep(page, list.facts);
      this.#change({ total: list.total, hints: list.hints ?? [] });
    } catch (error) {
      if (aborter.signal.aborted) return;
      this.#underWay.delete(page);
      this.#change({ error });
    }
    // There may be fewer rows than there were, or it is known only now how many.
    this.#fetchWanted();
  }

  #keep(page: number, rows: readonly StoredFact[]): void {
    this.#pages.set(page, { rows, epoch: this.#epoch });
    if (this.#pages.size <= mostPages) return;
    const [furthest] = [...this.#pages.keys()].sort((a, b) => Math.abs(b - page) - Math.abs(a - page));
    if (furthest !== undefined) this.#pages.delete(furthest);
  }
}

// HEAD use-fact-pages.ts: The pages of facts for what the address says, in step with the knowledge base.

export function useFactPages(search: FactsSearch): { pages: FactPages; state: FactPagesState } {
  const {
    call,
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
    pages.refresh();
  }, [version, pages]);
  const state = useSyncExternalStore(pages.subscribe, pages.state);
  return { pages, state };
}
