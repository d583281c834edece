import { expect, test } from 'vitest';
import { openSession, refusal, type Session } from '../testing/engine-fixtures.ts';
import { type ThreadsInProcess, threadsInProcess } from '../testing/threads-in-process.ts';
import { maxPiecesUnderWay } from './messages.ts';

/** Answers that a thread writes while they are sent: exports. */

const count = 1200;

/** A thread that is there, with facts of which an export takes more pieces than may be under way. */
async function open(): Promise<{ session: Session; threads: ThreadsInProcess }> {
  const threads = threadsInProcess();
  const session = await openSession({ threadHost: threads });
  await session.teach('known(?x) :- item(?x)');
  await session.tellAll(Array.from({ length: count }, (_, at) => `item("${'x'.repeat(1000)}${at}")`));
  return { session, threads };
}

/** Waits without timers for what needs some turns. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Exports everything; `taken` is waited for after each part. */
async function exportOf(
  session: Session,
  taken: (parts: readonly string[]) => Promise<void> = async () => {},
): Promise<string[]> {
  const parts: string[] = [];
  const choice = { scope: null, unscoped: false, predicate: null, rules: true };
  await session.engine.export(session.caller, { choice, format: 'ndjson' }, async (part) => {
    parts.push(typeof part === 'string' ? part : new TextDecoder().decode(part));
    await taken(parts);
  });
  return parts;
}

const pieces = (threads: ThreadsInProcess): number =>
  threads.heard.filter(({ kind }) => kind === 'piece').length;

test('a slow reader holds back the thread that writes for it, and nobody else', async () => {
  const { session, threads } = await open();
  let goOn = (): void => {};
  const exported = exportOf(session, async (parts) => {
    if (parts.length === 1) await new Promise<void>((resolve) => (goOn = resolve));
  });
  await until(() => pieces(threads) === maxPiecesUnderWay);
  await turns();
  expect(pieces(threads)).toBe(maxPiecesUnderWay);
  // What is written meanwhile is not in it, and a question sees it.
  await session.tell('item(later)');
  expect((await session.ask('known(?x)', { limit: 5000 })).count).toBe(count + 1);
  goOn();
  const text = (await exported).join('');
  expect(pieces(threads)).toBeGreaterThan(2 * maxPiecesUnderWay);
  expect(text).not.toContain('later');
  threads.afterMs = Number.POSITIVE_INFINITY;
  await session.forget('item(later)');
  expect((await exportOf(session)).join('')).toBe(text);
});

test('an export whose thread ends before the first piece begins again unnoticed', async () => {
  const { session, threads } = await open();
  let isKilled = false;
  threads.filter = (message) => {
    if (message.kind === 'ask' && !isKilled) {
      isKilled = true;
      threads.kill();
      return false;
    }
    return true;
  };
  const text = (await exportOf(session)).join('');
  expect(isKilled).toBe(true);
  expect(threads.started).toBe(2);
  threads.afterMs = Number.POSITIVE_INFINITY;
  expect((await exportOf(session)).join('')).toBe(text);
});

test.each([1, 2, 5, 11])(
  'an export whose thread ends at piece %i goes on here, whatever was written since',
  async (last) => {
    const { session, threads } = await open();
    threads.afterMs = Number.POSITIVE_INFINITY;
    const whole = (await exportOf(session)).join('');
    threads.afterMs = 0;
    let sent = 0;
    const parts = await exportOf(session, async () => {
      if (++sent !== last) return;
      threads.kill();
      await session.tell('item(later)');
      await session.forget(`item("${'x'.repeat(1000)}1199")`);
      await session.teach('other(?x) :- item(?x)');
      await turns();
    });
    expect(parts.join('')).toBe(whole);
    expect(sent).toBeGreaterThan(last);
    expect(threads.started).toBe(1);
  },
);

test('an export is complete if its thread ends once all of it came', async () => {
  const { session, threads } = await open();
  let isKilled = false;
  const text = (
    await exportOf(session, async () => {
      await turns();
      if (isKilled || !threads.heard.some(({ kind }) => kind === 'answer')) return;
      isKilled = true;
      threads.kill();
    })
  ).join('');
  expect(isKilled).toBe(true);
  expect(text.split('\n')).toHaveLength(count + 2);
});

test('an export whose reader has gone is cancelled on the thread', async () => {
  const { session, threads } = await open();
  const gone = new AbortController();
  const waiting = exportOf(session.as({ signal: gone.signal }), async (parts) => {
    if (parts.length === 1) {
      await until(() => pieces(threads) === maxPiecesUnderWay);
      gone.abort();
      await turns();
      // A connection says so too, later.
      throw new Error('the connection broke');
    }
  });
  await expect(waiting).rejects.toThrow('the client has gone');
  await turns();
  expect(threads.posted.filter(({ kind }) => kind === 'cancel')).toHaveLength(1);
  await until(() => threads.heard.at(-1)?.kind === 'cancelled');
  const failing = exportOf(session, async () => {
    throw new Error('the connection broke');
  });
  await expect(failing).rejects.toThrow('the connection broke');
  await until(() => threads.heard.filter(({ kind }) => kind === 'cancelled').length === 2);
  expect(session.engine.figures().reasoning.questions).toBe(0);
  expect(threads.started).toBe(1);
});

test('a copy that was made for an export alone is dropped after it; one that questions use stays', async () => {
  const { session } = await open();
  const copies = (): number => session.engine.figures().reasoning.copies;
  await exportOf(session, async (parts) => {
    if (parts.length === 1) expect(copies()).toBe(1);
  });
  expect(copies()).toBe(0);
  await session.ask('known(?x)');
  await exportOf(session);
  expect(copies()).toBe(1);
});

test('nothing is evicted for an export: without room for a copy it is written here', async () => {
  const threads = threadsInProcess();
  const session = await openSession({ threadHost: threads, memoryBudgetBytes: 4096 });
  await session.tellAll(Array.from({ length: 3000 }, (_, at) => `item(i${at})`));
  expect((await exportOf(session)).join('').split('\n')).toHaveLength(3001);
  expect(pieces(threads)).toBe(0);
});

test('few facts are exported here', async () => {
  const { session, threads } = await open();
  threads.afterMs = 60_000;
  await exportOf(session);
  expect(threads.started).toBe(0);
});

test('an export that the end of the service meets is refused', async () => {
  const { session } = await open();
  const exported = exportOf(session, async (parts) => {
    if (parts.length === 1) void session.engine.close();
  });
  expect((await refusal(exported)).code).toBe('NotReady');
  expect((await refusal(exportOf(session))).code).toBe('NotReady');
});
