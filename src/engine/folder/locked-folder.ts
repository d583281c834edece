import { systemClock, type Clock } from '../base/clock.ts';
import type { Tallies } from '../datalog/model/rule-tallies.ts';
import type { DatabaseState, State } from '../state/state.ts';
import type { RestoredState } from '../state/state-snapshot.ts';
import type { StorageBackend } from '../log/backend.ts';
import { openFileBackend } from '../log/file-backend.ts';
import { lockFolder } from '../log/lock.ts';

/**
 * What is done to a folder while no service runs on it: verified, repaired, restored, given another key.
 *
 * Each is a function over a backend, so that it can be tried with a disk whose power goes; here it gets the folder's.
 */
export interface FolderTask {
  readonly backend: StorageBackend;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** Told, in words for people, what an operator should know. */
  readonly onWarn: (message: string) => void;
}

/** Runs the task while this process has the lock of the folder, which is made where it does not exist. Rejects with a StartupError where another has it. */
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

/** What a task on these files has to go by. */
export function folderTask(backend: StorageBackend, onWarn: (message: string) => void): FolderTask {
  const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
  return { backend, clock: systemClock, random, onWarn };
}

/** What there is in a state, in figures for people. */
export interface Contents {
  readonly databases: number;
  readonly tenants: number;
  readonly facts: number;
  readonly rules: number;
}

export function contentsOf(state: State): Contents {
  const contents = { databases: state.databases.size, tenants: 0, facts: 0, rules: 0 };
  for (const { tenants, rules, generation } of state.databases.values()) {
    contents.tenants += tenants.size;
    contents.rules += rules.size;
    for (const { facts } of tenants.values()) contents.facts += facts.countStored(generation, state.time);
  }
  return contents;
}

/** How often rules had concluded something when the state was read; nothing where that is not known. */
export function talliesOf({ tallies }: RestoredState): (database: DatabaseState) => Tallies {
  return (database) => tallies.get(database) ?? new Map();
}

/** For a task that nothing else waits for. */
export async function noPause(): Promise<void> {
  // A state that is read or written with nobody else there need not make way.
}
