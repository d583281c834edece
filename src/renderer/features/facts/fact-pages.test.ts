import { describe, expect, test } from 'vitest';
import type { FactList, StoredFact } from '../../../engine/contract/facts.ts';
import { FactPages, type LoadPage } from './fact-pages.ts';

function fact(index: number): StoredFact {
  return {
    id: String(index),
    predicate: 'p',
    args: [String(index)],
    truthVal: true,
    scope: null,
    validFrom: null,
    validUntil: null,
    metadata: {},
    createdAt: 0,
    updatedAt: 0,
    importId: null,
    salience: 0.5,
    derived: false,
    provenance: null,
  };
}

/** A service that holds `rows` in order, with cursors that name the last row of a page. */
function service(rows: number[]) {
  const requests: { cursor: string | null; isReversed: boolean }[] = [];
  const load: LoadPage = (cursor, isReversed, limit) => {
    requests.push({ cursor, isReversed });
    const ordered = isReversed ? [...rows].reverse() : rows;
    const start =
      cursor === null
        ? 0
        : ordered.findIndex((row) => (isReversed ? row < Number(cursor) : row > Number(cursor)));
    const page = start < 0 ? [] : ordered.slice(start, start + limit);
    const isLast = start < 0 || start + limit >= ordered.length;
    const list: FactList = {
      facts: page.map(fact),
      total: rows.length,
      nextCursor: isLast ? null : String(page.at(-1)),
    };
    return Promise.resolve(list);
  };
  return { load, requests, rows };
}

async function settled(pages: FactPages): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (pages.state().isLoading);
}

const count = (length: number) => Array.from({ length }, (_, index) => index);

describe('the pages behind the fact grid', () => {
  test('the first rows take one request, and tell the total', async () => {
    const { load, requests } = service(count(1_000));
    const pages = new FactPages(load, 10);
    pages.need(0, 5);
    await settled(pages);
    expect(pages.state().total).toBe(1_000);
    expect(pages.rowAt(3)?.id).toBe('3');
    expect(pages.rowAt(10)).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  test('the last row is one request away', async () => {
    const { load, requests } = service(count(1_000));
    const pages = new FactPages(load, 10);
    pages.need(0, 5);
    await settled(pages);
    pages.need(995, 1_000);
    await settled(pages);
    expect(pages.rowAt(999)?.id).toBe('999');
    expect(pages.rowAt(995)?.id).toBe('995');
    expect(requests.at(-1)).toEqual({ cursor: null, isReversed: true });
    expect(requests).toHaveLength(2);
  });

  test('any row is reached from the nearer end', async () => {
    const { load, requests } = service(count(100));
    const pages = new FactPages(load, 10);
    pages.need(0, 5);
    await settled(pages);
    pages.need(70, 75);
    await settled(pages);
    expect(pages.rowAt(72)?.id).toBe('72');
    expect(requests.slice(1).every((request) => request.isReversed)).toBe(true);
  });

  test('every row of a long list is shown once, in order', async () => {
    const { load } = service(count(95));
    const pages = new FactPages(load, 10);
    for (let first = 0; first < 95; first += 7) {
      pages.need(first, first + 7);
      await settled(pages);
      for (let row = first; row < Math.min(95, first + 7); row += 1)
        expect(pages.rowAt(row)?.id).toBe(String(row));
    }
  });

  test('after a change what is looked at is fetched again', async () => {
    const { load, rows } = service(count(50));
    const pages = new FactPages(load, 10);
    pages.need(0, 20);
    await settled(pages);
    rows.splice(0, 1);
    pages.refresh();
    expect(pages.rowAt(0)?.id).toBe('0');
    await settled(pages);
    expect(pages.state().total).toBe(49);
    expect(count(20).map((row) => pages.rowAt(row)?.id)).toEqual(count(20).map((row) => String(row + 1)));
  });

  test('a list that became empty is empty', async () => {
    const { load, rows } = service(count(3));
    const pages = new FactPages(load, 10);
    pages.need(0, 3);
    await settled(pages);
    rows.length = 0;
    pages.refresh();
    await settled(pages);
    expect(pages.state().total).toBe(0);
    expect(pages.rowAt(0)).toBeUndefined();
  });

  test('a failure stops the loading until it is tried again', async () => {
    let fails = true;
    const { load } = service(count(5));
    const pages = new FactPages((...rest) => (fails ? Promise.reject(new Error('away')) : load(...rest)), 10);
    pages.need(0, 5);
    await settled(pages);
    expect(pages.state().error).toBeInstanceOf(Error);
    fails = false;
    pages.refresh();
    await settled(pages);
    expect(pages.state().error).toBeNull();
    expect(pages.rowAt(0)?.id).toBe('0');
  });
});
