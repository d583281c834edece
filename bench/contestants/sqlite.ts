/**
 * SQLite's command line with recursive common table expressions over an in-memory database. Its SQL is written
 * by hand with the workload; times are the user and system times that `.timer` prints.
 */
import { join } from 'node:path';
import { columnsOf } from '../graphs.ts';
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
import { writeRows } from './rows.ts';
import { sectionsOf } from './sql.ts';

const size = "SELECT 'bytes', page_count * page_size FROM pragma_page_count, pragma_page_size;";

/** A counted answer follows a word of its own, to distinguish it from other output. */
function script(task: Task): string {
  const { folder, relations, workload } = task;
  const sections = sectionsOf(task).flatMap(({ name, statements }) => [
    `.print ${name}`,
    ...statements.map(
      ({ sql, counts }) => `${counts ? sql.replace('SELECT count', "SELECT 'answers', count") : sql};`,
    ),
  ]);
  return [
    '.mode tabs',
    // Everything in memory, as for the others: intermediate tables would go to files.
    'PRAGMA temp_store = MEMORY;',
    ...[...relations, { name: 'probe', rows: [] }].flatMap((relation) => [
      `CREATE TABLE ${relation.name}(${columnsOf(relation).join(' TEXT, ')} TEXT);`,
      `.import ${join(folder, `${relation.name}.tsv`)} ${relation.name}`,
    ]),
    ...(workload.sql?.indexes ?? []).map((columns, index) => `CREATE INDEX i${index} ON ${columns};`),
    ...(workload.kind === 'load' ? [size] : []),
    '.timer on',
    ...sections,
  ].join('\n');
}

/** The output is a sequence of sections, each opened by its name on a line of its own. */
function read(measured: Measured, task: Task): Outcome {
  let section = '';
  let timed = 0;
  const solves: number[] = [];
  const walls: number[] = [];
  let answers = 0;
  let bytes = 0;
  for (const line of measured.stdout.split('\n')) {
    const time = /^Run Time: real (\S+) user (\S+) sys (\S+)/.exec(line);
    const found = /^(answers|bytes)\t(\d+)$/.exec(line);
    if (time !== null) {
      const seconds = Number(time[2]) + Number(time[3]);
      timed += seconds;
      if (section === 'solve') {
        solves.push((solves.pop() ?? 0) + seconds);
        walls.push((walls.pop() ?? 0) + Number(time[1]));
      }
    } else if (found !== null) {
      if (found[1] === 'answers') answers += Number(found[2]);
      else bytes = Number(found[2]);
    } else if (/^[a-z]+$/.test(line)) {
      section = line;
      if (section === 'solve') {
        solves.push(0);
        walls.push(0);
      }
    }
  }
  if (solves.length === 0) throw new RunFailure(`printed no times: ${measured.stderr.slice(-300)}`);
  // The clock of the command line excludes imports; the process's time besides the questions is loading.
  const load = measured.cpu === null ? Number.NaN : Math.max(0, measured.cpu - timed);
  const outcome = {
    answers,
    load,
    solve: median(solves),
    wall: median(walls),
    peakBytes: measured.peakBytes,
  };
  if (task.workload.kind !== 'load') return outcome;
  return { ...outcome, bytesPerFact: bytes / task.relations.reduce((sum, { rows }) => sum + rows.length, 0) };
}

export const sqlite: Contestant = {
  name: 'SQLite',
  version: () => versionOf('sqlite3', ['--version'])?.split(' ')[0] ?? null,
  declines: ({ sql, kind }) => {
    if (kind === 'proof') return 'tells no proof';
    return sql === null ? 'no SQL for it' : null;
  },
  async run(task) {
    writeRows(task);
    const options = { timeoutMs: task.timeoutMs, input: `${script(task)}\n` };
    return read(await complete('sqlite3', [':memory:'], options), task);
  },
};
