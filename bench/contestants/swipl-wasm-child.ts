/**
 * The process that runs SWI-Prolog compiled to WebAssembly on the files in the given folder, prints one line of JSON.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { present } from '../../src/engine/base/assert.ts';
import { cpuSeconds } from './rows.ts';

/** The part of the downloaded package that is used here. */
type Swipl = (options: {
  arguments: string[];
  print: (line: string) => void;
  printErr: (line: string) => void;
}) => Promise<{
  readonly FS: { mkdir(path: string): void; writeFile(path: string, text: string): void };
  readonly prolog: { query(goal: string): { once(): unknown } };
}>;

const folder = present(process.argv[2], 'missing first argument: the folder of the task');
const packagePath = present(process.argv[3], 'missing second argument: the folder of the package');

// Prolog calls functions of the window, and finds this one there.
Object.assign(globalThis, { window: globalThis, cpuSeconds });
const start = createRequire(import.meta.url)(packagePath) as Swipl;
const { FS, prolog } = await start({
  arguments: ['-q', '--stack-limit=3g', '--table-space=3g'],
  print: (line) => process.stdout.write(`${line}\n`),
  printErr: (line) => process.stderr.write(`${line}\n`),
});
FS.mkdir('/task');
for (const name of readdirSync(folder))
  FS.writeFile(`/task/${name}`, readFileSync(join(folder, name), 'utf8'));
prolog.query("consult('/task/main.pl'), main").once();
