import { describe, expect, test } from 'vitest';
import type { FactList, StoredFact } from '../../../engine/contract/facts.ts';
import { errorOfSilence } from '../../api/problem.ts';
import { FactPages, type LoadPage, type PageRequest } from './fact-pages.ts';

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

/** A service with `rows` in order, and a cursor for each of their states. */
function service(rows: number[]) {
  const requests: PageRequest[] = [];
  const signals: AbortSignal[] = [];
  let states = 0;
  const load: LoadPage = (request, signal) => {
    requests.push(request);
    signals.push(signal);
    const { offset, limit } = request;
    const list: FactList = {
      facts: rows.slice(offset, offset + limit).map(fact),
      total: rows.length,
      nextCursor: offset + limit < rows.length ? (request.cursor ?? `state ${(states += 1)}`) : null,
    };
    return Promise.resolve(list);
  };
  return { load, requests, signals, rows };
}

function pagesOf(load: LoadPage): FactPages {
  return new FactPages(load, { pageSize: 10, pause: () => Promise.resolve() });
}

async function settled(pages: FactPages): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (pages.isLoading);
}

const count = (length: number) => Array.from({ length }, (_, index) => index);

describe('the pages behind the fact grid', () => {
  test('load the first rows and the total in one request', async () => {
    const { load, requests } = service(count(1_000));
    const pages = pagesOf(load);
    pages.need(0, 5);
    await settled(pages);
    expect(pages.state().total).toBe(1_000);
    expect(pages.rowAt(3)?.id).toBe('3');
    expect(pages.rowAt(10)).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  test('load any row in one request, from the list of the first response', async () => {
    const { load, requests } = service(count(1_000));
    const pages = pagesOf(load);
    pages.need(0, 5);
    await settled(pages);
    for (const row of [999, 505]) {
      pages.need(row, row + 1);
      await settled(pages);
      expect(pages.rowAt(row)?.id).toBe(String(row));
    }
    expect(requests.filter(({ offset }) => [0, 990, 500].includes(offset))).toEqual([
      { offset: 0, limit: 10, cursor: null },
      { offset: 990, limit: 10, cursor: 'state 1' },
      { offset: 500, limit: 10, cursor: 'state 1' },
    ]);
  });

  test('skip pages that are scrolled past', async () => {
    const { load, requests } = service(count(10_000));
    const rests: (() => void)[] = [];
    const pause = () => new Promise<void>((resolve) => rests.push(resolve));
    const pages = new FactPages(load, { pageSize: 10, pause });
    pages.need(0, 5);
    await settled(pages);
    for (let first = 100; first <= 9_000; first += 100) pages.need(first, first + 5);
    await settled(pages);
    const offsets = () => requests.map(({ offset }) => offset);
    expect(offsets()).toEqual([0, 100]);
    rests.shift()?.();
    await settled(pages);
    expect(offsets().slice(2)).toEqual([9_000, 8_990]);
    expect(pages.rowAt(9_004)?.id).toBe('9004');
    // Scrolling on from there is not a jump.
    pages.need(9_006, 9_012);
    await settled(pages);
    expect(offsets().slice(4)).toEqual([9_010]);
  });

  test('abort requests that are no longer needed', async () => {
    const { load, signals } = service(count(10_000));
    let answers = true;
    const pages = pagesOf((request, signal) => {
      const answer = load(request, signal);
      return answers ? answer : new Promise(() => undefined);
    });
    const aborted = () => signals.map((signal) => signal.aborted);
    pages.need(0, 5);
    await settled(pages);
    answers = false;
    pages.need(500, 505);
    await Promise.resolve();
    expect(aborted()).toEqual([false, false]);
    await new Promise((resolve) => setImmediate(resolve));
    pages.need(700, 705);
    expect(aborted()).toEqual([false, true, false]);
    await new Promise((resolve) => setImmediate(resolve));
    pages.refresh();
    expect(aborted()).toEqual([false, true, true, false]);
    pages.close();
    expect(aborted()).toEqual([false, true, true, true]);
  });

  test('load the next rows before they are visible', async () => {
    const { load, requests } = service(count(1_000));
    const pages = pagesOf(load);
    pages.need(0, 5);
    await settled(pages);
    pages.need(4, 9);
    await settled(pages);
    expect(requests.map(({ offset }) => offset)).toEqual([0, 10]);
    expect(pages.rowAt(12)?.id).toBe('12');
  });

  test('come from a new list after a change', async () => {
    const { load, requests } = service(count(1_000));
    const pages = pagesOf(load);
    pages.need(0, 5);
    await settled(pages);
    pages.refresh();
    await settled(pages);
    pages.need(500, 505);
    await settled(pages);
    expect(requests.slice(0, 3).map(({ cursor }) => cursor)).toEqual([null, null, 'state 2']);
  });

  test('end with a list that ends before the visible rows', async () => {
    const { load, rows } = service(count(100));
    const pages = pagesOf(load);
    pages.need(0, 5);
    await settled(pages);
    pages.need(95, 100);
    await settled(pages);
    rows.length = 42;
    pages.refresh();
    await settled(pages);
    expect(pages.state().total).toBe(42);
    expect(pages.rowAt(41)?.id).toBe('41');
  });

  test('show every row of a long list once, in order', async () => {
    const { load } = service(count(95));
    const pages = pagesOf(load);
    for (let first = 0; first < 95; first += 7) {
      pages.need(first, first + 7);
      await settled(pages);
      for (let row = first; row < Math.min(95, first + 7); row += 1)
        expect(pages.rowAt(row)?.id).toBe(String(row));
    }
  });

  test('reload the visible rows after a change', async () => {
    const { load, rows } = service(count(50));
    const pages = pagesOf(load);
    pages.need(0, 20);
    await settled(pages);
    rows.splice(0, 1);
    pages.refresh();
    expect(pages.rowAt(0)?.id).toBe('0');
    await settled(pages);
    expect(pages.state().total).toBe(49);
    expect(count(20).map((row) => pages.rowAt(row)?.id)).toEqual(count(20).map((row) => String(row + 1)));
  });

  test('are empty when the list became empty', async () => {
    const { load, rows } = service(count(3));
    const pages = pagesOf(load);
    pages.need(0, 3);
    await settled(pages);
    rows.length = 0;
    pages.refresh();
    await settled(pages);
    expect(pages.state().total).toBe(0);
    expect(pages.rowAt(0)).toBeUndefined();
  });

  test('stop loading after a failure until a retry', async () => {
    let fails = true;
    const { load } = service(count(5));
    const pages = pagesOf((...rest) => (fails ? Promise.reject(new Error('away')) : load(...rest)));
    pages.need(0, 5);
    await settled(pages);
    expect(pages.state().error).toBeInstanceOf(Error);
    fails = false;
    pages.refresh();
    await settled(pages);
    expect(pages.state().error).toBeNull();
    expect(pages.rowAt(0)?.id).toBe('0');
  });

  test('keep their rows when they cannot be loaded again', async () => {
    let fails = false;
    const { load } = service(count(5));
    const pages = pagesOf((...rest) => (fails ? Promise.reject(new Error('away')) : load(...rest)));
    pages.need(0, 5);
    await settled(pages);
    fails = true;
    pages.refresh();
    await settled(pages);
    expect(pages.state()).toMatchObject({ total: 5, error: new Error('away') });
    expect(pages.rowAt(4)?.id).toBe('4');
  });

  test('try a request again that failed in passing, twice, unless they are closed', async () => {
    const away = errorOfSilence('away', 'r-1');
    let [failures, requests] = [2, 0];
    const { load } = service(count(5));
    const failing: LoadPage = (...rest) => {
      requests += 1;
      return (failures -= 1) >= 0 ? Promise.reject(away) : load(...rest);
    };
    const pages = pagesOf(failing);
    pages.need(0, 5);
    await settled(pages);
    expect(pages.state()).toMatchObject({ total: 5, error: null });
    failures = 3;
    pages.refresh();
    await settled(pages);
    expect(pages.state().error).toBe(away);
    expect(requests).toBe(6);

    let go: () => void = () => undefined;
    const pause = () => new Promise<void>((resolve) => (go = resolve));
    const closed = new FactPages(failing, { pause });
    [failures, requests] = [1, 0];
    closed.need(0, 5);
    await new Promise((resolve) => setImmediate(resolve));
    closed.close();
    go();
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests).toBe(1);
  });

  test('return a slice in order, cached or not, from either end', async () => {
    const { load } = service(count(1_000));
    const pages = pagesOf(load);
    pages.need(0, 5);
    await settled(pages);
    const ids = async (first: number, last: number) =>
      (await pages.slice(first, last)).map(({ id }) => Number(id));
    expect(await ids(3, 27)).toEqual(count(27).slice(3));
    expect(await ids(985, 1_200)).toEqual(count(1_000).slice(985));
    expect(await ids(495, 515)).toEqual(count(515).slice(495));
    expect(await ids(5, 5)).toEqual([]);
  });

  test('keep the visible rows when a slice is read', async () => {
    const { load, requests } = service(count(1_000));
    const pages = pagesOf(load);
    pages.need(0, 5);
    await settled(pages);
    await pages.slice(0, 900);
    const before = requests.length;
    pages.need(0, 5);
    await settled(pages);
    expect(requests.length).toBe(before);
    expect(pages.rowAt(4)?.id).toBe('4');
  });
});
