/**
 * A follower at work: the engine's replica, the way to the leader, and the one loop that takes step after step.
 *
 * What a step does is the follower's (`engine/replication/follower.ts`); here is when, until the service ends.
 */
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type { Engine, FollowerStatus } from '../../engine/index.ts';
import { Follower, present } from '../../engine/index.ts';
import { connectToLeader } from './leader-connection.ts';

export interface FollowingSettings {
  readonly leaderUrl: string;
  readonly apiKey: string | null;
  readonly pollIntervalMs: number;
  /** Where this service listens: it tells followers of one machine apart. */
  readonly port: number;
}

export interface FollowingHost {
  readonly onWarn: (message: string) => void;
  readonly onInfo: (message: string) => void;
  readonly onBug: (error: unknown) => void;
  /** There is something to serve from now on. */
  readonly onServing: () => void;
}

export class Following {
  readonly #follower: Follower;
  readonly #host: FollowingHost;
  readonly #ending = new AbortController();
  readonly #ended: Promise<void>;

  constructor(engine: Engine, settings: FollowingSettings, host: FollowingHost) {
    const { leaderUrl: url, apiKey: key, pollIntervalMs, port } = settings;
    this.#host = host;
    this.#follower = new Follower({
      replica: present(engine.replica, 'an engine that follows has a replica'),
      leader: connectToLeader({ url, key, follower: `${hostname()}:${port}` }, this.#ending.signal),
      now: Date.now,
      pollIntervalMs,
      onWarn: host.onWarn,
      onInfo: host.onInfo,
      onBug: host.onBug,
    });
    this.#ended = this.#run();
  }

  status(): FollowerStatus {
    return this.#follower.status();
  }

  /** Resolves when no step is under way any more, and none follows. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    let isServing = false;
    while (!signal.aborted) {
      const pauseMs = await this.#follower.step();
      if (!isServing && this.#follower.canServe) {
        isServing = true;
        this.#host.onServing();
      }
      // An aborted pause is the end, which the loop looks at.
      if (pauseMs > 0) await setTimeout(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
