/**
 * Durable writes over HTTP compared with Redis and PostgreSQL: one fact per call by 1, 8 and 64 clients, and many per
 * call.
 *
 * All have their files on one file system and answer when a write is durable. They take turns, round by round. The
 * clients of the others are their own benchmarks, programs in C; those of the service are in this process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { perSecond, rateTable, type Measured, ratioOf, thousands } from '../http/figures.ts';
import { load, storeBatches } from '../http/load.ts';
import { builtService, startServer } from '../http/server.ts';
import { figure } from '../report.ts';
import { type Database, startPostgres, startRedis } from './databases.ts';

const own = 'Corollary';
const clientCounts = [1, 8, 64];
/** Calls before the first round, and the maximum number of loads of them. */
const warmingCalls = 20_000;
const mostWarmings = 6;
const batches = { size: 10_000, count: 12, clients: 4 };

async function startService(folder: string): Promise<Database> {
  const here = dirname(fileURLToPath(import.meta.url));
  const server = await startServer(builtService(own, here, folder, 'always'), folder);
  return {
    name: own,
    tells: (connections, seconds) => load(server, { path: '/tell', connections, seconds }),
    batches: (size, count, clients) => storeBatches(server, { size, count, clients }),
    stop: () => server.stop(),
  };
}

export async function measureTells({
  rounds,
  seconds,
}: {
  readonly rounds: number;
  readonly seconds: number;
}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-bench-'));
  const databases: Database[] = [];
  try {
    databases.push(await startService(folder));
    for (const [name, start] of [['Redis', startRedis] as const, ['PostgreSQL', startPostgres] as const]) {
      const database = await start(join(folder, name));
      if (database === null) console.log(`${name}: not installed, left out`);
      else databases.push(database);
    }
    await measureAll(databases, rounds, seconds);
  } finally {
    for (const database of databases) await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A program becomes fast by the number of calls: until then, its calls are its slowest. */
async function warm(database: Database, seconds: number): Promise<void> {
  let calls = 0;
  for (let tries = 0; calls < warmingCalls && tries < mostWarmings; tries++)
    calls += (await database.tells(64, seconds)).answered;
}

async function measureAll(databases: readonly Database[], rounds: number, seconds: number): Promise<void> {
  const cells = new Map<string, Map<string, Measured[]>>();
  const measure = async (label: string, take: (database: Database) => Promise<Measured>): Promise<void> => {
    const cell = cells.get(label) ?? new Map<string, Measured[]>();
    cells.set(label, cell);
    for (const database of databases) {
      const measured = await take(database);
      cell.set(database.name, [...(cell.get(database.name) ?? []), measured]);
      console.log(`  ${label}: ${database.name}: ${thousands(perSecond(measured))} by second`);
    }
  };
  for (const database of databases) await warm(database, seconds);
  for (let round = 0; round < rounds; round++) {
    for (const clients of clientCounts) {
      const label = `one fact a write, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
      await measure(label, (database) => database.tells(clients, seconds));
    }
    const { size, count, clients } = batches;
    await measure(`${thousands(size)} facts a write, ${clients} clients`, (database) =>
      database.batches(size, count, clients),
    );
  }
  const names = databases.map(({ name }) => name);
  console.log(
    `\nDurable facts by server CPU-second / by second; the load of the machine: ${loadavg()[0]?.toFixed(1)}\n`,
  );
  console.log(rateTable(names, cells));
  for (const other of names.filter((name) => name !== own))
    console.log(
      `\nBy second, of ${other}: ${[...cells]
        .map(([label, cell]) => `${label} ${figure(ratioOf(cell, own, other, perSecond) ?? Number.NaN)}`)
        .join('; ')}`,
    );
}
