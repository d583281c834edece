/** What went wrong at the start, as a refusal that says what to do. */
import { StartupError } from '../engine/index.ts';
import { StartRefusal } from './start-refusal.ts';

/** Why the port could not be had that the variable `name` sets. */
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
        `${name}: got ${port}, which this user may not listen on; take one from 1024 up.`,
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartRefusal(
        'configuration',
        `HOST: got "${host}", which is no address of this machine; 127.0.0.1 keeps to itself, 0.0.0.0 takes all.`,
        { cause: error },
      );
    default:
      return error;
  }
}

/** Why the engine could not be opened on its folder. */
export function openFailure(error: unknown, storageDir: string | null): unknown {
  if (error instanceof StartupError) {
    const { holder, file, message, cause } = error;
    if (holder !== null)
      return new StartRefusal('folder-locked', message, { cause: error, owner: holder.address });
    const isDamage = file !== null && cause === undefined;
    return new StartRefusal(isDamage ? 'damaged' : 'failed', message, { cause: error });
  }
  const code = codeOf(error);
  if (code === 'EACCES' || code === 'EROFS' || code === 'ENOTDIR' || code === 'ENOSPC')
    return new StartRefusal(
      'failed',
      `STORAGE_DIR: the folder ${storageDir ?? ''} cannot be used (${String((error as Error).message)}).`,
      { cause: error },
    );
  return error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
