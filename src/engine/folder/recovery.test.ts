import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { openEngine } from '../open-engine.ts';
import { StartupError } from '../log/startup-error.ts';
import { bundleProgram, startProgram } from '../testing/child-program.ts';
import {
  day,
  openSession,
  refusal,
  type Session,
  sessionOf,
  startTime,
  testCaller,
} from '../testing/engine-fixtures.ts';

/** What a start recovers: contract section 9. */

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-engine-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The engine of a folder with the clock at this time. */
function openFolder(storageDir: string, time = startTime): Promise<Session> {
  return openSession({ storageDir, clock: new ManualClock(time) });
}

/** Knowledge of every kind, in several tenants and databases, with a history of changes. */
async function fill(session: Session): Promise<void> {
  const { tell, tellAll, teach, forget, changeRule, as, engine, caller, clock } = session;
  await tellAll(['edge(a, b)', 'edge(b, c)', 'edge(c, d)', '-edge(d, a)', 'p("", "a, b", "\ufeff")']);
  await teach('reach(?x, ?y) :- edge(?x, ?y)', { name: 'base', description: 'one step' });
  const { id } = await teach('reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z)');
  await teach('own(?x) :- edge(?x, ?_), not end(?x)', { scope: 's' });
  clock.advance(1000);
  await tell('edge(d, e)', { scope: 's', ttl: day, metadata: { source: 'test', importance: 1 } });
  await tell('edge(e, f)', { validFrom: startTime + day, validUntil: startTime + 3 * day });
  await tell('edge(a, b)', { metadata: { deep: { list: [1, null, 'x'] } } });
  await forget('edge(c, d)');
  await tell('edge(c, d)');
  await changeRule(id, { enabled: false });
  await changeRule(id, { enabled: true, name: 'step' });
  const gone = await teach('never(?x) :- edge(?x, ?x)');
  await engine.forgetRule(caller, gone.id);
  await as({ tenant: 'other' }).tell('edge(x, y)');
  await engine.createDatabase(caller, 'second');
  await as({ database: 'second' }).tell('q(1)');
  clock.advance(1000);
  await tell('edge(a, b)');
}

test('a start says how far it has read, over the snapshot and the records after it', async () => {
  const storageDir = await temporaryFolder();
  const opened = async (): Promise<number[]> => {
    const percents: number[] = [];
    const engine = await openEngine({ storageDir, onOpening: (percent) => percents.push(percent) });
    await engine.close(0);
    return percents;
  };
  expect(await opened()).toEqual([0]);
  const session = await openFolder(storageDir);
  for (let fact = 0; fact < 40; fact++) await session.tell(`edge(a, b${fact})`);
  await session.engine.close(0);
  const replayed = await opened();
  expect(replayed.slice(0, 3)).toEqual([0, 2, 4]);
  expect(replayed.at(-1)).toBe(100);
  const again = await openFolder(storageDir);
  await again.engine.snapshot();
  await again.tell('edge(b, c)');
  await again.engine.close(0);
  const both = await opened();
  expect(both[0]).toBe(0);
  expect(both.length).toBeGreaterThan(2);
  expect(both).toEqual(both.toSorted((left, right) => left - right));
  expect(both.at(-1)).toBeGreaterThanOrEqual(90);
});

/** Everything visible to a caller that does not depend on uses by questions, as text. */
async function everything(session: Session): Promise<string> {
  const { engine, caller, ask, results, list } = session;
  const other = session.as({ tenant: 'other' });
  const second = session.as({ database: 'second' });
  const { facts, ...listed } = await list({ limit: '1000' });
  const details = await Promise.all(facts.map(({ id }) => engine.fact(caller, id ?? '')));
  const rules = (await engine.rules(caller)).map(({ fired: _fired, ...rule }) => rule);
  const proved = await ask('reach(?x, ?y)', { withProof: true });
  return JSON.stringify(
    {
      facts: [listed, withoutSalience(facts)],
      histories: details.map(({ history }) => history),
      rules,
      databases: await engine.databases(caller),
      proof: [proved.results, proved.bindings, proved.generation, proved.proof],
      own: [await results('own(?x)'), await results('own(?x)', { scope: 's' })],
      other: [await other.results('reach(?x, ?y)'), withoutSalience((await other.list()).facts)],
      second: [await second.results('q(?x)'), withoutSalience((await second.list()).facts)],
    },
    null,
    1,
  );
}

function withoutSalience(facts: readonly { readonly salience: number }[]): unknown[] {
  return facts.map(({ salience: _salience, ...fact }) => fact);
}

test('restores everything after a clean end: answers, proofs, ids, generations, histories', async () => {
  const folder = await temporaryFolder();
  const session = await openFolder(folder);
  await fill(session);
  const before = await everything(session);
  await session.engine.close();
  const again = await openFolder(folder, session.clock.now());
  expect(await everything(again)).toBe(before);
});

test('recovers every acknowledged write from a copy of the folder taken without a clean end', async () => {
  const [folder, copy] = [await temporaryFolder(), await temporaryFolder()];
  const session = await openFolder(folder);
  await fill(session);
  const before = await everything(session);
  await cp(folder, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  const again = await openFolder(copy, session.clock.now());
  expect(await everything(again)).toBe(before);
  expect((await again.tell('new(a)')).generation).toBe((await session.tell('new(a)')).generation);
});

test('continues generations and ids after a start, never decreasing', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  const { id, generation } = await first.tell('p(a)');
  await first.forget('p(a)');
  await first.engine.close();
  const second = await openFolder(folder);
  const next = await second.tell('p(a)');
  expect(next).toMatchObject({ status: 'asserted', generation: generation + 2 });
  expect(next.id).not.toBe(id);
  expect((await refusal(second.engine.fact(second.caller, id))).code).toBe('FactNotFound');
  expect((await second.teach('q(?x) :- p(?x)')).id).toBe(`r${generation + 3}`);
});

test('changes nothing over many starts', async () => {
  const folder = await temporaryFolder();
  const session = await openFolder(folder);
  await fill(session);
  const before = await everything(session);
  await session.engine.close();
  for (let round = 0; round < 3; round++) {
    const again = await openFolder(folder, session.clock.now());
    expect(await everything(again)).toBe(before);
    await again.engine.close();
  }
});

test('drops facts that expired while no process ran and shows those that began then', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  await first.teach('q(?x) :- p(?x)');
  await first.tell('p(gone)', { ttl: day });
  await first.tell('p(new)', { validFrom: startTime + day });
  expect(await first.results('q(?x)')).toEqual(['q(gone)']);
  await first.engine.close();
  const second = await openFolder(folder, startTime + day);
  expect(await second.results('q(?x)')).toEqual(['q(new)']);
});

test('judges by the wall clock after a start, also if it was ahead before', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder, startTime + day);
  await first.tell('p(a)');
  await first.tell('p(b)', { ttl: 1000 });
  await first.engine.close();
  const second = await openFolder(folder, startTime);
  const { id } = await second.tell('p(c)', { ttl: 500 });
  expect(await second.engine.fact(second.caller, id)).toMatchObject({
    createdAt: startTime,
    validUntil: startTime + 500,
  });
  expect(await second.results('p(?x)')).toHaveLength(3);
});

test('leaves nothing behind of refused writes', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  await first.tell('p(a)');
  await refusal(first.tell('p(a)', { validFrom: 5, validUntil: 1 }));
  await refusal(first.tell('p(a)', { ifGeneration: 0, metadata: { x: 1 } }));
  await refusal(first.teach('q(?x) :- p(?y)'));
  await refusal(first.as({ database: 'nowhere' }).tell('p(a)'));
  await first.engine.close();
  const second = await openFolder(folder);
  expect((await second.list()).total).toBe(1);
  expect((await second.tell('p(b)')).generation).toBe(2);
  expect((await second.engine.databases(testCaller())).databases).toHaveLength(1);
});

test('recovers the writes of many concurrent writers in the order of their generations', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  const written = await Promise.all(
    Array.from({ length: 300 }, (_, at) =>
      at % 10 === 9 ? first.tell(`p(n${at - 1})`, { ifGeneration: 0 }) : first.tell(`p(n${at})`),
    ).map((write) => write.catch(() => null)),
  );
  const { facts, total } = await first.list({ limit: '1000' });
  expect(total).toBe(270);
  await first.engine.close();
  const second = await openFolder(folder);
  expect((await second.list({ limit: '1000' })).facts).toEqual(facts);
  const generations = written.flatMap((outcome) => (outcome === null ? [] : [outcome.generation]));
  expect(new Set(generations).size).toBe(270);
  expect((await second.tell('p(last)')).generation).toBe(271);
});

test('refuses a folder in use, and opens it after the end', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  await expect(openEngine({ storageDir: folder, address: 'http://here' })).rejects.toThrow(StartupError);
  await first.tell('p(a)');
  await first.engine.close();
  const second = await openFolder(folder);
  expect(await second.results('p(?x)')).toEqual(['p(a)']);
});

test('keeps nothing of an engine in memory', async () => {
  const first = await openSession();
  await first.tell('p(a)');
  await first.engine.close();
  const second = await openSession();
  expect((await second.list()).total).toBe(0);
});

test('refuses a folder that cannot be created, with the reason', async () => {
  await expect(openEngine({ storageDir: '/dev/null/folder' })).rejects.toThrow(StartupError);
});

test('recovers every acknowledged write after kill -9, and no partial batch', async () => {
  const folder = await temporaryFolder();
  const program = await bundleProgram(new URL('../testing/write-facts.ts', import.meta.url));
  let answered = -1;
  for (let round = 0; round < 3; round++) {
    const child = startProgram(program, [folder]);
    for (let lines = 0; lines < 40; lines++) answered = Math.max(answered, Number(await child.nextLine()));
    await child.kill('SIGKILL');
    for (let line = await child.nextLine(); line !== null; line = await child.nextLine())
      answered = Math.max(answered, Number(line));
    const { engine } = await openFolder(folder, Date.now());
    const session = sessionOf(engine, new ManualClock(0), testCaller());
    const batches = new Map<string, number>();
    for (const { args } of await session.query('written(?batch, ?part)')) {
      const batch = args[0] ?? '';
      batches.set(batch, (batches.get(batch) ?? 0) + 1);
    }
    expect(batches.size).toBeGreaterThan(answered);
    expect([...batches].filter(([, parts]) => parts !== 5)).toEqual([]);
    for (let batch = 0; batch <= answered; batch++)
      expect(batches.has(String(batch)), `batch ${batch}`).toBe(true);
    await engine.close();
  }
});
