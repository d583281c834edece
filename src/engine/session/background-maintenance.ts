import { TextSet } from '../base/text-map.ts';
import { compareText } from '../base/text-order.ts';
import { lostAmong } from './dependents.ts';
import { EngineError } from '../base/errors.ts';
import { tupleAt, Tuples } from '../store/tuples.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';
import { maxChangesPublished, type Origin } from './change-feed.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { Candidates } from '../datalog/model/known-conclusions.ts';
import { sees } from '../datalog/model/reader.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import type { Batch, Claim } from '../datalog/maintain/withdrawals.ts';

/** What background maintenance needs from the live state. */
interface BackgroundMaintenanceHost {
  /** A reader of the tenant's current state. */
  readonly pin: () => PinnedReader;
  /** Publishes withdrawn conclusions, sorted; null: too many to list. */
  readonly publish: (atoms: readonly string[] | null, origin: Origin) => void;
  /** Called when all changes are taken in and published as far as needed. */
  readonly settled: () => void;
  /** Receives internal errors that no caller sees: bugs. */
  readonly onBug: (error: unknown) => void;
}

/** Limits of the check of doubtful rows; those of a question without limits of its own. */
const limits = { timeoutMs: 10_000, maxDerivations: 10_000_000 };
/** Pause between two runs, in milliseconds. */
const minRestMs = 1;
const maxRestMs = 1000;

/**
 * Maintains one tenant's shared tables incrementally in the background after changes, and publishes the withdrawn
 * conclusions.
 *
 * At most one run is active. It starts after the turn of a change, takes in all changes so far, and then pauses for as
 * long as it worked, since questions and writes come first; a question that needs the tables earlier maintains them at
 * once. Each lost conclusion is published once, with the newest change taken in, unless a retraction reports it itself.
 */
export class BackgroundMaintenance {
  readonly #reasoner: Reasoner;
  readonly #host: BackgroundMaintenanceHost;
  readonly #ending = new AbortController();
  /** The origins of changes not yet published, by the version that each created; ascending. */
  #origins: { readonly version: number; readonly origin: Origin }[] = [];
  #running: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** Earliest start of the next run, by `performance.now()`. */
  #nextRunAt = 0;

  constructor(reasoner: Reasoner, host: BackgroundMaintenanceHost) {
    this.#reasoner = reasoner;
    this.#host = host;
    reasoner.onLeft = () => this.wake();
  }

  /** Call it in the turn of a change, after notifying the reasoner. */
  changed(origin: Origin): void {
    this.#origins.push({ version: this.#reasoner.version, origin });
    if (this.#isIdle) this.#forgetOrigins();
    else this.wake();
  }

  /** Schedules a run. */
  wake(): void {
    if (this.#timer !== null || this.#running !== null || this.#ending.signal.aborted || this.#isIdle) return;
    const rest = Math.max(0, this.#nextRunAt - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#begin();
    }, rest);
    // Changes still unpublished when the process ends are never published.
    this.#timer.unref();
  }

  /** Ends the current run; resolves when it has ended. */
  async close(): Promise<void> {
    this.#ending.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#reasoner.endMaintenance();
    await this.#running;
  }

  /** True if a run would find nothing to do. */
  get #isIdle(): boolean {
    const { isBehind, isInUse, withdrawals } = this.#reasoner;
    return !withdrawals.isReady && (!isBehind || isInUse);
  }

  #begin(): void {
    const startedAt = performance.now();
    this.#running = this.#run()
      .catch((error: unknown) => {
        if (!this.#ending.signal.aborted) this.#host.onBug(error);
      })
      .finally(() => {
        this.#running = null;
        const now = performance.now();
        this.#nextRunAt = now + Math.min(Math.max(now - startedAt, minRestMs), maxRestMs);
        this.wake();
      });
  }

  async #run(): Promise<void> {
    const pacer = this.#reasoner.pacer({
      timeoutMs: Number.POSITIVE_INFINITY,
      maxDerivations: Number.POSITIVE_INFINITY,
      signal: this.#ending.signal,
    });
    const reader = this.#host.pin();
    await this.#reasoner.catchUp(reader, pacer);
    // The tenant may have been removed meanwhile.
    this.#ending.signal.throwIfAborted();
    const lost = await this.#lookAtDoubtful();
    this.#ending.signal.throwIfAborted();
    await this.#publish(lost, pacer);
    this.#ending.signal.throwIfAborted();
    this.#host.settled();
  }

  /** Those of the doubtful rows that are no longer true; null: too many may be gone. */
  async #lookAtDoubtful(): Promise<Candidates[] | null> {
    const { withdrawals } = this.#reasoner;
    const reader = this.#host.pin();
    if (withdrawals.isHeld || !this.#reasoner.isShared(reader)) return [];
    const candidates = withdrawals.takeDoubtful();
    if (candidates === null || candidates.length === 0) return candidates;
    try {
      const pacer = this.#reasoner.pacer({ ...limits, signal: this.#ending.signal });
      return await lostAmong(this.#reasoner, reader, candidates, pacer);
    } catch (error) {
      if (error instanceof EngineError) return null;
      throw error;
    }
  }

  async #publish(doubtful: Candidates[] | null, pacer: Pacer): Promise<void> {
    const { withdrawals, validThrough } = this.#reasoner;
    const { batches, claims } = withdrawals.take(validThrough);
    const isTooMuch = doubtful === null || batches.some(({ losses }) => losses === null);
    const found = [
      ...batches.map((batch) => ({ batch, lost: batch.losses?.candidates() ?? [] })),
      ...(doubtful ?? []).map((each) => ({
        batch: { from: -1, to: validThrough, losses: null },
        lost: [each],
      })),
    ].filter(({ lost }) => lost.length > 0);
    // In this turn, since the next write may remove the dead rows of retracted facts.
    const looked = found.map(({ batch, lost }) => ({
      batch,
      lost,
      stored: this.#storedThatWent(batch, lost),
    }));
    const atoms = isTooMuch ? null : await this.#atomsOf(looked, claims, pacer);
    this.#ending.signal.throwIfAborted();
    const origin = this.#originAt(validThrough);
    if (origin !== null && (atoms === null || atoms.length > 0)) this.#host.publish(atoms, origin);
    withdrawals.forgetThrough(validThrough);
    this.#forgetOrigins();
  }

  /** The atoms to publish, sorted; null: too many to list. */
  async #atomsOf(
    found: readonly { readonly batch: Batch; readonly lost: Candidates[]; readonly stored: Stored }[],
    claims: readonly Claim[],
    pacer: Pacer,
  ): Promise<string[] | null> {
    const { dictionary } = this.#reasoner.facts;
    const atoms = new TextSet();
    for (const { batch, lost, stored } of found)
      for (const each of lost) {
        const tuple = new Int32Array(each.arity);
        for (let row = 0; row < each.count; row++) {
          if ((row & 0xff) === 0xff) await pacer.breathe();
          tupleAt(each.rows, row, tuple);
          if ((stored.get(each.relation)?.find(tuple) ?? -1) >= 0 || this.#reasoner.holds(each, tuple))
            continue;
          const args = Array.from(tuple, (id) => dictionary.text(id));
          const atom = renderAtom({ predicate: each.predicate, args, negated: each.negated });
          if (claims.some((claim) => claim.version > batch.from && claim.atoms.has(atom))) continue;
          atoms.add(atom);
          if (atoms.size > maxChangesPublished) return null;
        }
      }
    return [...atoms].sort(compareText);
  }

  /** The stored facts that went with the batch, in the relations of the lost rows; they are published as facts. */
  #storedThatWent({ from, to }: Batch, lost: readonly Candidates[]): Stored {
    const found: Stored = new Map(lost.map(({ relation, arity }) => [relation, new Tuples(arity)]));
    const reader = this.#host.pin();
    for (const number of this.#reasoner.withdrawals.changedBetween(from, to)) {
      const { relation, row } = this.#reasoner.facts.versionOf(number);
      const tuples = found.get(relationKey(relation.predicate, relation.arity, relation.negated));
      if (tuples === undefined || row < 0 || sees(reader, relation, row)) continue;
      tuples.insert(tupleAt(relation, row, new Int32Array(relation.arity)));
    }
    return found;
  }

  /** The newest change up to this version. */
  #originAt(version: number): Origin | null {
    return this.#origins.findLast((each) => each.version <= version)?.origin ?? null;
  }

  /** Forgets published changes, except the newest: a question may still find that it withdrew something. */
  #forgetOrigins(): void {
    const newest = this.#origins.findLastIndex(({ version }) => version <= this.#reasoner.validThrough);
    if (newest > 0) this.#origins = this.#origins.slice(newest);
  }
}

/** Tuples of stored facts by relation. */
type Stored = Map<string, Tuples>;
