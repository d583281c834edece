/**
 * Opens a store in PostgreSQL: a log and an engine for each database that this node is to have, and one for the catalogue.
 *
 * The rows of the logs are the list of databases and say which nodes are to have each (`replication/placement.ts`). Each node
 * looks at them four times a second: it opens what it is to have, and closes what was deleted, or what others have in its place.
 * A database exists once its log has a record that creates it, and until one that deletes it.
 * Between such a record and its row there is no harm: a log without a database that nobody writes to is ended by its owner,
 * so what a killed node left half made, or half removed, ends the same way.
 */
import { EngineError } from './base/errors.ts';
import { present } from './base/assert.ts';
import type { NodeList, NodeStatus } from './contract/administration.ts';
import type { StorageBackend } from './log/backend.ts';
import { folderKeyOf } from './log/cipher.ts';
import { noOwner } from './log/frame-store.ts';
import type { FolderLock } from './log/lock-file.ts';
import type { Journal, JournalName } from './log/journal.ts';
import { PostgresNode } from './log/open-postgres.ts';
import { CATALOGUE, UNDIVIDED } from './log/log-names.ts';
import type { CopyTold, ListedLog, PostgresLogs } from './log/postgres-logs.ts';
import type { PostgresStore } from './log/postgres-store.ts';
import { divideStore } from './folder/move-store.ts';
import { storedPins } from './folder/stored-pins.ts';
import { nearestMark } from './commit/high-water-mark.ts';
import { allPinned, Backups } from './commit/snapshots.ts';
import type { SnapshotCopy } from './log/snapshot-reader.ts';
import { spoolSnapshot } from './log/spooled-snapshot.ts';
import { joinedPins } from './state/state-snapshot.ts';
import { StatementFailed } from './log/postgres-connection.ts';
import { type Caller, systemCaller } from './base/caller.ts';
import { systemClock } from './base/clock.ts';
import { SharedRun } from './base/shared-run.ts';
import { wait } from './base/wait.ts';
import { type CommonParts, type EngineOptions, openPart, commonParts, systemRandom } from './open-part.ts';
import { type EngineContext, openMeaning, type SharedParts } from './operations/engine-context.ts';
import type { Engine } from './operations/engine.ts';
import { routedEngine } from './operations/routed-engine.ts';
import { ReasoningThreads } from './reasoning/reasoning-threads.ts';
import { EvenOwners } from './replication/even-owners.ts';
import { FULL_SHARE } from './replication/placement.ts';
import { Placing } from './replication/placing.ts';
import { type Giving, watchLogs } from './replication/shared-tail.ts';
import { StoreView } from './replication/store-view.ts';
import type { Change } from './session/change-feed.ts';
import { operationVersion } from './state/operation.ts';
import type { ErasingRecord } from './state/redaction.ts';
import type { State } from './state/state.ts';
import { databaseExists, requireReach } from './write/databases.ts';

/** Where a store and a node's journals are. */
interface ShelfPlace {
  readonly backend: StorageBackend;
  /** null: journals stay in memory. */
  readonly lock: FolderLock | null;
}

type ShelfOptions = Omit<EngineOptions, 'storageDir'>;

/** Milliseconds between two looks for databases that were created or deleted. */
const LOOK_MS = 250;
/** A log without a database is ended after this time, in milliseconds: somebody may be creating it. */
const GRACE_MS = 5000;
/** After this time a log that could not be opened is tried again. */
const RETRY_MS = 5000;
/** Logs that are read at once. */
const MAX_OPENING = 4;
/** Logs that are closed, or moved to another node, at once. */
const MAX_LEAVING = 8;
/** Other nodes have looked at the logs after this time, and ask others for what this one closes. */
const LEAVE_MS = 700;
/** A new node waits this long until databases were placed with it in mind, in milliseconds. */
const CONSIDERED_MS = 5000;
/** A node that is to have a copy before a database moves there has this long to make it. */
const COPY_MS = 60_000;
/** Between two looks whether it has, or whether databases were placed. */
const COPY_LOOK_MS = 50;
/** Memory of an open database without knowledge, in bytes. */
const EMPTY_BYTES = 64 * 1024;
/** Milliseconds between two looks how much memory databases take, and at all that is to be done though nothing moved. */
const MEASURE_MS = 2000;
/** What a node tells of a database's memory is off by at most this share. */
const BYTES_SHARE = 1 / 8;
/** From this share of the memory on, it is freed once databases were closed. */
const FREE_SHARE = 0.5;
/** How many nodes are to have each database. */
const COPIES = 2;

/** This process as a node of a store, or of a simulated one. */
export interface ShelfNode extends Pick<PostgresNode, 'id' | 'open' | 'openToRead' | 'close'> {
  readonly logs: Pick<PostgresLogs, 'look' | 'nodes' | 'ensure' | 'create' | 'end' | 'place' | 'tell'>;
}

/** Opens all databases of the store. Rejects with a StartupError. */
export async function openShelf(place: ShelfPlace, url: string, options: ShelfOptions): Promise<Engine> {
  const { clock = systemClock, onWarn = () => {}, onAppend } = options;
  const node = await PostgresNode.join({
    url,
    address: options.nodeAddress ?? options.address ?? '',
    readsVersion: operationVersion,
    key: folderKeyOf(options.encryptionKey),
    now: () => clock.now(),
    random: options.random ?? systemRandom,
    onWarn,
    onUnsafe: onWarn,
    ...(onAppend === undefined ? {} : { onAppend }),
  });
  try {
    const undivided = (await node.logs.look()).find(({ name }) => name === UNDIVIDED);
    if (undivided !== undefined) await divideStore(node, undivided.id, onWarn);
  } catch (error) {
    await node.close();
    throw error;
  }
  return openShelfOf(node, place, options);
}

/** Opens all databases that the node sees, and closes the node with them. Rejects with a StartupError. */
export async function openShelfOf(
  node: ShelfNode,
  place: ShelfPlace,
  options: ShelfOptions,
): Promise<Engine> {
  const shelf = new Shelf(place, node, options);
  try {
    return await shelf.open();
  } catch (error) {
    await shelf.close(0);
    throw error;
  }
}

/** An open log. */
interface Opened {
  readonly name: string;
  readonly store: PostgresStore;
  readonly engine: Engine;
  readonly context: EngineContext;
  readonly state: State;
  /** Since when it has had no database, by `performance.now`; null: it has one. */
  emptySince: number | null;
  /** It is about to be closed here: other nodes answer for it. */
  isLeaving: boolean;
}

class Shelf {
  readonly #place: ShelfPlace;
  readonly #node: ShelfNode;
  readonly #options: ShelfOptions;
  readonly #parts: CommonParts;
  readonly #shared: SharedParts;
  readonly #journals: Journal[] = [];
  readonly #backups: Backups;
  /** The backup under way; the next one waits. */
  #spooled: Promise<void> = Promise.resolve();
  #catalogue: Opened | null = null;
  readonly #opened = new Map<string, Opened>();
  /** Why a log could not be opened here, and when. */
  readonly #failed = new Map<string, { readonly error: unknown; readonly at: number }>();
  readonly #listeners = new Map<(change: Change) => void, Map<Engine, () => void>>();
  readonly #erasers: ((erasure: ErasingRecord) => Promise<void>)[] = [];
  /** Ends that are under way. */
  readonly #ending = new Set<Opened>();
  readonly #view: StoreView;
  readonly #placing: Placing;
  readonly #evenOwners: EvenOwners;
  /** Logs that wait to be opened, and those that are being opened, by name. */
  readonly #waiting = new Map<string, ListedLog>();
  readonly #opening = new Map<string, Promise<void>>();
  /** Databases that are being closed, or given to another node. */
  readonly #leaving = new Set<Promise<unknown>>();
  #freeing: ReturnType<typeof setTimeout> | null = null;
  /** When it was last looked how much memory databases take, by `performance.now`. */
  #measuredAt = Number.NEGATIVE_INFINITY;
  #hasNews = true;
  readonly #refreshes = new SharedRun(() => this.#refreshed());
  readonly #looks = new SharedRun(() => this.#see());
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(place: ShelfPlace, node: ShelfNode, options: ShelfOptions) {
    this.#place = place;
    this.#node = node;
    this.#options = options;
    this.#view = new StoreView(node.id);
    this.#placing = new Placing(node.logs, options.copies ?? COPIES, options.awaitedMs);
    this.#evenOwners = new EvenOwners(node.id, options.unevenMs);
    const parts = commonParts(place.backend, options);
    this.#parts = parts;
    const spool = { copySnapshot: () => this.#copyOfAll() };
    // What is copied is as of then.
    this.#backups = new Backups({ take: () => Promise.resolve() }, spool, () => parts.clock.now());
    const { embeddings, threadHost, onWarn, onBug } = parts;
    const states = (): State[] => Array.from(this.#opened.values(), ({ state }) => state);
    const memory = parts.derived.budget;
    this.#shared = {
      watch: watchLogs(() => node.logs.look(), { onWarn, onBug }),
      threads:
        threadHost === null
          ? null
          : new ReasoningThreads({
              liveOf: (database) => this.#openedOf(database).context.live,
              host: threadHost,
              memory,
              onWarn,
              onBug,
            }),
      meaning:
        embeddings === null
          ? null
          : openMeaning({ ...parts, embeddings, file: this.#journal('vectors'), states }),
    };
  }

  async open(): Promise<Engine> {
    const { logs } = this.#node;
    await logs.ensure(CATALOGUE);
    await logs.ensure('default');
    const listed = (await logs.look()).find(({ name }) => name === CATALOGUE);
    this.#catalogue = await this.#openLog(present(listed, 'the catalogue was added'));
    await this.#beConsidered();
    await this.#allOpened();
    for (const { error } of this.#failed.values()) throw error;
    this.#schedule();
    const catalogue = this.#catalogue.engine;
    return routedEngine(
      {
        catalogue,
        all: () => Array.from(this.#opened.values(), ({ engine }) => engine),
        of: (database) => this.#of(database),
        backups: this.#backups,
        has: (database) => this.#has(database),
        confirm: (database) => this.#confirm(database),
        nodeOf: (database) => this.#status(database),
      },
      {
        createDatabase: (caller, name) => this.#create(caller, name),
        deleteDatabase: (caller, name) => this.#delete(caller, name),
        nodes: () => this.#nodes(),
        handOver: (to, database, giving) => this.#handOver(to, database, giving),
        release: (database) => this.#owning(database).release(database),
        makeCopy: (to, database) => this.#makeCopy(to, database),
        copiesElsewhere: (database) => this.#copiesElsewhere(database),
        databasesElsewhere: () => this.#databasesElsewhere(),
        successor: (database) => this.#view.otherCopy(database),
        look: (database) => this.#look(database),
        others: () => this.#view.others(),
        heard: (database, owner) => this.#heard(database ?? CATALOGUE, owner),
        backup: () => this.#backups.take(),
        journal: (name) => this.#journal(name),
        whenErased: (erase) => this.#whenErased(erase),
        subscribe: (listener) => this.#subscribe(listener),
        close: (snapshotWithinMs) => this.close(snapshotWithinMs),
      },
    );
  }

  /** Ends everything, and gives all logs up. `snapshotWithinMs`: for the last snapshots together. */
  async close(snapshotWithinMs?: number): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#freeing !== null) clearTimeout(this.#freeing);
    await this.#refreshes.idle();
    this.#waiting.clear();
    await Promise.all([...this.#opening.values(), ...this.#leaving]);
    const opened = [...this.#opened.values(), ...(this.#catalogue === null ? [] : [this.#catalogue])];
    await Promise.all(opened.map(({ engine }) => engine.close(snapshotWithinMs)));
    this.#shared.threads?.close();
    await this.#shared.meaning?.close();
    await Promise.all(this.#journals.map((journal) => journal.close()));
    await this.#node.close();
    await this.#place.lock?.release();
  }

  /** What the name stands for here: the catalogue, which knows no database of this name, if nothing does. */
  #openedOf(database: string): Opened {
    const opened = this.#opened.get(database);
    if (opened !== undefined) return opened;
    const failed = this.#failed.get(database);
    if (failed !== undefined) throw noOwner('This node cannot read the log of the database.', failed.error);
    if (database === 'default' || this.#view.database(database) !== null)
      throw noOwner('This node does not have the database.');
    return present(this.#catalogue, 'the catalogue is opened first');
  }

  #of(database: string): Engine {
    return this.#openedOf(database).engine;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(
      () => {
        this.#refresh()
          .catch((error: unknown) => {
            // The tail of the catalogue says that the store cannot be asked.
            if (!(error instanceof StatementFailed)) this.#parts.onBug(error);
          })
          .finally(() => this.#schedule());
      },
      // With the looks of the logs, so that one statement serves all.
      LOOK_MS - (performance.now() % LOOK_MS),
    );
    this.#timer.unref();
  }

  /** Looks at all logs and does what is to be done, as of a look that was sent after the call. What is opened may take longer. */
  #refresh(): Promise<void> {
    return this.#refreshes.run();
  }

  async #refreshed(): Promise<void> {
    await this.#see();
    const isTime = performance.now() - this.#measuredAt >= MEASURE_MS;
    if (!this.#hasNews && !isTime) return;
    this.#hasNews = false;
    await this.#attendAll().catch((error: unknown) => {
      this.#hasNews = true;
      throw error;
    });
  }

  async #attendAll(): Promise<void> {
    for (const opened of this.#opened.values()) {
      const log = this.#view.database(opened.name);
      if (log === null || log.id !== opened.store.id) await this.#closeOne(opened);
      else if (opened.state.databases.size === 0 || opened.emptySince !== null) await this.#attended(opened);
    }
    if (this.#catalogue !== null) await this.#attended(this.#catalogue);
    if (this.#catalogue?.store.shared.role === 'owner') {
      if (await this.#placing.pass(this.#view)) await this.#see();
    } else this.#placing.rest();
    this.#openWanted();
    this.#leaveOthers();
    this.#evenOut();
    await this.#tellCopies();
  }

  async #see(): Promise<void> {
    const at = performance.now();
    const { logs } = this.#node;
    const listed = await logs.look();
    // Nodes later, so that every owner is among them.
    this.#hasNews = this.#view.saw(listed, await logs.nodes(), at) || this.#hasNews;
  }

  /** Waits until databases were placed with this node in mind, if there is a node that does that. */
  async #beConsidered(): Promise<void> {
    for (const until = performance.now() + CONSIDERED_MS; performance.now() < until; ) {
      await this.#refresh();
      if (this.#view.nodes.get(this.#node.id)?.isConsidered === true) break;
      await wait(COPY_LOOK_MS);
    }
  }

  #openWanted(): void {
    for (const log of this.#view.databases) if (this.#isToOpen(log)) this.#waiting.set(log.name, log);
    this.#openNext();
  }

  #openNext(): void {
    for (const [name, log] of this.#waiting) {
      if (this.#opening.size >= MAX_OPENING || this.#isClosed) return;
      this.#waiting.delete(name);
      const opening = this.#openOne(log).finally(() => {
        this.#hasNews = true;
        this.#opening.delete(name);
        this.#openNext();
      });
      this.#opening.set(name, opening);
    }
  }

  /** Resolves when the database is open, or could not be opened, though others wait for that. */
  async #nowOpened(name: string): Promise<void> {
    while (this.#opening.has(name) || (this.#waiting.has(name) && !this.#isClosed))
      await (this.#opening.get(name) ?? Promise.race(this.#opening.values()));
  }

  /** Resolves when what is to be open is, or could not be opened. */
  async #allOpened(): Promise<void> {
    while (this.#opening.size > 0 || (this.#waiting.size > 0 && !this.#isClosed))
      await Promise.all(this.#opening.values());
  }

  /** Tells which databases this node has, and how much memory those of which it is the owner take. */
  async #tellCopies(): Promise<void> {
    const told: CopyTold[] = [];
    const isMeasuring = performance.now() - this.#measuredAt >= MEASURE_MS;
    if (isMeasuring) this.#measuredAt = performance.now();
    for (const { id, name, ready, bytes: known } of this.#view.databases) {
      const opened = this.#opened.get(name);
      const isReady = opened !== undefined && !opened.isLeaving && opened.store.id === id;
      const isOwner = isReady && opened.store.shared.role === 'owner';
      const bytes = isOwner && (isMeasuring || known === 0) ? bytesOf(opened) : known;
      const isOff = Math.abs(bytes - known) > Math.max(EMPTY_BYTES, known * BYTES_SHARE) || known === 0;
      const isNews = isReady !== ready.includes(this.#node.id);
      if (isNews || (isOwner && isOff)) told.push({ id, isReady, bytes: isOwner ? bytes : null });
    }
    if (told.length > 0) await this.#node.logs.tell(this.#node.id, told);
  }

  /** Closes what this node need not have any more, and gives what it owns to those that are to have it. */
  #leaveOthers(): void {
    for (const opened of this.#opened.values()) {
      if (this.#leaving.size >= MAX_LEAVING) return;
      const log = this.#view.database(opened.name);
      if (log === null || opened.isLeaving) continue;
      const { role } = opened.store.shared;
      const to = role === 'owner' ? this.#view.successor(log) : null;
      if (to === null && (role === 'owner' || !this.#view.mayLeave(log))) continue;
      opened.isLeaving = true;
      this.#begun(
        (to === null ? this.#leave(opened) : this.#give(opened, to)).finally(() => {
          opened.isLeaving = false;
        }),
      );
    }
  }

  #begun(task: Promise<unknown>): void {
    const leaving: Promise<unknown> = task
      .catch((error: unknown) => this.#parts.onBug(error))
      .finally(() => {
        this.#hasNews = true;
        this.#leaving.delete(leaving);
      });
    this.#leaving.add(leaving);
  }

  /** Gives a database, of which this node keeps a copy, to one that owns fewer; one at a time, and none whose transactions it would lose. */
  #evenOut(): void {
    const move = this.#leaving.size === 0 ? this.#evenOwners.due(this.#view) : null;
    const opened = this.#opened.get(move?.name ?? '');
    if (move === null || opened === undefined) return;
    if (opened.context.transactions.count > 0) this.#evenOwners.refused();
    else this.#begun(this.#give(opened, move.to).then((isGiven) => isGiven || this.#evenOwners.refused()));
  }

  async #leave(opened: Opened): Promise<void> {
    const { name, store } = opened;
    await wait(LEAVE_MS);
    await this.#options.whenUnused?.(name);
    const log = this.#view.database(name);
    const isLeft = log !== null && this.#view.mayLeave(log) && store.shared.role === 'copy';
    if (!isLeft || this.#isClosed || this.#opened.get(name) !== opened) return;
    await this.#closeOne(opened);
    this.#free();
  }

  #handOver(to: string, database = CATALOGUE, giving?: Giving): ReturnType<Engine['handOver']> {
    const tell = async (address: string) => this.#options.tellGiven?.(address, database);
    return this.#owning(database).handOver(to, database, { tell, ...giving });
  }

  /** Resolves with false if the other node did not take it. */
  async #give({ name }: Opened, to: string): Promise<boolean> {
    const { holdWrites = (_database, step) => step() } = this.#options;
    try {
      await this.#handOver(to, name, { hold: (step) => holdWrites(name, step) });
      return true;
    } catch (error) {
      // It is busy, or not ready: a later look tries again.
      if (!(error instanceof EngineError)) throw error;
      return false;
    }
  }

  /** Returns memory to the system after databases were closed, if much of it is in use: garbage counts as used. */
  #free(): void {
    const gauge = this.#parts.memoryGauge;
    if (gauge === null || this.#freeing !== null) return;
    this.#freeing = setTimeout(() => {
      this.#freeing = null;
      const { used, allowed } = nearestMark(gauge.read());
      if (used > allowed * FREE_SHARE) gauge.collect();
    }, LEAVE_MS);
    this.#freeing.unref();
  }

  async #attended(opened: Opened): Promise<void> {
    try {
      await this.#attend(opened);
    } catch (error) {
      // Another node may have taken the log; the next look tries again.
      if (!(error instanceof EngineError)) throw error;
    }
  }

  #isToOpen(log: ListedLog): boolean {
    const { name } = log;
    if (this.#opened.has(name) || this.#opening.has(name) || !this.#view.isWanted(log)) return false;
    const failed = this.#failed.get(name);
    return failed === undefined || performance.now() - failed.at > RETRY_MS;
  }

  async #openOne(log: ListedLog): Promise<void> {
    const { name } = log;
    try {
      const opened = await this.#openLog(log);
      if (this.#isClosed) return await opened.engine.close(0);
      this.#opened.set(name, opened);
      this.#failed.delete(name);
      for (const erase of this.#erasers) opened.engine.whenErased(erase);
      for (const [listener, ends] of this.#listeners)
        ends.set(opened.engine, opened.engine.subscribe(listener));
    } catch (error) {
      if (!this.#failed.has(name))
        this.#parts.onWarn(`The database ${name} cannot be opened: ${String(error)}`);
      this.#failed.set(name, { error, at: performance.now() });
    }
  }

  async #openLog({ id, name }: ListedLog): Promise<Opened> {
    const begins = name === CATALOGUE || name === 'default';
    const onWarn = (message: string): void =>
      this.#parts.onWarn(name === CATALOGUE ? message : `Database ${name}: ${message}`);
    let store: PostgresStore | null = null;
    const frames = async (): Promise<PostgresStore> => {
      store = await this.#node.open(id, begins, onWarn);
      return store;
    };
    const { onOpening: _ofTheFolder, ...options } = this.#options;
    // What concerns the whole process is said once.
    const spoken = name === CATALOGUE ? this.#parts : { ...this.#parts, onWarn, onClockStep: () => {} };
    const { engine, context, state } = await openPart(
      this.#place.backend,
      null,
      { ...options, frames, begins, onWarn },
      { ...spoken, shared: this.#shared },
    );
    return {
      name,
      store: present<PostgresStore>(store, 'it was opened'),
      engine,
      context,
      state,
      emptySince: null,
      isLeaving: false,
    };
  }

  async #closeOne(opened: Opened): Promise<void> {
    this.#opened.delete(opened.name);
    for (const ends of this.#listeners.values()) {
      ends.get(opened.engine)?.();
      ends.delete(opened.engine);
    }
    await opened.engine.close(0);
  }

  /** Of a log of this node without a database: begins it with `default`, or ends it if it has been so for a while. */
  async #attend(opened: Opened): Promise<void> {
    const { state, store, engine, name } = opened;
    if (state.databases.size > 0 || store.shared.role !== 'owner') {
      opened.emptySince = null;
      return;
    }
    if (name === CATALOGUE || name === 'default') {
      const caller = systemCaller('start', 'default', 'default', new AbortController().signal);
      await engine.createDatabase(caller, 'default');
      return;
    }
    opened.emptySince ??= performance.now();
    this.#hasNews = true;
    if (performance.now() - opened.emptySince >= GRACE_MS) await this.#end(opened);
  }

  /** Ends the log if it is this node's, has no database, and nobody writes to it. Never rejects: the next look tries again. */
  async #end(opened: Opened): Promise<void> {
    const { state, store, engine, context, name } = opened;
    if (store.shared.role !== 'owner' || this.#ending.has(opened)) return;
    this.#ending.add(opened);
    try {
      if (state.sequence > (context.parts.log.snapshot()?.sequence ?? 0)) await engine.snapshot();
      const { epoch } = store.branch;
      if (state.databases.size > 0) return;
      if (await this.#node.logs.end(store.id, this.#node.id, epoch, state.sequence))
        await this.#closeOne(opened);
    } catch (error) {
      this.#parts.onWarn(`The log of the database ${name} could not be ended yet: ${String(error)}`);
    } finally {
      this.#ending.delete(opened);
    }
  }

  async #create(caller: Caller, name: string): ReturnType<Engine['createDatabase']> {
    requireReach(caller, name, null);
    if ((this.#opened.get(name)?.state.databases.size ?? 0) === 0) {
      const isMine = await this.#node.logs.create(name, this.#node.id).catch(unasked);
      this.#hasNews = true;
      await this.#refresh().catch(unasked);
      if (isMine) await this.#nowOpened(name);
      // It may be open here since before it was ended.
      if (isMine) await this.#opened.get(name)?.engine.look();
    }
    const opened = this.#opened.get(name);
    if (opened === undefined && this.#has(name)) throw databaseExists(name);
    if (opened === undefined) throw noOwner('The database was removed, or cannot be opened here.');
    if (opened.store.shared.role === 'copy') {
      // Another node has it: what it did is known here once it is applied.
      await opened.engine.confirm();
      if (opened.engine.hasDatabase(name) && !opened.engine.remembers(caller)) throw databaseExists(name);
    }
    return opened.engine.createDatabase(caller, name);
  }

  async #delete(caller: Caller, name: string): ReturnType<Engine['deleteDatabase']> {
    const deleted = await this.#of(name).deleteDatabase(caller, name);
    const opened = this.#opened.get(name);
    if (opened !== undefined) await this.#end(opened);
    return deleted;
  }

  /** At the log of the database, or at all that have moved, which never rejects. */
  async #look(database: string | undefined): Promise<number> {
    if (database === undefined) {
      for (const engine of await this.#moved()) void engine.look();
      return present(this.#catalogue, 'it is open').engine.look();
    }
    const opened = this.#opened.get(database);
    if (opened !== undefined) return opened.engine.look();
    await this.#refresh().catch(unasked);
    return this.#opened.get(database)?.engine.look() ?? this.#view.database(database)?.leaseMs ?? 0;
  }

  #heard(database: string, owner: Parameters<Engine['heard']>[1]): void {
    const opened = database === CATALOGUE ? this.#catalogue : this.#opened.get(database);
    if (opened === null || opened === undefined) this.#view.heard(database, owner);
    else opened.engine.heard(database, owner);
  }

  /**
   * The database is shown here as of everything that was stored before the call; one that this node does not know is looked
   * for in the store. However many are asked for, one look at a time serves all.
   */
  async #confirm(database: string): Promise<void> {
    if (this.#opened.has(database) || this.#has(database)) return this.#of(database).confirm();
    await this.#looks.run().catch(unasked);
  }

  /** True if there is such a database. */
  #has(database: string): boolean {
    const opened = this.#opened.get(database);
    if (opened !== undefined) return opened.engine.hasDatabase(database);
    // Its log has the record that creates it.
    return (this.#view.database(database)?.lastSequence ?? 0) > 0;
  }

  /** Where the nodes are that have a copy of the database; null: this one has it, or there is no such database. */
  #copiesElsewhere(database: string): readonly string[] | null {
    const opened = this.#opened.get(database);
    const isHere = opened !== undefined && (!opened.isLeaving || opened.store.shared.role === 'owner');
    return isHere || this.#view.database(database) === null ? null : this.#view.copiesOf(database);
  }

  #databasesElsewhere(): ReadonlyMap<string, readonly string[]> {
    const elsewhere = this.#view.databases.filter(({ name }) => !this.#opened.has(name) && this.#has(name));
    return new Map(elsewhere.map(({ name }) => [name, this.#view.copiesOf(name)]));
  }

  /** This node's part in the log of the database; in the catalogue's, if there is no such database. */
  #status(database: string): NodeStatus | null {
    const opened = this.#opened.get(database);
    if (opened !== undefined) return opened.engine.node();
    const catalogue = present(this.#catalogue, 'it is open');
    const skewMs = catalogue.store.shared.clockSkewMs;
    return this.#view.statusOf(database, skewMs) ?? catalogue.engine.node();
  }

  /**
   * Lets the node make a copy of the database, which this node owns, and resolves when it has. Rejects with Conflict if the
   * node has no room, or does not make it in time. A node that is not known, or has a copy, is left to the move.
   */
  async #makeCopy(to: string, database: string): Promise<void> {
    const opened = this.#opened.get(database);
    const isOwner = opened?.store.shared.role === 'owner';
    if (!isOwner || to === this.#node.id) return;
    const hasIt = (): boolean => {
      const { ready = [] } = this.#view.database(database) ?? {};
      return ready.includes(to);
    };
    await this.#see().catch(unasked);
    const node = this.#view.nodes.get(to);
    const log = this.#view.database(database);
    if (log === null || node?.isAlive !== true || !node.takesPart || hasIt()) return;
    const { usedBytes, memoryBytes, address } = node;
    if (memoryBytes !== null && (usedBytes ?? 0) + log.bytes > memoryBytes * FULL_SHARE)
      throw new EngineError(
        'Conflict',
        `the node ${address} has no room for the database: with it, more than ${FULL_SHARE * 100}% of its memory would be ` +
          'in use. Nothing changed.',
      );
    const others = log.placed.filter((each) => each !== to && each !== this.#node.id);
    const placed = [...new Set([to, this.#node.id, ...others])].slice(0, this.#placing.copies);
    await this.#node.logs.place([{ id: log.id, before: log.placed, placed }], []).catch(unasked);
    for (const until = performance.now() + COPY_MS; performance.now() < until && !this.#isClosed; ) {
      await wait(COPY_LOOK_MS);
      await this.#see().catch(unasked);
      if (hasIt()) return;
      if (this.#view.nodes.get(to)?.isAlive !== true) break;
    }
    throw new EngineError('Conflict', `the node ${address} did not make a copy of the database in time`);
  }

  /** Those whose logs another node has written to; none if the store cannot be asked, which the tails tell. */
  async #moved(): Promise<Engine[]> {
    try {
      const listed = new Map((await this.#node.logs.look()).map((log) => [log.id, log.lastSequence]));
      return Array.from(this.#opened.values()).flatMap(({ store, engine }) =>
        listed.get(store.id) === store.lastSequence ? [] : [engine],
      );
    } catch (error) {
      if (!(error instanceof StatementFailed)) throw error;
      return [];
    }
  }

  async #nodes(): Promise<NodeList> {
    const catalogue = present(this.#catalogue, 'it is open').engine;
    const [list] = await Promise.all([catalogue.nodes(), this.#see().catch(unasked)]);
    return this.#view.listed(list);
  }

  /** Of the database; of the catalogue if that is absent or empty. */
  #owning(database = CATALOGUE): Engine {
    const opened = database === CATALOGUE ? this.#catalogue : this.#opened.get(database);
    if (opened === null || opened === undefined)
      throw new EngineError('DatabaseNotFound', `there is no database ${database}`);
    return opened.engine;
  }

  /** Everything as one snapshot, of which a folder can be made: each database as of a moment of its own. */
  async #copyOfAll(): Promise<SnapshotCopy> {
    const before = this.#spooled;
    let done = (): void => {};
    this.#spooled = new Promise<void>((resolve) => {
      done = resolve;
    });
    await before;
    try {
      const { encryptionKey, onWarn = () => {}, random = systemRandom } = this.#options;
      const { clock, scheduler } = this.#parts;
      const catalogue = present(this.#catalogue, 'it is open');
      await this.#see().catch(unasked);
      const missing = this.#view.databases.filter(({ name }) => !this.#opened.has(name));
      const pause = scheduler.pauseOf(null, 'backup');
      const open = (id: number) => this.#node.openToRead(id);
      const memory = nearestMark(this.#parts.memoryGauge?.read());
      const others = await storedPins(missing, this.#opened.size, memory, { open, pause });
      const rest = [...this.#opened.values()];
      const { historyId, epoch } = catalogue.context.parts.log;
      const options = { key: folderKeyOf(encryptionKey), now: () => clock.now(), random, onWarn };
      const all = [catalogue, ...rest].map(({ context }) => context.snapshots);
      const copy = await allPinned(all, async ([first, ...own]) => {
        const pinned = [...own, ...others];
        const { sequence, time, parts } = joinedPins(present(first, 'the catalogue is pinned'), pinned);
        const covered = { sequence, time, checksum: null, historyId, epoch, parent: null };
        const written = parts(pause, () => !this.#isClosed);
        return spoolSnapshot(this.#place.backend, covered, written, options);
      });
      return { ...copy, close: () => copy.close().finally(done) };
    } catch (error) {
      done();
      throw error;
    }
  }

  #journal(name: JournalName): Journal {
    const journal = this.#parts.openJournal(name);
    this.#journals.push(journal);
    return journal;
  }

  #whenErased(erase: (erasure: ErasingRecord) => Promise<void>): void {
    this.#erasers.push(erase);
    for (const { engine } of this.#opened.values()) engine.whenErased(erase);
  }

  #subscribe(listener: (change: Change) => void): () => void {
    const ends = new Map<Engine, () => void>();
    for (const { engine } of this.#opened.values()) ends.set(engine, engine.subscribe(listener));
    this.#listeners.set(listener, ends);
    return () => {
      this.#listeners.delete(listener);
      for (const end of ends.values()) end();
    };
  }
}

/** About how much memory a database takes: snapshots and records are about half as long as facts in memory. */
function bytesOf({ context }: Opened): number {
  const { snapshotBytes, uncoveredBytes } = context.parts.log.statistics();
  return EMPTY_BYTES + 2 * (snapshotBytes + uncoveredBytes);
}

function unasked(error: unknown): never {
  if (!(error instanceof StatementFailed)) throw error;
  throw noOwner('PostgreSQL cannot be asked.', error);
}
