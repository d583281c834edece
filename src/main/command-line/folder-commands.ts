/**
 * Commands on the storage folder: verify, repair, restore, change the key.
 *
 * Whoever may write the folder may run them; there is no other authentication. All but `--verify` take the folder's
 * lock, so they are refused while a service runs on it. A key is never an argument, which other users of the machine
 * could read.
 */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import {
  type Caller,
  type Contents,
  convertFolder,
  inLockedFolder,
  isFollowersFolder,
  openBackup,
  openEngine,
  openFileBackend,
  repairFolder,
  StartupError,
  type Verified,
  verifyFolder,
  systemOrigin,
} from '../../engine/index.ts';
import type { FolderCommand } from './arguments.ts';
import type { Config } from '../base/config.ts';
import { openFailure } from '../base/start-failure.ts';
import { StartRefusal } from '../base/start-refusal.ts';
import { anonymous } from '../base/dispatch.ts';

/** What was done, in lines for people, and the exit code. */
interface FolderReport {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

type FolderConfig = Pick<Config, 'storageDir' | 'encryptionKey' | 'newEncryptionKey' | 'fsync' | 'apiKey'>;
type OnWarn = (message: string) => void;

/** Runs the command; `file` is the argument of `--restore`. Refuses with a StartRefusal. */
export async function runFolderCommand(
  name: FolderCommand,
  config: FolderConfig,
  file: string,
  onWarn: OnWarn,
): Promise<FolderReport> {
  try {
    switch (name) {
      case 'reset-admin':
        return done(await resetAdminKeys(config, onWarn));
      case 'verify':
        return await verify(config);
      case 'repair':
        return done(await repair(config, onWarn));
      case 'restore':
        return done(await restore(config, file, onWarn));
      case 'encrypt':
      case 'decrypt':
      case 'rekey':
        return done(await convert(name, config, onWarn));
    }
  } catch (error) {
    throw openFailure(error, config.storageDir);
  }
}

function done(lines: readonly string[]): FolderReport {
  return { lines, exitCode: 0 };
}

async function verify({ storageDir, encryptionKey }: FolderConfig): Promise<FolderReport> {
  const backend = await openFileBackend(existing(storageDir));
  const names = async (): Promise<string> => (await backend.list()).join(' ');
  // A running service may remove files in the meantime, so the findings may be outdated.
  for (let tries = 1; ; tries++) {
    const before = await names();
    const verified = await verifyFolder(backend, encryptionKey).catch((error: unknown) => error);
    if (tries < 5 && (await names()) !== before) continue;
    if (!isVerified(verified)) throw verified;
    return { lines: told(verified), exitCode: verified.damages.length === 0 ? 0 : 1 };
  }
}

function isVerified(value: unknown): value is Verified {
  return typeof value === 'object' && value !== null && 'damages' in value;
}

function told(verified: Verified): string[] {
  const { damages, contents, position, records, segments, snapshotBytes, tail } = verified;
  const snapshot = snapshotBytes === null ? 'no snapshot' : `a snapshot of ${snapshotBytes} bytes`;
  const log = `${counted(segments, 'segment')} with ${counted(records, 'record')} after it`;
  const read = `Read ${snapshot} and ${log}; the last record is ${position}.`;
  if (contents === null)
    return [
      read,
      `${counted(damages.length, 'damage')}:`,
      ...damages.map(describeDamage),
      'Nothing was changed. Move the folder aside and restore a backup with --restore, or keep what still verifies of ' +
        'it with --repair.',
    ];
  const torn = tail === null ? [] : [`The next start cuts off the torn end of the log: ${tail}.`];
  return [read, `It holds ${describe(contents)}.`, ...toldOfHistory(verified), ...torn];
}

function toldOfHistory({ history }: Verified): string[] {
  const { segments, snapshots, damages } = history ?? { segments: 0, snapshots: 0, damages: [] };
  if (segments + snapshots === 0 && damages.length === 0) return ['Everything verifies.'];
  const kept = `The history has ${counted(segments, 'segment')} and ${counted(snapshots, 'snapshot')}`;
  if (damages.length === 0) return [`${kept}.`, 'Everything verifies.'];
  return [
    `${kept}, and ${counted(damages.length, 'damage')}:`,
    ...damages.map((damage) => `  ${damage}`),
    'The present verifies, so the service starts; questions about the past that need these files are refused.',
  ];
}

async function repair({ storageDir, encryptionKey }: FolderConfig, onWarn: OnWarn): Promise<string[]> {
  const folder = existing(storageDir);
  const repaired = await inLockedFolder(folder, onWarn, (task) => repairFolder(task, encryptionKey));
  if (repaired === null) return ['Everything verifies: nothing to repair, nothing was changed.'];
  const { damages, setAside, leftOut, contents, position, historyThrough } = repaired;
  return [
    `${counted(damages.length, 'damage')}:`,
    ...damages.map(describeDamage),
    ...(setAside.length === 0 ? [] : [`Set aside in ${folder}: ${setAside.join(', ')}`]),
    ...(leftOut.length === 0 ? [] : [`Left out, ${counted(leftOut.length, 'record')} that verified:`]),
    ...leftOut.map(({ sequence, kind, why }) => `  record ${sequence} (${kind}): ${why}`),
    `Kept ${describe(contents)}, as one snapshot of record ${position}.`,
    historyOf(historyThrough, position),
    'The folder is a separate history from now on: its followers start again from a snapshot.',
  ];
}

/** What a repair leaves of the history. */
function historyOf(through: number | null, position: number): string {
  if (through === null) return 'The history begins anew with this snapshot.';
  if (through === position) return 'The retained history is whole.';
  return (
    `The retained history stays up to record ${through}. Questions about moments from there to record ${position} are ` +
    'refused; the history goes on with this snapshot.'
  );
}

async function restore(
  { storageDir, encryptionKey }: FolderConfig,
  file: string,
  onWarn: OnWarn,
): Promise<string[]> {
  const path = resolve(file);
  if (file === '' || !existsSync(path) || !statSync(path).isFile())
    throw new StartRefusal('configuration', `--restore: there is no file ${path}`);
  if (storageDir === null)
    throw new StartRefusal('configuration', 'STORAGE_DIR: set it to the folder to restore into');
  const backup = await openBackup(await openFileBackend(dirname(path)), basename(path), encryptionKey);
  await inLockedFolder(storageDir, onWarn, (task) => backup.install(task));
  const { position, contents } = backup;
  return [
    `Restored ${describe(contents)} into ${resolve(storageDir)}, as of record ${position}.`,
    'It is a separate history, which names the one that the backup was taken from.',
  ];
}

/** The keys before and after. Refuses with a StartRefusal if a required one is missing. */
function keysOf(
  name: 'encrypt' | 'decrypt' | 'rekey',
  { encryptionKey, newEncryptionKey }: FolderConfig,
): { readonly from: string | null; readonly to: string | null } {
  const isNew = name !== 'encrypt';
  if (encryptionKey === null)
    throw new StartRefusal(
      'configuration',
      `ENCRYPTION_KEY: got nothing; --${name} takes the key that the folder ${isNew ? 'has' : 'is to have'}`,
    );
  if (name === 'encrypt') return { from: null, to: encryptionKey };
  if (name === 'decrypt') return { from: encryptionKey, to: null };
  if (newEncryptionKey === null)
    throw new StartRefusal(
      'configuration',
      'NEW_ENCRYPTION_KEY: got nothing; --rekey needs the new key of the folder',
    );
  return { from: encryptionKey, to: newEncryptionKey };
}

const converted = {
  encrypt: 'Encrypted with ENCRYPTION_KEY',
  decrypt: 'Decrypted; start without ENCRYPTION_KEY',
  rekey: 'Encrypted with NEW_ENCRYPTION_KEY, which is ENCRYPTION_KEY from now on',
};

async function convert(
  name: 'encrypt' | 'decrypt' | 'rekey',
  config: FolderConfig,
  onWarn: OnWarn,
): Promise<string[]> {
  const keys = keysOf(name, config);
  const folder = existing(config.storageDir);
  const contents = await inLockedFolder(folder, onWarn, (task) => convertFolder(task, keys)).catch(
    (error: unknown) => {
      throw error instanceof StartupError ? (asItIs(name, error) ?? error) : error;
    },
  );
  return [
    `${converted[name]}: ${describe(contents)} in ${resolve(folder)}.`,
    'Earlier backups need the earlier key. Removed data may stay on the disk until it is overwritten.',
  ];
}

/** The refusal if the folder already is what the command would make of it, or is not what it starts from. */
function asItIs(name: 'encrypt' | 'decrypt' | 'rekey', { key }: StartupError): StartRefusal | null {
  if (name === 'encrypt' && key === 'missing')
    return new StartRefusal(
      'configuration',
      'The folder is encrypted already. Nothing was changed. Give it another key with --rekey.',
    );
  if (name !== 'encrypt' && key === 'not wanted')
    return new StartRefusal(
      'configuration',
      `The folder is not encrypted. Nothing was changed.${name === 'rekey' ? ' Encrypt it with --encrypt.' : ''}`,
    );
  return null;
}

function existing(storageDir: string | null): string {
  if (storageDir !== null && existsSync(storageDir)) return storageDir;
  throw new StartRefusal(
    'configuration',
    `STORAGE_DIR: got ${JSON.stringify(storageDir ?? '')}, which does not exist`,
  );
}

function describeDamage({ file, from, to, what }: Verified['damages'][number]): string {
  return `  ${file}, offset ${from}${to > from ? ` to ${to}` : ''}: ${what}`;
}

/** What a folder or a store contains, in words. */
export function describe({ databases, tenants, facts, rules }: Contents): string {
  const parts = [counted(databases, 'database'), counted(tenants, 'tenant'), counted(facts, 'fact')];
  return `${parts.join(', ')} and ${counted(rules, 'rule')}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * `--reset-admin`: revokes all admin keys of a folder, for a user who has lost the last one. Returns lines for people.
 * Refuses with a StartRefusal.
 *
 * Anyone who can write the folder can run it; there is no other authentication. It takes the folder's lock, so it is
 * refused while a service runs on it. Other keys stay as they are. The keys of a follower belong to its leader and are
 * revoked there: a follower's folder is refused, and goes on following.
 */
export async function resetAdminKeys(
  config: Pick<Config, 'storageDir' | 'encryptionKey' | 'fsync' | 'apiKey'>,
  onWarn: (message: string) => void,
): Promise<string[]> {
  const { storageDir, encryptionKey, fsync, apiKey } = config;
  if (storageDir === null || !existsSync(storageDir))
    throw new StartRefusal(
      'configuration',
      `STORAGE_DIR: got ${JSON.stringify(storageDir ?? '')}, which does not exist; set it to the folder whose admin keys are to be revoked`,
    );
  if (await isFollowersFolder(storageDir))
    throw new StartRefusal(
      'configuration',
      `${storageDir} is the folder of a follower, whose keys are those of its leader. Nothing was changed. Run ` +
        '--reset-admin on the folder of the leader; or, where this one is to lead from now on, start it once with ' +
        'REPLICATION_MODE=LEADER, end it, and run --reset-admin then.',
    );
  const engine = await openEngine({ storageDir, encryptionKey, fsync, onWarn }).catch((error: unknown) => {
    throw openFailure(error, storageDir);
  });
  try {
    const revoked = await engine.keys.resetAdmin(operator());
    const names = revoked.map(({ id, prefix, description }) => {
      const about = description === null ? '' : `: ${JSON.stringify(description)}`;
      return `  ${id} (${prefix}…)${about}`;
    });
    const count = `${revoked.length} admin ${revoked.length === 1 ? 'key was' : 'keys were'} revoked`;
    return [
      revoked.length === 0 ? 'There was no admin key to revoke.' : `${count}:`,
      ...names,
      'The next start with AUTH_ENABLED=true opens the bootstrap: POST /auth/bootstrap.',
      ...(apiKey === null ? [] : ['API_KEY is set and remains an admin key.']),
    ];
  } finally {
    await engine.close();
  }
}

function operator(): Caller {
  return {
    ...anonymous,
    database: 'default',
    tenant: 'default',
    client: null,
    transaction: null,
    idempotency: null,
    requestId: 'reset-admin',
    origin: systemOrigin,
    signal: new AbortController().signal,
  };
}
