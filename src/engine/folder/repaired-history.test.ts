import { expect, test } from 'vitest';
import type { KnownAt } from '../contract/moments.ts';
import { ManualClock } from '../base/clock.ts';
import { forgetEntitySchema, historyQuerySchema } from '../contract/history.ts';
import { type MemoryBackend, memoryBackend, systemError } from '../log/backend.ts';
import { openEngineOn } from '../open-engine.ts';
import { hour, refusal, type Session, sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { pastThreads } from '../testing/threads-in-process.ts';
import { convertFolder, folderTask, verifyFolder } from './folder-tasks.ts';
import { repairFolder, type Repaired } from './repair-folder.ts';

/** What a repair leaves of the retained history: everything up to the first gap, and what comes after the repair. */

interface Opened {
  readonly session: Session;
  readonly close: () => Promise<void>;
}

const clock = new ManualClock(startTime);

async function opened(backend: MemoryBackend, options: object = {}): Promise<Opened> {
  const { engine } = await openEngineOn(backend, null, {
    clock,
    historyDays: 30,
    segmentBytes: 2000,
    snapshotIntervalMs: 2 ** 30,
    ...options,
  });
  return { session: sessionOf(engine, clock, testCaller()), close: () => engine.close() };
}

/** A copy of the files, as after a kill. */
async function copied(backend: MemoryBackend): Promise<MemoryBackend> {
  const names = await backend.list();
  return memoryBackend(new Map(names.map((name) => [name, backend.contents(name).slice()])));
}

/** Generations 1 to `count`, one an hour: each tells `p(<generation>)`; snapshots after those of `snapshots`. */
async function written(
  count: number,
  snapshots: readonly number[],
  options: object = {},
): Promise<MemoryBackend> {
  const backend = memoryBackend();
  const { session, close } = await opened(backend, options);
  for (let number = 1; number <= count; number++) {
    clock.advance(hour);
    await session.tell(`p(${number})`, { metadata: { text: 'x'.repeat(300) } });
    if (snapshots.includes(number)) await session.engine.snapshot();
  }
  const files = await copied(backend);
  await close();
  return files;
}

/** Changes a byte of the record that says this. */
async function damageAt(backend: MemoryBackend, text: string): Promise<void> {
  for (const name of (await backend.list()).filter((each) => each.endsWith('.log'))) {
    const bytes = backend.contents(name).slice();
    const at = Buffer.from(bytes).indexOf(text);
    if (at < 0) continue;
    bytes[at + 3] = (bytes[at + 3] as number) ^ 1;
    backend.put(name, bytes);
    return;
  }
  throw new Error(`no segment says ${text}`);
}

async function repaired(backend: MemoryBackend, key: string | null = null): Promise<Repaired> {
  const task = { ...folderTask(backend, () => undefined), clock };
  const outcome = await repairFolder(task, key);
  if (outcome === null) throw new Error('there was nothing to repair');
  return outcome;
}

const known = (session: Session, asKnown: KnownAt): Session =>
  session.as({ moment: { asOf: null, asKnown } });
const generation = (number: number): KnownAt => ({ kind: 'generation', generation: number });
const countAt = async (session: Session, number: number): Promise<number> =>
  (await known(session, generation(number)).query('p(?x)')).length;
const listed = async ({ engine, caller }: Session, query: object = {}) =>
  engine.history(caller, historyQuerySchema.parse(query));

/** Ten generations before a gap at 11, 12 to 14 behind it, repaired; and 3 more. */
async function mended(
  options: object = {},
): Promise<{ backend: MemoryBackend; at: Opened; outcome: Repaired }> {
  const backend = await written(14, [4, 8], options);
  await damageAt(backend, '"args":["11"]');
  const outcome = await repaired(backend);
  const at = await opened(backend, options);
  for (let number = 21; number <= 23; number++) {
    clock.advance(hour);
    await at.session.tell(`p(${number})`);
  }
  return { backend, at, outcome };
}

test('a repair keeps what is known of the past up to the gap, and refuses what is in it', async () => {
  const { at, outcome } = await mended();
  const { session, close } = at;
  expect(outcome.leftOut).toEqual([]);
  expect(outcome.historyThrough).toBe(11);
  for (const number of [0, 1, 5, 9, 10]) expect(await countAt(session, number), `${number}`).toBe(number);
  const last = session.engine.storageState().position;
  const { generation: now } = await session.ask('p(?x)');
  const first = now - 3;
  for (const number of [11, 12, first - 1])
    expect(await refusal(countAt(session, number))).toMatchObject({
      code: 'HistoryGone',
      members: { earliest: { generation: first }, lostAfter: { generation: 10 } },
    });
  // 13 of 14 facts, and those of after the repair.
  expect(await countAt(session, first)).toBe(13);
  expect(await countAt(session, first + 1)).toBe(14);
  const instant = (time: number): KnownAt => ({ kind: 'instant', time });
  const { generations } = await listed(session);
  const timeOf = (number: number): number =>
    generations.find((each) => each.generation === number)?.time ?? 0;
  expect(await known(session, instant(timeOf(10))).query('p(?x)')).toHaveLength(10);
  expect((await refusal(known(session, instant(timeOf(10) + 1)).query('p(?x)'))).code).toBe('HistoryGone');
  expect(await known(session, instant(timeOf(first + 1) - 1)).query('p(?x)')).toHaveLength(13);
  expect(last).toBeGreaterThan(14);
  await close();
});

test('the pages of the history have everything but the gap, and say where it is', async () => {
  const { at } = await mended();
  const { session, close } = at;
  const { generation: now } = await session.ask('p(?x)');
  const expected = [now, now - 1, now - 2, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];
  const all = await listed(session);
  expect(all.generations.map((each) => each.generation)).toEqual(expected);
  expect(all.since).toBeNull();
  const [gap] = all.gaps;
  expect(all.gaps).toHaveLength(1);
  expect(gap?.from).toBe(all.generations[3]?.time);
  const paged: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await listed(session, { limit: '2', ...(cursor === '' ? {} : { cursor }) });
    paged.push(...page.generations.map((each) => each.generation));
    cursor = page.nextCursor;
  }
  expect(paged).toEqual(expected);
  await close();
});

test('it stays over restarts, snapshots, new keys and another repair, and is verified', async () => {
  const { at, backend } = await mended();
  await at.session.engine.snapshot();
  await at.close();
  const check = async (session: Session): Promise<void> => {
    for (const number of [0, 5, 10]) expect(await countAt(session, number)).toBe(number);
    expect((await refusal(countAt(session, 12))).code).toBe('HistoryGone');
    expect((await listed(session)).gaps).toHaveLength(1);
  };
  const again = await opened(backend);
  clock.advance(30 * hour);
  await again.session.tell('p(31)');
  await again.session.engine.snapshot();
  await check(again.session);
  await again.close();
  expect((await verifyFolder(backend, null)).history?.damages).toEqual([]);
  const key = 'ab'.repeat(32);
  await convertFolder({ ...folderTask(backend, () => undefined), clock }, { from: null, to: key });
  const encrypted = await opened(backend, { encryptionKey: key });
  await check(encrypted.session);
  await encrypted.close();
  for (const name of (await backend.list()).filter((each) => !each.endsWith('.damaged')))
    expect(Buffer.from(backend.contents(name)).includes('xxxxxxxx'), name).toBe(false);
});

test('a reasoning thread answers from before the gap too', async () => {
  const { backend, at } = await mended();
  await at.close();
  const threadHost = pastThreads(backend);
  const { session, close } = await opened(backend, { threadHost });
  expect(await countAt(session, 9)).toBe(9);
  expect((await refusal(countAt(session, 12))).members).toMatchObject({ lostAfter: { generation: 10 } });
  expect(threadHost.posted.some(({ kind }) => kind === 'askPast')).toBe(true);
  await close();
});

test('an erasure takes what is before the gap too', async () => {
  const { backend, at } = await mended();
  const { session, close } = at;
  const { tenant } = session.caller;
  await session.engine.forgetEntity(session.caller, forgetEntitySchema.parse({ tenant, entity: '5' }));
  await session.engine.snapshot();
  for (const name of await backend.list())
    expect(Buffer.from(backend.contents(name)).includes('"5"'), name).toBe(false);
  expect((await refusal(countAt(session, 9))).code).toBe('HistoryGone');
  expect((await listed(session)).gaps).toEqual([]);
  const { generation: now } = await session.ask('p(?x)');
  expect(await countAt(session, now - 1)).toBe(15);
  await close();
});

test('a damaged newest snapshot costs nothing of the history', async () => {
  const backend = await written(14, [4, 8]);
  const names = (await backend.list()).filter((name) => name.endsWith('.snapshot'));
  const name = names.at(-1) as string;
  const bytes = backend.contents(name).slice();
  bytes[200] = (bytes[200] as number) ^ 1;
  backend.put(name, bytes);
  expect((await repaired(backend)).historyThrough).toBe(15);
  const { session, close } = await opened(backend);
  for (let number = 0; number <= 14; number++) expect(await countAt(session, number)).toBe(number);
  expect((await listed(session)).gaps).toEqual([]);
  await close();
});

test('what was erased, and was to be taken out of the history next, is not kept in it', async () => {
  const backend = memoryBackend();
  let isFull = false;
  const create = async (name: string) => {
    if (isFull && name.includes('.snapshot')) throw systemError('ENOSPC', 'no room');
    return backend.create(name);
  };
  const { session, close } = await opened({ ...backend, create });
  await session.as({ tenant: 'other' }).tell('p(secret)');
  await session.engine.snapshot();
  isFull = true;
  await session.engine.nukeTenant(session.caller, 'default', 'other');
  for (const text of ['p(b)', 'p(c)']) await session.tell(text);
  const files = await copied(backend);
  await close();
  await damageAt(files, '"args":["b"]');
  expect((await repaired(files)).historyThrough).toBeNull();
  for (const name of (await files.list()).filter((each) => !each.endsWith('.damaged')))
    expect(Buffer.from(files.contents(name)).includes('secret'), name).toBe(false);
});
