/**
 * SQLite's command line with recursive common table expressions over an in-memory database. Its SQL is written
 * by hand with the workload; times are the user and system times that `.timer` prints.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Measured } from '../measure.ts';
import {
  complete,
  type Contestant,
  median,
  type Outcome,
  RunFailure,
  type Task,
  versionOf,
} from './contestant.ts';

function countQuery({ workload }: Task): string {
  return `WITH RECURSIVE ${workload.sql.with} SELECT 'answers', count(*) FROM ${workload.sql.from};`;
}

function steps(task: Task): string[] {
  const { workload, probes, relations } = task;
  if (workload.kind === 'ask') return ['.timer on', '.print solve', countQuery(task)];
  const relation = relations[0]?.name ?? '';
  if (workload.kind === 'load')
    return [
      'CREATE TABLE probe(x TEXT, y TEXT);',
      `.import ${join(task.folder, 'probe.tsv')} probe`,
      '.timer on',
      '.print solve',
      `SELECT 'answers', count(${relation}.y) FROM probe CROSS JOIN ${relation} ON ${relation}.x = probe.x;`,
      '.print size',
      countQuery(task),
      "SELECT 'bytes', page_count * page_size FROM pragma_page_count, pragma_page_size;",
    ];
  const changes = probes.flatMap(([x, y]) => [
    '.print solve',
    `DELETE FROM ${relation} WHERE x = '${x}' AND y = '${y}';`,
    countQuery(task),
    '.print back',
    `INSERT INTO ${relation} VALUES ('${x}', '${y}');`,
  ]);
  return ['.timer on', '.print first', countQuery(task), ...changes];
}

/** The output is a sequence of sections, each opened by its name on a line of its own. */
function read(measured: Measured, task: Task): Outcome {
  let section = '';
  let timed = 0;
  const solves: number[] = [];
  let answers = 0;
  let bytes = 0;
  for (const line of measured.stdout.split('\n')) {
    const time = /^Run Time: real \S+ user (\S+) sys (\S+)/.exec(line);
    const found = /^(answers|bytes)\t(\d+)$/.exec(line);
    if (time !== null) {
      const seconds = Number(time[1]) + Number(time[2]);
      timed += seconds;
      if (section === 'solve') solves.push((solves.pop() ?? 0) + seconds);
    } else if (found !== null) {
      if (found[1] === 'answers') answers += Number(found[2]);
      else bytes = Number(found[2]);
    } else if (/^[a-z]+$/.test(line)) {
      section = line;
      if (section === 'solve') solves.push(0);
    }
  }
  if (solves.length === 0) throw new RunFailure(`printed no times: ${measured.stderr.slice(-300)}`);
  // The clock of the command line leaves imports out; what the process took besides the questions is loading.
  const load = measured.cpu === null ? Number.NaN : Math.max(0, measured.cpu - timed);
  const outcome = { answers, load, solve: median(solves), peakBytes: measured.peakBytes };
  if (task.workload.kind !== 'load') return outcome;
  return { ...outcome, bytesPerFact: bytes / task.relations.reduce((sum, { rows }) => sum + rows.length, 0) };
}

export const sqlite: Contestant = {
  name: 'SQLite',
  version: () => versionOf('sqlite3', ['--version'])?.split(' ')[0] ?? null,
  declines: () => null,
  async run(task) {
    const { folder, relations, workload, probes } = task;
    for (const { name, rows } of [...relations, { name: 'probe', rows: probes }])
      writeFileSync(join(folder, `${name}.tsv`), rows.map((row) => `${row.join('\t')}\n`).join(''));
    const script = [
      '.mode tabs',
      // Everything in memory, as for the others: intermediate tables would go to files.
      'PRAGMA temp_store = MEMORY;',
      ...relations.map(({ name }) => `CREATE TABLE ${name}(x TEXT, y TEXT);`),
      ...relations.map(({ name }) => `.import ${join(folder, `${name}.tsv`)} ${name}`),
      ...workload.sql.indexes.map((columns, index) => `CREATE INDEX i${index} ON ${columns};`),
      ...steps(task),
    ].join('\n');
    const measured = await complete('sqlite3', [':memory:'], {
      timeoutMs: task.timeoutMs,
      input: `${script}\n`,
    });
    return read(measured, task);
  },
};
