/**
 * `--reset-admin`: revokes all admin keys of a folder, for a user who has lost the last one.
 *
 * Whoever may write the folder may run it; there is no other authentication. It takes the folder's lock, so it is
 * refused while a service runs on it. Other keys stay as they are. The keys of a follower belong to its leader and are
 * revoked there: a follower's folder is refused, and goes on following.
 */
import { existsSync } from 'node:fs';
import { type Caller, isFollowersFolder, openEngine } from '../../engine/index.ts';
import type { Config } from '../base/config.ts';
import { anonymous } from '../base/dispatch.ts';
import { openFailure } from '../base/start-failure.ts';
import { StartRefusal } from '../base/start-refusal.ts';

/** Revokes the keys and returns lines for people. Refuses with a StartRefusal. */
export async function resetAdminKeys(
  config: Pick<Config, 'storageDir' | 'encryptionKey' | 'fsync' | 'apiKey'>,
  onWarn: (message: string) => void,
): Promise<string[]> {
  const { storageDir, encryptionKey, fsync, apiKey } = config;
  if (storageDir === null || !existsSync(storageDir))
    throw new StartRefusal(
      'configuration',
      `STORAGE_DIR: got ${JSON.stringify(storageDir ?? '')}, where there is no folder; takes the one whose admin keys are to be revoked`,
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
