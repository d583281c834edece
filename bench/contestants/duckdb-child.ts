/** The process that runs DuckDB in memory: reads the task in the given folder, prints one line of JSON. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { present } from '../../src/engine/base/assert.ts';
import { type ChildReport, median } from './contestant.ts';
import { type ChildTask, cpuSeconds, readTask } from './rows.ts';

/** The part of the downloaded package that is used here. */
interface DuckDb {
  readonly DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection> }> };
}

interface Connection {
  runAndReadAll(sql: string): Promise<{ getRows(): readonly (readonly unknown[])[] }>;
}

const folder = present(process.argv[2], 'missing first argument: the folder of the task');
const packagePath = present(process.argv[3], 'missing second argument: the folder of the package');

/** The single number that a statement returns; 0 if it returns nothing. */
async function numberOf(connection: Connection, sql: string): Promise<number> {
  const rows = (await connection.runAndReadAll(sql)).getRows();
  return Number(rows[0]?.[0] ?? 0);
}

async function load(connection: Connection, { relations, columns }: ChildTask): Promise<void> {
  for (const [index, name] of [...relations, 'probe'].entries()) {
    const names = columns[index] ?? ['x', 'y'];
    await connection.runAndReadAll(`CREATE TABLE ${name}(${names.join(' VARCHAR, ')} VARCHAR)`);
    const file = join(folder, `${name}.tsv`);
    // Without sniffing the file first, which rejects an empty one.
    const format = "FORMAT csv, DELIMITER '\t', HEADER false, AUTO_DETECT false";
    await connection.runAndReadAll(`COPY ${name} FROM '${file}' (${format})`);
  }
}

async function run(): Promise<ChildReport> {
  const { DuckDBInstance } = createRequire(import.meta.url)(packagePath) as DuckDb;
  const task = readTask(folder);
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const start = cpuSeconds();
  await load(connection, task);
  const loaded = cpuSeconds() - start;
  const bytes = await numberOf(connection, 'SELECT sum(memory_usage_bytes) FROM duckdb_memory()');
  const facts = await numberOf(
    connection,
    `SELECT count(*) FROM ${present(task.relations[0], 'a relation')}`,
  );
  const solves: number[] = [];
  const walls: number[] = [];
  let answers = 0;
  for (const { name, statements } of task.sections) {
    const [begun, began] = [cpuSeconds(), performance.now()];
    for (const { sql, counts } of statements) {
      const found = await numberOf(connection, sql);
      if (counts) answers += found;
    }
    if (name === 'solve') {
      solves.push(cpuSeconds() - begun);
      walls.push((performance.now() - began) / 1000);
    }
  }
  const report = { answers, load: loaded, solve: median(solves), wall: median(walls) };
  return task.kind === 'load' ? { ...report, bytesPerFact: bytes / facts } : report;
}

process.stdout.write(`${JSON.stringify(await run())}\n`);
