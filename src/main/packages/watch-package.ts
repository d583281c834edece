/**
 * Runs something whenever a file of a package has changed.
 *
 * It compares what it sees of all files from time to time, which works on every file system and misses no change: what a
 * run was made of is looked at before the run, so a change during it leads to another one.
 */
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PackageFailure } from './package-failure.ts';
import { knowledgeFilesIn, settingsFile } from './package-folder.ts';

/** Milliseconds between two looks; looking takes at most a twentieth of the time. */
const betweenLooksMs = 200;
const restFactor = 20;

/**
 * Runs `run` at once, and again when files have changed and then stayed the same for one look, until the signal. Resolves
 * after the last run.
 */
export async function watchPackage(
  folder: string,
  signal: AbortSignal,
  run: () => Promise<void>,
): Promise<void> {
  let tested: string | null = null;
  let before: string | null = null;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const now = await looked(folder);
    const tookMs = performance.now() - startedAt;
    if (tested === null || (now !== tested && now === before)) {
      tested = now;
      await run().catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
    before = now;
    // Ends early with the signal.
    await wait(Math.max(betweenLooksMs, tookMs * restFactor), undefined, { signal }).catch(() => {});
  }
}

/** What tells whether a file has changed, of all files; the failure if they cannot be listed. */
async function looked(folder: string): Promise<string> {
  try {
    const root = await realpath(folder);
    const seen: string[] = [];
    for (const path of [settingsFile, ...(await knowledgeFilesIn(root))])
      seen.push(await stateOf(root, path));
    return seen.join('\n');
  } catch (error) {
    if (error instanceof PackageFailure || (error instanceof Error && 'code' in error)) return error.message;
    throw error;
  }
}

async function stateOf(root: string, path: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, size, ino } = await lstat(join(root, path), { bigint: true });
    return `${path} ${mtimeNs} ${ctimeNs} ${size} ${ino}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return `${path} ${String(error.code)}`;
    throw error;
  }
}
