/**
 * Contestants that run in a Node process of their own with a downloaded package: DuckDB, and SWI-Prolog compiled to
 * WebAssembly.
 */
import { complete, type Contestant, readReport } from './contestant.ts';
import { FetchedPackage } from './fetched-package.ts';
import { writePrologProgram } from './prolog.ts';
import { writeTask } from './rows.ts';
import { sectionsOf } from './sql.ts';

/** Says once why a package is not available. */
function versionWhereHere(wanted: FetchedPackage): string | null {
  const reason = wanted.fetch();
  if (reason !== null) console.log(reason);
  return reason === null ? wanted.version : null;
}

/** `program`: the built duckdb-child. Its SQL is that of SQLite; it uses all cores. */
export function duckdb(program: string): Contestant {
  const wanted = new FetchedPackage('@duckdb/node-api', '1.5.6-r.1');
  return {
    name: 'DuckDB',
    version: () => versionWhereHere(wanted),
    declines: ({ sql, kind }) => {
      if (kind === 'proof') return 'tells no proof';
      return sql === null ? 'no SQL for it' : null;
    },
    async run(task) {
      writeTask(task, [], sectionsOf(task));
      const args = [program, task.folder, wanted.path];
      return readReport(await complete(process.execPath, args, { timeoutMs: task.timeoutMs }));
    },
  };
}

/** `program`: the built swipl-wasm-child. It consults the same files as SWI-Prolog. */
export function swiplWasm(program: string): Contestant {
  const wanted = new FetchedPackage('swipl-wasm', '8.0.5');
  return {
    name: 'swipl-wasm',
    version: () => versionWhereHere(wanted),
    declines: ({ kind }) => (kind === 'proof' ? 'tells no proof' : null),
    async run(task) {
      // Its own clock measures wall time.
      writePrologProgram(task, { folder: '/task', clock: 'T := cpuSeconds()' });
      const args = [program, task.folder, wanted.path];
      return readReport(await complete(process.execPath, args, { timeoutMs: task.timeoutMs }));
    },
  };
}
