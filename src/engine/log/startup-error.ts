import type { StorageBackend } from './backend.ts';
/** The process that holds the folder; `address` is its service's, null: unknown. */
interface FolderHolder {
  readonly address: string | null;
}

/** The required key is missing, the given key is wrong, or a key was given for an unencrypted folder. */
type KeyTrouble = 'missing' | 'wrong' | 'not wanted';

/** The location and cause of the problem: a file, and its byte offset if known. */
interface StartupErrorPlace {
  readonly file?: string;
  readonly offset?: number;
  /** The live process that holds the folder, if that is the problem. */
  readonly holder?: FolderHolder;
  /** What is wrong with the given key, if that is the problem. */
  readonly key?: KeyTrouble;
}

/**
 * A refusal to start: the storage folder is not as it must be, and continuing could lose or alter knowledge. Nothing on
 * disk has changed. The message is for the operator: what is wrong, in which file, at which offset, and what to do.
 * Clients of the service never see it.
 */
export class StartupError extends Error {
  readonly file: string | null;
  readonly offset: number | null;
  readonly holder: FolderHolder | null;
  readonly key: KeyTrouble | null;

  constructor(message: string, place: StartupErrorPlace = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StartupError';
    this.file = place.file ?? null;
    this.offset = place.offset ?? null;
    this.holder = place.holder ?? null;
    this.key = place.key ?? null;
  }
}

const help =
  'Nothing was changed. Move the folder aside and restore a backup with --restore, or keep what still verifies ' +
  'with --repair.';

/** The refusal of a damaged file: `what` is wrong at this offset. */
export function damaged(backend: StorageBackend, name: string, offset: number, what: string): StartupError {
  const isBackup = !/\.(?:log|snapshot(?:\.\w+)?)$/.test(name);
  const kind = isBackup ? 'backup' : name.endsWith('.log') ? 'log' : 'snapshot';
  const place = `${backend.location(name)}, offset ${offset}`;
  const mend = isBackup ? 'Nothing was changed. Take another backup.' : help;
  return new StartupError(`The ${kind} is damaged: ${what} (${place}). ${mend}`, { file: name, offset });
}

/** The refusal of a file that uses an unknown feature of the format at this offset. */
export function unknownFeature(backend: StorageBackend, name: string, offset: number): StartupError {
  return new StartupError(
    `${backend.location(name)} uses, at offset ${offset}, a feature of the format that this program does not ` +
      'know. Nothing was changed. Use the newer program that wrote it.',
    { file: name, offset },
  );
}

/** The refusal of a file with a newer version than this program reads. */
export function newerVersion(
  backend: StorageBackend,
  name: string,
  version: number,
  known: number,
): StartupError {
  return new StartupError(
    `${backend.location(name)} has format version ${version}; this program reads versions up to ${known}. ` +
      'Nothing was changed. Use the newer program that wrote it.',
    { file: name, offset: 0 },
  );
}

/** The refusal of an encrypted file when no key was given. */
export function keyMissing(backend: StorageBackend, name: string): StartupError {
  return new StartupError(
    `${backend.location(name)} is encrypted, and no key was given. Nothing was changed. Set ENCRYPTION_KEY to the ` +
      'key that the folder was encrypted with.',
    { file: name, key: 'missing' },
  );
}

/** The refusal of an unencrypted file when a key was given. */
export function keyNotWanted(backend: StorageBackend, name: string): StartupError {
  return new StartupError(
    `ENCRYPTION_KEY is set, and ${backend.location(name)} is not encrypted. Nothing was changed. Unset it, or encrypt ` +
      'the folder with this key first: corollary --encrypt.',
    { file: name, key: 'not wanted' },
  );
}

/** The refusal of a file encrypted with another key. */
export function wrongKey(backend: StorageBackend, name: string): StartupError {
  return new StartupError(
    `${backend.location(name)} was encrypted with a key other than ENCRYPTION_KEY. Nothing was changed. Set it to ` +
      'the key that the folder was encrypted with.',
    { file: name, key: 'wrong' },
  );
}

/** The refusal of a file whose header was altered after it was written with this key. */
export function alteredHeader(backend: StorageBackend, name: string): StartupError {
  return damaged(backend, name, 0, 'the key is right, but the header does not verify');
}
