import { systemClock, type Clock } from '../base/clock.ts';
import type { Tallies } from '../datalog/model/program.ts';
import type { DatabaseState, State } from '../state/state.ts';
import type { RestoredState } from '../state/state-snapshot.ts';
import type { StorageBackend } from '../log/backend.ts';
import { openFileBackend } from '../log/file-backend.ts';
import { lockFolder } from '../log/lock.ts';

/**
 * The context of a task on a folder while no service runs on it: verify, repair, restore or convert.
 *
 * Each task is a function over a storage backend, so that tests can run it on a simulated disk with power cuts; here it
 * gets the real folder.
 */
export interface FolderTask {
  readonly backend: StorageBackend;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** Receives warnings for the operator, in plain language. */
  readonly onWarn: (message: string) => void;
}

/**
 * Runs a task while this process holds the folder's lock; creates the folder if needed. Rejects with a StartupError if
 * another process holds the lock.
 */
export async function inLockedFolder<Result>(
  storageDir: string,
  onWarn: (message: string) => void,
  run: (task: FolderTask) => Promise<Result>,
): Promise<Result> {
  const backend = await openFileBackend(storageDir);
  const lock = await lockFolder(storageDir, { now: () => systemClock.now(), onWarn });
  try {
    return await run(folderTask(backend, onWarn));
  } finally {
    await lock.release();
  }
}

/** The context of a task on these files. */
export function folderTask(backend: StorageBackend, onWarn: (message: string) => void): FolderTask {
  const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
  return { backend, clock: systemClock, random, onWarn };
}

/** The contents of a state, in numbers. */
export interface Contents {
  readonly databases: number;
  readonly tenants: number;
  readonly facts: number;
  readonly rules: number;
}

/** Counts the contents of a state. */
export function contentsOf(state: State): Contents {
  const contents = { databases: state.databases.size, tenants: 0, facts: 0, rules: 0 };
  for (const { tenants, rules, generation } of state.databases.values()) {
    contents.tenants += tenants.size;
    contents.rules += rules.size;
    for (const { facts } of tenants.values()) contents.facts += facts.countStored(generation, state.time);
  }
  return contents;
}

/** How often rules had fired when the state was written; empty if unknown. */
export function talliesOf({ tallies }: RestoredState): (database: DatabaseState) => Tallies {
  return (database) => tallies.get(database) ?? new Map();
}

/** The pause of tasks that no other work waits for. */
export async function noPause(): Promise<void> {
  // Nothing else runs, so there is nothing to yield to.
}
