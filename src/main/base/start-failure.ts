/** Turns start failures into refusals that say what to do. */
import { existsSync } from 'node:fs';
import { inLockedFolder, StartupError } from '../../engine/index.ts';
import { StartRefusal } from './start-refusal.ts';

/** Why the port that the variable `name` sets could not be opened. */
export function listenFailure(
  error: unknown,
  host: string,
  port: number,
  name: 'PORT' | 'TLS_PORT',
): unknown {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new StartRefusal(
        name === 'PORT' ? 'port-taken' : 'tls-port-taken',
        `Port ${port} on ${host} is taken by another program. Stop that one, or set ${name} to another (0 takes any free one).`,
        { cause: error },
      );
    case 'EACCES':
      return new StartRefusal(
        'configuration',
        `${name}: got ${port}, on which this user may not listen; use 1024 or above.`,
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartRefusal(
        'configuration',
        `HOST: got "${host}", which is not an address of this machine; 127.0.0.1 is reachable only from here, 0.0.0.0 from everywhere.`,
        { cause: error },
      );
    default:
      return error;
  }
}

/**
 * The refusal if another process has locked the folder, else null. A user who starts the same service twice is told
 * about the first one, not about the port it occupies.
 */
export async function heldFolder(storageDir: string | null): Promise<StartRefusal | null> {
  if (storageDir === null || !existsSync(storageDir)) return null;
  try {
    await inLockedFolder(
      storageDir,
      () => undefined,
      async () => undefined,
    );
    return null;
  } catch (error) {
    const failure = openFailure(error, storageDir);
    // A start that gets as far as opening the folder reports anything else that is wrong with it.
    return failure instanceof StartRefusal && failure.kind === 'folder-locked' ? failure : null;
  }
}

/** Why the engine could not be opened on its folder. */
export function openFailure(error: unknown, storageDir: string | null): unknown {
  if (error instanceof StartupError) {
    const { holder, key, file, message, cause } = error;
    if (holder !== null)
      return new StartRefusal('folder-locked', message, { cause: error, owner: holder.address });
    if (key !== null) return new StartRefusal('configuration', message, { cause: error });
    const isDamage = file !== null && cause === undefined;
    return new StartRefusal(isDamage ? 'damaged' : 'failed', message, { cause: error });
  }
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  return new StartRefusal(
    'failed',
    `STORAGE_DIR: the folder ${storageDir ?? ''} cannot be used (${error.message}). No data was lost. ` +
      `${mendingOf(codeOf(error))}, and try again.`,
    { cause: error },
  );
}

function mendingOf(code: unknown): string {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'Make room on its disk';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'Give this user the right to read and write there';
    default:
      return 'Check the disk';
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
