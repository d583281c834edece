/** The input of the Node contestants: one TSV file for each relation, written by the runner, read by the child. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FactBlock, FactBlockBuilder } from '../../src/engine/index.ts';
import { columnsOf, type Row } from '../graphs.ts';
import type { BenchAtom } from '../program.ts';
import type { Kind } from '../workloads/workload.ts';
import type { Task } from './contestant.ts';
import type { Section } from './sql.ts';

/** The child's task beside the rows. */
export interface ChildTask {
  readonly kind: Kind;
  readonly relations: readonly string[];
  /** The columns of each relation, in the same order. */
  readonly columns: readonly (readonly string[])[];
  readonly scopes: number;
  /** In the contestant's own language. */
  readonly rules: readonly string[];
  readonly goal: BenchAtom;
  /** A question that is asked before, off the clock. */
  readonly before: BenchAtom | null;
  readonly withProofs: boolean;
  /** The statements for a database. */
  readonly sections: readonly Section[];
}

const taskFile = 'task.json';

/** One file of tab-separated values for each relation and for the probes (`probe`). */
export function writeRows({ folder, relations, probes }: Task, extension = 'tsv'): void {
  for (const { name, rows } of [...relations, { name: 'probe', rows: probes }])
    writeFileSync(join(folder, `${name}.${extension}`), rows.map((row) => `${row.join('\t')}\n`).join(''));
}

export function writeTask(task: Task, rules: readonly string[], sections: readonly Section[] = []): void {
  const { workload, relations, scopes } = task;
  writeRows(task);
  const told: ChildTask = {
    kind: workload.kind,
    relations: relations.map(({ name }) => name),
    columns: relations.map(columnsOf),
    scopes,
    rules,
    goal: workload.goal,
    before: workload.before ?? null,
    withProofs: workload.withProofs ?? false,
    sections,
  };
  writeFileSync(join(task.folder, taskFile), JSON.stringify(told));
}

export function readTask(folder: string): ChildTask {
  return JSON.parse(readFileSync(join(folder, taskFile), 'utf8')) as ChildTask;
}

export function readRows(folder: string, name: string): Row[] {
  const lines = readFileSync(join(folder, `${name}.tsv`), 'utf8').split('\n');
  lines.pop();
  return lines.map((line): Row => {
    const [first = '', second = '', ...others] = line.split('\t');
    return [first, second, ...others];
  });
}

/** The rows of a relation as facts in columns, with so many in each block: no string or object is made for one. */
export function* readFacts(
  folder: string,
  name: string,
  { scope, factsPerBlock }: { readonly scope: string | null; readonly factsPerBlock: number },
): Generator<FactBlock> {
  const bytes = readFileSync(join(folder, `${name}.tsv`));
  const [tab, newline] = [0x09, 0x0a];
  const firstLine = bytes.subarray(0, bytes.indexOf(newline));
  const arity = firstLine.reduce((fields, byte) => (byte === tab ? fields + 1 : fields), 1);
  let block: FactBlock | null = null;
  for (let at = 0; at < bytes.length; ) {
    const facts = FactBlockBuilder.like(block);
    while (at < bytes.length && facts.count < factsPerBlock) {
      facts.begin(name, arity, true, scope);
      for (let position = 0; position < arity; position++) {
        let end = at;
        while (bytes[end] !== tab && bytes[end] !== newline) end++;
        facts.addUtf8(bytes, at, end);
        at = end + 1;
      }
    }
    block = facts.built();
    yield block;
  }
}

/** CPU seconds of all threads of this process so far. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** CPU seconds of the process's main thread so far; null on systems other than Linux. */
export function threadSeconds(): number | null {
  try {
    const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ');
    return Number(nanoseconds) / 1e9;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Bytes in use by this process after a full collection, on the heap and in buffers outside it. */
export function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export function collectGarbage(): void {
  if (globalThis.gc === undefined) throw new Error('start this process with --expose-gc');
  globalThis.gc();
}
