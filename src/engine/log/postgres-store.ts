/**
 * The frames and snapshots of a log in PostgreSQL.
 *
 * Invariant: this node appends only to the end that it has applied, under the epoch of its own last take, so a frame is
 * stored once, and none after another node took the log. What it cannot know it asks the server: after a statement whose
 * answer was lost it takes the log again, which ends every earlier attempt, and looks. Fenced, or after the end that it
 * had applied was lost, the node becomes a copy in the same turn, and appends nothing until it takes the log again. Payloads
 * are sealed under a data key of the epoch; log, epoch and sequence are authenticated with them.
 */
import { randomUUID } from 'node:crypto';
import { assert, present } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import {
  type FileSealing,
  type FolderKey,
  type Opener,
  plainFile,
  plainOpener,
  sealingOf,
} from './cipher.ts';
import { encodeFrame, frameBytes, type LogRecord, recordChecksum, SALT_BYTES } from './codec.ts';
import { type FrameStore, noOwner, outcomeUnknown, type StoreSizes, type WriteLoop } from './frame-store.ts';
import { frameRecords, type StoredRecords } from './log-reader.ts';
import { storeChunks, storedPieces } from './postgres-chunks.ts';
import { StatementFailed } from './postgres-connection.ts';
import { checksumOf, damagedStore, epochHead, frameHead } from './postgres-heads.ts';
import type { LogRow, PostgresLog, SnapshotRow, StoredFrame } from './postgres-log.ts';
import { type Branch, type Group, unavailable } from './segment-writer.ts';
import type { SharedFrame, SharedPosition, SharedStore, SharedTotals } from './shared-store.ts';
import { encodeSnapshotHeader, snapshotSections } from './snapshot-codec.ts';
import type { Snapshot, SnapshotCopy } from './snapshot-reader.ts';
import type { SnapshotPart } from './snapshot-writer.ts';

/** The statements on one log, or a simulation of them. */
export type RemoteLog = Pick<PostgresLog, keyof PostgresLog>;

/** The node that a store belongs to, as far as the store sees it. */
export interface StoreNode {
  readonly id: string;
  /** Why the node can store nothing at present, in plain language; null: as far as it knows it can. */
  readonly trouble: string | null;
  /** By how much this machine's clock is ahead of the server's, in milliseconds; 0: it is within what a look can tell. */
  readonly clockSkewMs: number;
  /** The highest version of operations that all living nodes of the store read, as of the last beat. */
  readonly writesVersion: number;
}

/** What a store needs. */
export interface PostgresStoreOptions {
  /** Encrypts payloads; null: no encryption. */
  readonly key: FolderKey | null;
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
  /** Receives the duration of each append, in milliseconds, and its number of records. */
  readonly onAppend: (elapsedMs: number, records: number) => void;
  /** Waits before the store is asked again. */
  readonly pause: () => Promise<void>;
  /** Called when the store is closed. */
  readonly closed?: (store: PostgresStore) => void;
}

/** A frame may be larger than a group commit's limit by one append; the server takes it in one message. */
const MAX_APPEND_BYTES = 48 * 1024 * 1024;
/** Attempts of an append that finds another epoch of its own, or that the server asks to repeat. */
const MAX_TRIES = 5;
/** In place of a frame's checksum; checksums are not negative. */
const UNKNOWN = -1;
const SECTIONS = ['state', 'observed'] as const;

/** The store over a log that this node has taken, or holds a copy of. */
export class PostgresStore implements FrameStore {
  readonly isRemote = true;
  readonly fsync = 'always';
  readonly maxAppendBytes = MAX_APPEND_BYTES;
  readonly isEncrypted: boolean;
  readonly shared: SharedStore;
  readonly #log: RemoteLog;
  readonly #node: StoreNode;
  readonly #options: PostgresStoreOptions;
  readonly #openers = new Map<number, Opener>();
  #sealing: FileSealing = plainFile;
  /** The log as of this node's last take or look; its end is the end of what this node has applied. */
  #row: LogRow;
  #role: 'owner' | 'copy' = 'copy';
  #term = 0;
  /** What this node had applied is gone from the log: its next take begins a new history. */
  #isEndLost = false;
  /** What this node had applied is no part of the log. */
  #mustRestart = false;
  /** End of the last frame that was read. */
  #read: SharedFrame['end'] | null = null;
  /** Why the last append failed; null: it did not. */
  #failure: string | null = null;
  /** The frame whose outcome is unknown. */
  #doubtful: StoredFrame | null = null;
  #snapshots: readonly SnapshotRow[] = [];
  #sizes = { all: 0, uncovered: 0, atSegment: 0 };
  #commits = 0;
  #loop: WriteLoop | null = null;
  #totals = { fenced: 0, inDoubt: 0, endsLost: 0 };
  #isClosed = false;

  private constructor(log: RemoteLog, node: StoreNode, row: LogRow, options: PostgresStoreOptions) {
    this.#log = log;
    this.#node = node;
    this.#row = row;
    this.#options = options;
    this.isEncrypted = options.key !== null;
    this.shared = this.#shared();
  }

  /**
   * Takes the log for the node; null: another node that is alive has it. Rejects with a StatementFailed, or with a
   * StartupError if what is stored is damaged.
   */
  static async take(
    log: RemoteLog,
    node: StoreNode,
    options: PostgresStoreOptions,
  ): Promise<PostgresStore | null> {
    const store = new PostgresStore(log, node, await log.row(), options);
    if (!(await store.#take())) return null;
    store.#become();
    await store.#refresh();
    return store;
  }

  /** The store of a copy, which has applied nothing yet. Rejects like `take`. */
  static async copy(log: RemoteLog, node: StoreNode, options: PostgresStoreOptions): Promise<PostgresStore> {
    const store = new PostgresStore(log, node, await log.row(), options);
    await store.#refresh();
    return store;
  }

  get branch(): Branch {
    return { historyId: this.#row.history, epoch: this.#row.epoch, parent: null };
  }

  get firstSequence(): number {
    return this.#row.firstSequence;
  }

  get lastSequence(): number {
    return this.#row.lastSequence;
  }

  /** A copy stores nothing. */
  get latched(): EngineError | null {
    return this.#role === 'owner' ? null : noOwner('Another node has the log, and this one holds a copy.');
  }

  /** Of a copy, whether it can reach the server. */
  status(): 'ready' | 'failed' {
    return this.#failure !== null || this.#node.trouble !== null ? 'failed' : 'ready';
  }

  sizes(): StoreSizes {
    const { all, uncovered } = this.#sizes;
    const snapshotBytes = this.#snapshots[0]?.bytes ?? 0;
    const history = { bytes: 0, snapshots: 0, segments: 0, since: this.#snapshots[0]?.time ?? null };
    return {
      syncs: this.#commits,
      segments: 0,
      storedBytes: all,
      uncoveredBytes: uncovered,
      snapshotBytes,
      history,
    };
  }

  attach(loop: WriteLoop): void {
    this.#loop = loop;
  }

  due(): null {
    return null;
  }

  async append(group: Group): Promise<number> {
    if (this.latched !== null) throw this.latched;
    const { trouble } = this.#node;
    if (trouble !== null) throw noOwner(trouble);
    const startedAt = performance.now();
    for (let tries = 1; ; tries++) {
      const frame = this.#sealed(group);
      try {
        if (await this.#log.append(frame, this.#row.lastSequence)) {
          this.#options.onAppend(performance.now() - startedAt, group.count);
          return this.#advance(frame);
        }
        if (this.latched !== null) throw this.latched;
        await this.#takeAgain();
      } catch (error) {
        const again = error instanceof StatementFailed && /^(40001|40P01)$/.test(error.code);
        if (!again || tries === MAX_TRIES) throw this.#notStored(error, frame);
      }
      if (tries === MAX_TRIES) throw noOwner('The log was taken again and again.');
    }
  }

  async settle(): Promise<number | null> {
    const frame = present(this.#doubtful, 'an append is in doubt');
    for (;;) {
      try {
        const settled = await this.#look(frame);
        if (settled !== 'unknown') {
          this.#doubtful = null;
          return settled;
        }
      } catch (error) {
        if (!(error instanceof StatementFailed)) throw error;
        this.#fail(error);
      }
      await this.#options.pause();
      if (this.#isClosed) throw outcomeUnknown();
    }
  }

  async confirm(): Promise<number> {
    if (this.latched !== null) throw this.latched;
    const { owner, lastSequence } = await this.#log.endNow().catch((error: unknown) => {
      throw noOwner('PostgreSQL cannot be asked whether this answer is the latest.', error);
    });
    if (owner !== this.#node.id && !this.#isClosed) throw this.#demoted(taken);
    return lastSequence;
  }

  async *read(after: number): AsyncGenerator<LogRecord, void, undefined> {
    for await (const { frame, payload } of this.#frames(after)) {
      const { first: firstSequence, count } = frame;
      const fail = (what: string): Error => damagedStore(what, firstSequence);
      for (const record of frameRecords({ firstSequence, count }, payload, fail))
        if (record.sequence > after) yield record;
    }
  }

  async *readStored(after: number): AsyncGenerator<StoredRecords, void, undefined> {
    for await (const { frame, payload } of this.#frames(after))
      yield { firstSequence: frame.first, count: frame.count, lines: payload };
  }

  async checksumAt(sequence: number): Promise<number | null> {
    const [newest] = this.#snapshots;
    if (newest?.sequence === sequence) return newest.checksum;
    if (sequence < this.firstSequence || sequence > this.lastSequence) return null;
    for await (const { frame, payload } of this.#frames(sequence - 1))
      return recordChecksum(payload, sequence - frame.first);
    return null;
  }

  snapshot(): Snapshot | null {
    return this.#snapshots[0] ?? null;
  }

  /** The snapshots that the store has, the newest first. */
  storedSnapshots(): readonly (Snapshot & Pick<FrameStore, 'readSnapshot'>)[] {
    return this.#snapshots.map((row) => ({ ...row, readSnapshot: (section) => this.#pieces(row, section) }));
  }

  async *readSnapshot(section: SnapshotPart['section']): AsyncGenerator<Uint8Array, void, undefined> {
    yield* this.#pieces(present(this.#snapshots[0], 'there is a snapshot'), section);
  }

  /** The frames behind the newest snapshot are no history: they are trimmed as it suits the store. */
  retained(): Promise<never> {
    return Promise.reject(
      new EngineError(
        'HistoryGone',
        'with STORE_URL the past is not retained: ask about the present, or use asOf',
      ),
    );
  }

  eraseHistory(): void {
    // There is none; see `retained`.
  }

  async resumeErasing(): Promise<void> {
    // There is none; see `retained`.
  }

  rewriteHistoryBy(): void {
    // There is none; see `retained`.
  }

  /** As a file that a folder can be restored from. Two later snapshots remove what it reads. */
  async copySnapshot(): Promise<SnapshotCopy> {
    const row = present(this.#snapshots[0], 'there is a snapshot');
    const { key, random } = this.#options;
    const salt = random(SALT_BYTES);
    const sealing = sealingOf(key, salt, random);
    const { historyId, epoch } = this.branch;
    const { sequence, time, checksum, createdAt } = row;
    const covered = { sequence, time, checksum, createdAt, historyId, epoch, parent: null };
    const head = encodeSnapshotHeader({ ...covered, segment: 0, isAlone: true, salt }, sealing);
    const overhead = this.#sealing.sealer.overhead;
    let bytes = head.length + frameBytes(1 + sealing.sealer.overhead);
    for (const section of SECTIONS)
      for (const stored of await this.#log.chunkBytes(row.attempt, snapshotSections[section]))
        bytes += frameBytes(stored - overhead + sealing.sealer.overhead);
    const pieces = (section: SnapshotPart['section']): AsyncGenerator<Uint8Array> =>
      this.#pieces(row, section);
    return {
      sequence,
      bytes,
      pieces: async function* () {
        yield head;
        let end = head.length;
        let number = 0;
        const frameOf = (section: number, payload: Uint8Array): Uint8Array => {
          const frame = { flags: 0, historyId, epoch, firstSequence: ++number, count: section };
          const encoded = encodeFrame(salt, end, frame, [payload], sealing.sealer);
          end += encoded.length;
          return encoded;
        };
        for (const section of SECTIONS)
          for await (const piece of pieces(section)) yield frameOf(snapshotSections[section], piece);
        yield frameOf(snapshotSections.end, new Uint8Array([0]));
      },
      close: () => Promise.resolve(),
    };
  }

  async beginSegment(): Promise<void> {
    if (this.latched !== null) throw this.latched;
    this.#sizes.atSegment = this.#sizes.uncovered;
  }

  async putSnapshot(
    { sequence, time }: { readonly sequence: number; readonly time: number },
    parts: AsyncIterable<SnapshotPart>,
    neededAfter: () => number,
  ): Promise<Snapshot> {
    if (this.latched !== null) throw this.latched;
    const { epoch, history } = this.#row;
    const sealing = this.#sealing;
    const attempt = randomUUID();
    const createdAt = this.#options.now();
    try {
      const checksum = await this.checksumAt(sequence);
      const written = await storeChunks(this.#log, attempt, epoch, sealing, parts);
      const row: SnapshotRow = { attempt, epoch, sequence, time, checksum, createdAt, ...written };
      if (!(await this.#log.putSnapshot(this.#node.id, history, row))) throw this.#demoted(taken);
      this.#snapshots = [row, ...this.#snapshots];
    } catch (error) {
      // What remains of it is swept after an hour.
      throw error instanceof StatementFailed ? unavailable(error, 'snapshot') : error;
    }
    this.#sizes.uncovered -= this.#sizes.atSegment;
    await this.#trim(neededAfter());
    return present(this.#snapshots[0], 'it was stored');
  }

  /**
   * Begins an empty log with a snapshot that covers the records of another one up to this sequence. `verify` reads it back
   * before it counts, and rejects if it is not what was meant; nothing of it counts then. Rejects with a StatementFailed, or
   * with NoOwner if another node took the log meanwhile.
   */
  async beginWith(
    of: { readonly sequence: number; readonly time: number; readonly checksum: number | null },
    parts: AsyncIterable<SnapshotPart>,
    verify: (
      readSnapshot: (section: SnapshotPart['section']) => AsyncGenerator<Uint8Array, void, undefined>,
    ) => Promise<void>,
  ): Promise<void> {
    assert(this.lastSequence === 0 && this.#role === 'owner', 'the log is empty, and this node has it');
    const { epoch } = this.#row;
    const attempt = randomUUID();
    const createdAt = this.#options.now();
    const written = await storeChunks(this.#log, attempt, epoch, this.#sealing, parts);
    const row: SnapshotRow = { ...of, attempt, epoch, createdAt, ...written };
    await verify((section) => this.#pieces(row, section));
    if (!(await this.#log.beginWith(this.#node.id, row))) throw this.#demoted(taken);
    this.#snapshots = [row];
    this.#row = {
      ...this.#row,
      firstSequence: of.sequence + 1,
      lastSequence: of.sequence,
      lastChecksum: of.checksum ?? 1,
    };
  }

  /** Closes it and keeps the log, which its node has until it ends or names another owner. */
  leave(): void {
    this.#isClosed = true;
    this.#options.closed?.(this);
  }

  /** The id of the log in its store. */
  get id(): number {
    return this.#log.id;
  }

  /** Gives the log up, so that the next node need not wait. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#options.closed?.(this);
    try {
      if (this.#role === 'owner') await this.#log.release(this.#node.id, this.#row.epoch);
    } catch (error) {
      this.#options.onWarn(`The log could not be given up; its lease ends by itself: ${String(error)}`);
    }
  }

  #shared(): SharedStore {
    const role = (): 'owner' | 'copy' => this.#role;
    const term = (): number => this.#term;
    const trouble = (): string | null => this.#node.trouble;
    const writesVersion = (): number => this.#node.writesVersion;
    const clockSkewMs = (): number => this.#node.clockSkewMs;
    const totals = (): SharedTotals => this.#totals;
    return {
      node: this.#node.id,
      log: this.#log.id,
      get role() {
        return role();
      },
      get term() {
        return term();
      },
      get writesVersion() {
        return writesVersion();
      },
      get trouble() {
        return trouble();
      },
      get clockSkewMs() {
        return clockSkewMs();
      },
      get totals() {
        return totals();
      },
      onDemoted: () => {},
      report: () => ({ staleMs: 0, problem: null }),
      memory: () => ({ usedBytes: null, memoryBytes: null }),
      nodes: () => this.#log.nodes(),
      ownedSince: () => this.#log.beganAt(this.#row.epoch),
      give: (to) => this.#give(to),
      release: (of) => this.#release(of),
      takeBack: (from) => this.#log.give(from, this.#node.id, this.#row.epoch),
      look: () => this.#log.look(),
      continues: (seen) => this.#continues(seen),
      frames: (through) => this.#framesThrough(through),
      reached: ({ sequence, checksum }) => {
        this.#row = { ...this.#row, lastSequence: sequence, lastChecksum: checksum };
      },
      own: (seen) => this.#own(seen),
      restart: async (isLost) => {
        this.#isEndLost ||= isLost;
        this.#mustRestart = true;
        this.#row = await this.#log.row();
        await this.#refresh();
      },
      loaded: (sequence) => {
        this.#mustRestart = false;
        const isRead = this.#read?.sequence === sequence;
        const lastChecksum = isRead ? (this.#read?.checksum ?? UNKNOWN) : UNKNOWN;
        if (sequence !== this.#row.lastSequence)
          this.#row = { ...this.#row, lastSequence: sequence, lastChecksum };
      },
    };
  }

  async #give(to: string): Promise<boolean> {
    if (this.latched !== null) throw this.latched;
    if (!(await this.#log.give(this.#node.id, to, this.#row.epoch))) return false;
    this.#demoted(given);
    return true;
  }

  async #release(of: string): Promise<void> {
    await this.#log.release(of, this.#row.epoch);
    this.#demoted(left);
  }

  async #continues(seen: SharedPosition): Promise<boolean> {
    const { history, epoch, lastSequence, lastChecksum } = this.#row;
    if (this.#mustRestart) return false;
    if (seen.history !== history || seen.lastSequence < lastSequence) return false;
    if (seen.lastSequence === lastSequence)
      return lastChecksum === UNKNOWN || seen.lastChecksum === lastChecksum;
    if (seen.firstSequence > lastSequence + 1) return false;
    if (seen.epoch === epoch || lastSequence === 0) return true;
    const there = lastChecksum === UNKNOWN ? null : await this.#log.checksumOfEnd(lastSequence);
    if (there !== null && there !== lastChecksum) return false;
    this.#row = { ...this.#row, epoch: seen.epoch };
    return true;
  }

  async *#framesThrough(through: number): AsyncGenerator<SharedFrame, void, undefined> {
    const after = this.#row.lastSequence;
    for await (const { frame, payload } of this.#frames(after, through)) {
      const { first: firstSequence, count, checksum } = frame;
      const fail = (what: string): Error => damagedStore(what, firstSequence);
      const records = frameRecords({ firstSequence, count }, payload, fail);
      yield { records, end: { sequence: firstSequence + count - 1, checksum } };
      if (firstSequence + count > through) return;
    }
  }

  async #own(seen: SharedPosition): Promise<boolean> {
    assert(this.#role === 'copy', 'an owner has the log');
    const { lastSequence, lastChecksum } = this.#row;
    if (seen.lastSequence !== lastSequence) return false;
    // Writes wait for both, so they are under way at once.
    const refreshed = this.#refresh();
    refreshed.catch(() => {
      // Awaited below, unless there was no take.
    });
    if (!(await this.#take({ ...this.#row, epoch: seen.epoch }, this.#isEndLost))) return false;
    if (this.#row.lastSequence !== lastSequence) {
      // The last owner appended once more before the take, and nobody can any more: that is applied first.
      this.#row = { ...this.#row, lastSequence, lastChecksum };
      return false;
    }
    if (lastChecksum !== UNKNOWN && this.#row.lastChecksum !== lastChecksum) {
      this.#mustRestart = this.#isEndLost = true;
      this.#totals.endsLost++;
      return false;
    }
    await refreshed;
    this.#become();
    return true;
  }

  #become(): void {
    this.#role = 'owner';
    this.#isEndLost = false;
    this.#failure = null;
    this.#term++;
  }

  /** Reads which snapshots there are, and how much is stored. */
  async #refresh(): Promise<void> {
    this.#snapshots = await this.#log.snapshots();
    this.#sizes = { ...(await this.#log.frameBytes(this.#covered())), atSegment: 0 };
    if (this.#row.firstSequence > this.#covered() + 1)
      throw damagedStore('the records after the newest snapshot are incomplete', this.#covered() + 1);
  }

  /** The outcome of a frame in doubt: its bytes, null if it is not stored and never will be, or still unknown. */
  async #look(frame: StoredFrame): Promise<number | null | 'unknown'> {
    const before = this.#row;
    const row = await this.#log.row();
    const isOurs =
      row.lastSequence === before.lastSequence + frame.count && row.lastChecksum === frame.checksum;
    if (row.owner !== this.#node.id || (!isOurs && wasGivenBack(row, before))) {
      // A later epoch ends every attempt of ours, so what is stored now is all that ever will be.
      const there = await this.#log.frameAt(frame.first);
      this.#demoted(taken);
      return there?.epoch === frame.epoch && there.checksum === frame.checksum ? this.#advance(frame) : null;
    }
    if (!(await this.#take(row))) return 'unknown';
    const { lastSequence, lastChecksum } = this.#row;
    if (lastSequence === before.lastSequence && lastChecksum === before.lastChecksum) return null;
    if (lastSequence === before.lastSequence + frame.count && lastChecksum === frame.checksum) {
      this.#row = { ...this.#row, lastSequence: before.lastSequence };
      return this.#advance(frame);
    }
    throw this.#demoted(cutOff);
  }

  /** After an append that changed nothing: goes on if the log is still this node's and ends where it was left. */
  async #takeAgain(): Promise<void> {
    const before = this.#row;
    const row = await this.#log.row();
    if (row.owner !== this.#node.id || wasGivenBack(row, before)) throw this.#demoted(taken);
    if (row.lastSequence !== before.lastSequence || row.lastChecksum !== before.lastChecksum)
      throw this.#demoted(cutOff);
    await this.#take(row);
  }

  /** Takes the log at the epoch that was seen; false: it could not be had at that epoch. */
  async #take(seen: LogRow = this.#row, isNewHistory = false): Promise<boolean> {
    const { key, random } = this.#options;
    const salt = random(SALT_BYTES);
    const sealing = sealingOf(key, salt, random);
    const epoch = seen.epoch + 1;
    const wrapped =
      sealing.wrap === null ? null : Buffer.concat([salt, sealing.wrap(epochHead(this.#log.id, epoch))]);
    const row = await this.#log.take(seen.epoch, this.#node.id, wrapped, isNewHistory);
    if (row === null) return false;
    assert(row.epoch === epoch, 'a take raises the epoch by one');
    this.#row = row;
    this.#sealing = sealing;
    this.#openers.set(epoch, sealing.opener);
    return true;
  }

  #sealed({ firstSequence: first, count, parts }: Group): StoredFrame {
    const { sealer } = this.#sealing;
    const { epoch } = this.#row;
    const nonce = sealer.nextNonce();
    const head = frameHead(this.#log.id, { first, count, epoch, nonce });
    const payload = Buffer.concat(sealer.seal(nonce, head, parts));
    return { first, count, epoch, nonce, payload, checksum: checksumOf(head, payload) };
  }

  #advance({ count, checksum, payload }: StoredFrame): number {
    const { lastSequence } = this.#row;
    this.#row = { ...this.#row, lastSequence: lastSequence + count, lastChecksum: checksum };
    this.#sizes.all += payload.length;
    this.#sizes.uncovered += payload.length;
    this.#commits++;
    if (this.#failure !== null) this.#options.onWarn('Writes work again.');
    this.#failure = null;
    return payload.length;
  }

  #notStored(error: unknown, frame: StoredFrame): unknown {
    if (!(error instanceof StatementFailed)) return error;
    this.#fail(error);
    switch (error.failure) {
      case 'unknown':
        this.#doubtful = frame;
        this.#totals.inDoubt++;
        return outcomeUnknown(error);
      case 'unreachable':
        return noOwner('PostgreSQL cannot be reached.', error);
      case 'refused':
        if (error.code !== '53100') return noOwner(`PostgreSQL refused the write (${error.code}).`, error);
        return new EngineError(
          'StorageUnavailable',
          'The disk of PostgreSQL is full. Nothing of this write was stored; try again later. Reads continue.',
          {},
          { cause: error },
        );
    }
  }

  #fail(error: StatementFailed): void {
    if (this.#failure === null) this.#options.onWarn(`Writes are refused: PostgreSQL: ${error.message}`);
    this.#failure = error.message;
  }

  /** The node's lease was renewed, so the server can be reached and takes writes. */
  beaten(): void {
    if (this.#failure === null || this.#doubtful !== null) return;
    this.#failure = null;
    this.#options.onWarn('Writes work again.');
  }

  /**
   * This node may store nothing while its clock is off, and others may: gives the log up. Rejects with a StatementFailed,
   * and has it then.
   */
  async stepDown(): Promise<void> {
    if (this.#role === 'copy' || this.#isClosed) return;
    await this.#log.release(this.#node.id, this.#row.epoch);
    this.#demoted(clockOff);
  }

  /**
   * The lease of this node has run out while the server cannot be reached, so that another node may have the log by now: goes
   * on with a copy, and takes the log again if none has. The frame under way may be stored still.
   */
  lapse(): void {
    if (this.#role === 'copy' || this.#isClosed) return;
    this.#demoted(lapsed);
    this.#loop?.lose(noOwner(lapsed));
  }

  /** Becomes a copy. Returns the refusal of writes. */
  #demoted(why: string): EngineError {
    if (this.#role === 'owner' || why === cutOff) {
      if (why === cutOff) this.#totals.endsLost++;
      this.#isEndLost = why === cutOff;
      this.#mustRestart = why === cutOff;
    }
    if (this.#role === 'owner') {
      this.#role = 'copy';
      if (why === taken || why === cutOff) this.#totals.fenced++;
      this.#failure = null;
      this.#options.onWarn(why);
      this.shared.onDemoted(noOwner(why));
    }
    return noOwner(why);
  }

  async *#frames(
    after: number,
    last = this.lastSequence,
  ): AsyncGenerator<{ frame: StoredFrame; payload: Uint8Array }, void, undefined> {
    let next: number | null = null;
    for await (const frame of this.#log.frames(after)) {
      const { first, count } = frame;
      if (next === null ? first > after + 1 : first !== next)
        throw damagedStore('records are missing', after + 1);
      next = first + count;
      this.#read = { sequence: next - 1, checksum: frame.checksum };
      yield { frame, payload: await this.#opened(frame) };
    }
    if ((next ?? after + 1) <= last) throw damagedStore('records are missing', next ?? after + 1);
  }

  async #opened(frame: StoredFrame): Promise<Uint8Array> {
    const head = frameHead(this.#log.id, frame);
    if (checksumOf(head, frame.payload) !== frame.checksum)
      throw damagedStore('a frame does not verify', frame.first);
    const payload = (await this.#openerOf(frame.epoch)).open(frame.nonce, head, frame.payload);
    if (payload === null) throw damagedStore('a frame cannot be decrypted', frame.first);
    return payload;
  }

  async #openerOf(epoch: number): Promise<Opener> {
    const known = this.#openers.get(epoch);
    if (known !== undefined) return known;
    const { key } = this.#options;
    const wrapped = key === null ? null : await this.#log.wrappedKey(epoch);
    let opener: Opener | null = plainOpener;
    if (key !== null) {
      if (wrapped === null) throw damagedStore('the key of an epoch is missing', epoch);
      const envelope = wrapped.subarray(SALT_BYTES);
      opener = key.openerOf(wrapped.subarray(0, SALT_BYTES), epochHead(this.#log.id, epoch), envelope);
    }
    if (opener === null) throw damagedStore('the key of an epoch does not verify', epoch);
    this.#openers.set(epoch, opener);
    return opener;
  }

  /** Sequence of the last record in the newest snapshot; 0: there is none. */
  #covered(): number {
    return this.#snapshots[0]?.sequence ?? 0;
  }

  async *#pieces(
    row: SnapshotRow,
    section: SnapshotPart['section'],
  ): AsyncGenerator<Uint8Array, void, undefined> {
    yield* storedPieces(this.#log, await this.#openerOf(row.epoch), row, section);
  }

  /** Keeps two snapshots and the frames since the older one. A failed removal is repeated after the next snapshot. */
  async #trim(neededAfter: number): Promise<void> {
    const oldest = this.#snapshots[1];
    if (oldest === undefined) return;
    const first = Math.min(oldest.sequence, neededAfter) + 1;
    try {
      this.#sizes.all -= await this.#log.trim(this.#node.id, first, oldest);
      this.#row = { ...this.#row, firstSequence: Math.max(this.#row.firstSequence, first) };
      for (const { attempt } of this.#snapshots.slice(2)) await this.#log.removeAttempt(attempt);
      this.#snapshots = this.#snapshots.slice(0, 2);
    } catch (error) {
      this.#options.onWarn(`What the snapshot covers could not be removed: ${String(error)}`);
    }
  }
}

/**
 * Others had the log and stored more before they gave it back to this node: it applies that first, as a copy. An epoch of its own
 * whose answer was lost has stored nothing.
 */
function wasGivenBack(row: LogRow, before: LogRow): boolean {
  return row.epoch > before.epoch && row.lastSequence > before.lastSequence;
}

const taken = 'Another node has taken the log over. This one goes on with a copy.';
const given = 'This node has given the log to another one, and goes on with a copy.';
const left = 'This node ends and has given the log up.';
const lapsed =
  'The lease of this node has run out, since it cannot reach PostgreSQL: it goes on with a copy.';
const clockOff = 'The clock of this node is off: it gives the log up, and goes on with a copy.';
const cutOff =
  'PostgreSQL has lost records that it had confirmed, as after the promotion of an asynchronous standby or the restore of ' +
  'a backup. This node reads again what is left, and a new history begins.';
