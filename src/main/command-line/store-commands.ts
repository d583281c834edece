/**
 * `store import` and `store export`: everything of a folder into the store of STORE_URL, and back; `store restore`: a database
 * as it was at a generation; `store sql`: the tables.
 *
 * Whoever can write the folder and the store may run them; there is no other authentication. They refuse while a service runs
 * on the folder, or a node on the store. The password is never an argument, which other users of the machine could read.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  exportStore,
  importFolder,
  inLockedFolder,
  type Moved,
  restoreDatabase,
  storeStatements,
} from '../../engine/index.ts';
import { databaseNameProblem } from '../../engine/contract/names.ts';
import type { Config } from '../base/config.ts';
import { openFailure } from '../base/start-failure.ts';
import type { ParsedCommand } from './arguments.ts';
import { UsageError } from './arguments.ts';
import { describe } from './folder-commands.ts';

type StoreCommand = Pick<ParsedCommand, 'words' | 'from' | 'to' | 'at' | 'as'>;

/** Runs the command; returns lines for people. Throws a UsageError; refuses with a StartRefusal. */
export async function runStoreCommand(
  { words, from, to, at, as }: StoreCommand,
  { storeUrl, encryptionKey }: Pick<Config, 'storeUrl' | 'encryptionKey'>,
  onWarn: (message: string) => void,
): Promise<readonly string[]> {
  const [what = '', ...others] = words.flatMap((word) => word.split(' '));
  if (what === 'restore')
    return runRestore({ others, from, to, at, as }, { storeUrl, encryptionKey }, onWarn);
  if (at !== null || as !== null) throw new UsageError('--at and --as are for store restore');
  if (what === 'sql' && others.length === 0 && from === null && to === null)
    return (await storeStatements()).trimEnd().split('\n');
  const isImport = what === 'import';
  const named = isImport ? from : to;
  const isOther = (isImport ? to : from) !== null || others.length > 0;
  if ((!isImport && what !== 'export') || named === null || isOther)
    throw new UsageError(
      'store takes "nodes", "move [DATABASE] --to NODE", "import --from FOLDER", "export --to FOLDER", ' +
        '"restore NAME --at GENERATION --as NEW" or "sql"',
    );
  if (storeUrl === null)
    throw new UsageError(`STORE_URL: got nothing; store ${what} needs the address of the store`);
  const folder = resolve(named);
  if (isImport && !existsSync(folder)) throw new UsageError(`--from: there is no folder ${folder}`);
  const place = { storeUrl, encryptionKey };
  try {
    const moved = await inLockedFolder(folder, onWarn, (task) =>
      isImport ? importFolder(task, place) : exportStore(task, place),
    );
    return isImport
      ? [...told(moved, `from ${folder} into the store`), 'Start the nodes with STORE_URL from now on.']
      : [
          ...told(moved, `from the store into ${folder}`),
          'Start the service with this STORAGE_DIR, without STORE_URL.',
        ];
  } catch (error) {
    throw openFailure(error, folder);
  }
}

async function runRestore(
  { others, from, to, at, as }: Omit<StoreCommand, 'words'> & { readonly others: readonly string[] },
  { storeUrl, encryptionKey }: Pick<Config, 'storeUrl' | 'encryptionKey'>,
  onWarn: (message: string) => void,
): Promise<readonly string[]> {
  const [name, ...more] = others;
  if (name === undefined || more.length > 0 || from !== null || to !== null || at === null || as === null)
    throw new UsageError('store restore takes "NAME --at GENERATION --as NEW"');
  if (!/^\d{1,15}$/.test(at)) throw new UsageError(`--at: got ${at}; it takes the number of a generation`);
  const problem = databaseNameProblem(as);
  if (problem !== null) throw new UsageError(`--as: ${problem}`);
  if (storeUrl === null)
    throw new UsageError('STORE_URL: got nothing; store restore needs the address of the store');
  try {
    const made = await restoreDatabase(
      { storeUrl, encryptionKey },
      { name, generation: Number(at), as },
      onWarn,
    );
    return [`The database ${as} has what ${name} had at generation ${at}: ${describe(made)}.`];
  } catch (error) {
    throw openFailure(error, null);
  }
}

function told({ contents, position, digest }: Moved, way: string): string[] {
  return [
    `Moved ${describe(contents)} ${way}, as of record ${position}.`,
    `Both sides were compared and hold the same (SHA-256 ${digest}).`,
    'What was moved is also still where it was. A new history begins, so tokens of the old one are refused.',
  ];
}
