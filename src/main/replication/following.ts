/**
 * A running follower: the engine's replica, the connection to the leader, and the loop that takes the steps.
 *
 * What a step does is in `engine/replication/follower.ts`; this module decides when, until the service ends.
 */
import { hostname } from 'node:os';
import { setTimeout as resolveAfter } from 'node:timers/promises';
import {
  type Engine,
  Follower,
  type FollowerStatus,
  type LeaderConnection,
  present,
  ReplicationError,
} from '../../engine/index.ts';

interface FollowingSettings {
  readonly leaderUrl: string;
  readonly apiKey: string | null;
  readonly pollIntervalMs: number;
  /** The port of this service: it tells followers on one machine apart. */
  readonly port: number;
}

interface FollowingHost {
  readonly onWarn: (message: string) => void;
  readonly onInfo: (message: string) => void;
  readonly onBug: (error: unknown) => void;
  /** Called once there is something to serve. */
  readonly onServing: () => void;
}

/** Runs a follower until it is closed. */
export class FollowerLoop {
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

  /** Resolves when no step is running and none will follow. */
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
      // An aborted pause is the end, which the loop checks.
      if (pauseMs > 0) await resolveAfter(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}

/** A leader and the credential for it. */

interface LeaderAddress {
  readonly url: string;
  /** The credential sent to it; null: none needed. */
  readonly key: string | null;
  /** The name of this follower. */
  readonly follower: string;
}

/** How long the leader may be silent, in milliseconds: before it answers, and between two chunks of the answer. */
interface Patience {
  readonly answerMs: number;
  /** The leader may have to write the snapshot first. */
  readonly snapshotMs: number;
  readonly silenceMs: number;
}

const defaultPatience: Patience = { answerMs: 15_000, snapshotMs: 300_000, silenceMs: 30_000 };

/**
 * Connects to the leader over HTTP. `signal` aborts everything.
 *
 * Every wait is bounded: for the connection, and for the next byte of an answer, which is read as fast as it is stored
 * and no faster. Errors say what to do. No error contains the key, and no other address gets it, whatever the leader
 * answers.
 */
function connectToLeader(
  leader: LeaderAddress,
  signal: AbortSignal,
  patience: Patience = defaultPatience,
): LeaderConnection {
  const base = leader.url.replace(/\/+$/, '');
  const named = `follower=${encodeURIComponent(leader.follower)}`;
  const ask = (path: string, answerMs: number): AsyncIterable<Uint8Array> =>
    answerOf(`${base}${path}`, leader.key, signal, { ...patience, answerMs });
  return {
    records: (after) => ask(`/replication/wal?after=${after}&${named}`, patience.answerMs),
    snapshot: () => ask(`/replication/snapshot?${named}`, patience.snapshotMs),
  };
}

async function* answerOf(
  address: string,
  key: string | null,
  signal: AbortSignal,
  { answerMs, silenceMs }: Patience,
): AsyncGenerator<Uint8Array, void, undefined> {
  const silence = new Silence();
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  try {
    silence.allow(answerMs);
    const both = AbortSignal.any([signal, silence.signal]);
    const response = await fetch(address, { headers, redirect: 'manual', signal: both });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw refusal(response.status);
    }
    if (response.body === null) return;
    silence.allow(silenceMs);
    for await (const chunk of response.body) {
      silence.pause();
      yield chunk;
      silence.allow(silenceMs);
    }
  } catch (error) {
    throw error instanceof ReplicationError ? error : awayFor(error, silence.signal.aborted);
  } finally {
    silence.pause();
  }
}

/** Aborts after too long a silence. */
class Silence {
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  allow(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), ms);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }
}

function refusal(status: number): ReplicationError {
  if (status === 401)
    return new ReplicationError(
      'refused',
      'the leader does not take the credential (401): set REPLICATION_API_KEY to a key of it with the role replica',
    );
  if (status === 403)
    return new ReplicationError(
      'refused',
      'the leader refuses this follower (403): REPLICATION_API_KEY must be a key of it with the role replica or admin, ' +
        'without restrictions, and the leader must allow the host name of LEADER_URL',
    );
  if (status === 429 || status >= 500)
    return new ReplicationError('away', `the leader cannot answer now (${status})`);
  return new ReplicationError(
    'refused',
    `the server at LEADER_URL is not a leader of this version (${status}): name the address of the leader itself`,
  );
}

function awayFor(error: unknown, isSilent: boolean): ReplicationError {
  if (isSilent) return new ReplicationError('away', 'the leader does not respond', { cause: error });
  const code = codeOf(error) ?? codeOf((error as { cause?: unknown }).cause);
  const why =
    code === null ? 'the connection to the leader broke off' : `the leader cannot be reached (${code})`;
  return new ReplicationError('away', why, { cause: error });
}

function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
}
