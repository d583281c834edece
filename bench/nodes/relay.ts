/** The network of a cluster under measurement: a process that delays what passes between PostgreSQL and nodes. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuSecondsIn } from '../measure.ts';
import type { RelayCommand, RelayPort } from './relay-child.ts';

/** The relays, each a port that leads to another one. */
export class Relays {
  readonly #child: ChildProcess;
  #last: Promise<unknown> = Promise.resolve();

  /** `delayMs`: in each direction. `bundles` is the folder of the benchmark's bundle. */
  constructor(bundles: string, delayMs: number) {
    this.#child = fork(join(bundles, 'nodes-relay-child.js'), [String(delayMs)]);
  }

  /** A new port; connections to it wait until it leads somewhere. */
  listen(): Promise<number> {
    const port = this.#last.then(async () => {
      const told = once(this.#child, 'message') as Promise<[RelayPort]>;
      this.#send({ kind: 'listen' });
      return (await told)[0].port;
    });
    this.#last = port;
    return port;
  }

  /** Says where a port leads. */
  aim(port: number, target: number): void {
    this.#send({ kind: 'aim', port, target });
  }

  /** CPU seconds since its start. */
  cpuSeconds(): number {
    return cpuSecondsIn(readFileSync(`/proc/${this.#child.pid}/stat`, 'latin1'));
  }

  end(): void {
    this.#child.disconnect();
  }

  #send(command: RelayCommand): void {
    this.#child.send(command);
  }
}
