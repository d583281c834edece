import type { StorageBackend } from './backend.ts';
import { StartupError } from './startup-error.ts';

const help =
  'Nothing was changed. Restore the folder from a backup, or move it aside to start with an empty one.';

/** The refusal to go on with a damaged file: `what` is wrong with it, at this byte. */
export function damaged(backend: StorageBackend, name: string, offset: number, what: string): StartupError {
  const kind = name.includes('.snapshot') ? 'snapshot' : 'log';
  const place = `${backend.location(name)}, offset ${offset}`;
  return new StartupError(`The ${kind} is damaged: ${what} (${place}). ${help}`, { file: name, offset });
}

/** The refusal of a file that has something in it which this program does not know, at this byte. */
export function unknownFeature(backend: StorageBackend, name: string, offset: number): StartupError {
  return new StartupError(
    `${backend.location(name)} uses, at offset ${offset}, a feature of the format that this program does not ` +
      'know. Nothing was changed. Start it with the newer program that wrote it.',
    { file: name, offset },
  );
}

/** The refusal of a file of a newer version than this program reads. */
export function newerVersion(
  backend: StorageBackend,
  name: string,
  version: number,
  known: number,
): StartupError {
  return new StartupError(
    `${backend.location(name)} has format version ${version}; this program reads versions up to ${known}. ` +
      'Nothing was changed. Start it with the newer program that wrote it.',
    { file: name, offset: 0 },
  );
}
