/** A log over a simulated store that cannot tell at once whether it stored a frame. */
import { onTestFinished } from 'vitest';
import { GroupCommit } from '../log/group-commit.ts';
import { StatementFailed } from '../log/postgres-connection.ts';
import { PostgresStore, type RemoteLog } from '../log/postgres-store.ts';
import { Prng } from './prng.ts';
import { SimulatedServer } from './simulated-log.ts';

/** The log, and what its store does. */
export interface DoubtfulLog {
  readonly log: GroupCommit;
  /** The next append is carried out or not, and not answered; then the server is silent. */
  fail(carriedOut: boolean): void;
  /** Lets the server be asked again. */
  answer(): void;
  /** Another node takes the log, and is gone. */
  lose(): void;
}

/** Opens it; closed when the test has finished. */
export async function doubtfulLog(): Promise<DoubtfulLog> {
  const server = new SimulatedServer(new Prng(1), 0);
  let silence: Promise<void> | null = null;
  let answer = (): void => {};
  let failing: { readonly carriedOut: boolean } | null = null;
  const real = server.log(() => silence ?? Promise.resolve());
  const remote: RemoteLog = {
    ...real,
    append: async (frame, last) => {
      if (failing === null) return real.append(frame, last);
      if (failing.carriedOut) await real.append(frame, last);
      failing = null;
      silence = new Promise((resolve) => {
        answer = resolve;
      });
      throw new StatementFailed('unknown', 'the connection broke', '');
    },
  };
  const node = {
    id: 'node',
    trouble: null,
    clockSkewMs: 0,
    writesVersion: 99,
    close: () => Promise.resolve(),
  };
  const nothing = (): void => {};
  const random = (bytes: number): Uint8Array => new Uint8Array(bytes);
  const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const told = { onWarn: nothing, onAppend: nothing };
  const store = await PostgresStore.take(remote, node, { key: null, now: () => 0, random, pause, ...told });
  if (store === null) throw new Error('the log can be had');
  const log = new GroupCommit(store, { doubtMs: 1 });
  onTestFinished(() => log.close());
  return {
    log,
    answer: () => answer(),
    lose: () => {
      server.row = { ...server.row, epoch: server.row.epoch + 1, owner: 'another node' };
    },
    fail: (carriedOut) => {
      failing = { carriedOut };
    },
  };
}
