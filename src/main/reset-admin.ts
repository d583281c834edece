/**
 * `--reset-admin`: revokes all admin keys of a folder, for who has lost the last one.
 *
 * Whoever may write the folder may do this; nobody else is asked. The folder's lock is taken, so it is refused while a
 * service runs on it. Other keys stay as they are.
 */
import { existsSync } from 'node:fs';
import { type Caller, openEngine } from '../engine/index.ts';
import type { Config } from './config.ts';
import { anonymous } from './identity.ts';
import { openFailure } from './start-failure.ts';
import { StartRefusal } from './start-refusal.ts';

/** What was done, in lines for people. Refuses with a StartRefusal. */
export async function resetAdminKeys(
  { storageDir, fsync, apiKey }: Pick<Config, 'storageDir' | 'fsync' | 'apiKey'>,
  onWarn: (message: string) => void,
): Promise<string[]> {
  if (storageDir === null || !existsSync(storageDir))
    throw new StartRefusal(
      'configuration',
      `STORAGE_DIR: got ${JSON.stringify(storageDir ?? '')}, where there is no folder; takes the one whose admin keys are to be revoked`,
    );
  const engine = await openEngine({ storageDir, fsync, onWarn }).catch((error: unknown) => {
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
      'The next start with AUTH_ENABLED=true has the bootstrap open: POST /auth/bootstrap.',
      ...(apiKey === null ? [] : ['API_KEY is set, and stays an admin key.']),
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
    signal: new AbortController().signal,
  };
}
