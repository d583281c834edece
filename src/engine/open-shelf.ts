/**
 * Opens a store in PostgreSQL: a log and an engine for each database, and one for the catalogue.
 *
 * The rows of the logs are the list of databases, and each node looks at them four times a second: it opens what was created,
 * and closes what was deleted. A database exists once its log has a record that creates it, and until one that deletes it.
 * Between such a record and its row there is no harm: a log without a database that nobody writes to is ended by its owner,
 * so what a killed node left half made, or half removed, ends the same way.
 */
import { EngineError } from './base/errors.ts';
import { present } from './base/assert.ts';
import type { NodeList } from './contract/administration.ts';
import type { StorageBackend } from './log/backend.ts';
import { folderKeyOf } from './log/cipher.ts';
import { noOwner } from './log/frame-store.ts';
import type { FolderLock } from './log/lock-file.ts';
import type { Journal, JournalName } from './log/journal.ts';
import { PostgresNode } from './log/open-postgres.ts';
import { CATALOGUE, isUnfinished, UNDIVIDED } from './log/log-names.ts';
import type { ListedLog, PostgresLogs } from './log/postgres-logs.ts';
import type { PostgresStore } from './log/postgres-store.ts';
import { divideStore } from './folder/move-store.ts';
import { Backups } from './commit/snapshots.ts';
import type { SnapshotCopy } from './log/snapshot-reader.ts';
import { spoolSnapshot } from './log/spooled-snapshot.ts';
import { joinedPins, type PinnedState } from './state/state-snapshot.ts';
import { StatementFailed } from './log/postgres-connection.ts';
import { type Caller, systemCaller } from './base/caller.ts';
import { systemClock } from './base/clock.ts';
import { type CommonParts, type EngineOptions, openPart, commonParts, systemRandom } from './open-part.ts';
import { type EngineContext, openMeaning, type SharedParts } from './operations/engine-context.ts';
import type { Engine } from './operations/engine.ts';
import { routedEngine } from './operations/routed-engine.ts';
import { ReasoningThreads } from './reasoning/reasoning-threads.ts';
import type { Change } from './session/change-feed.ts';
import { operationVersion } from './state/operation.ts';
import type { ErasingRecord } from './state/redaction.ts';
import type { State } from './state/state.ts';
import { requireReach } from './write/databases.ts';

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

/** This process as a node of a store, or of a simulated one. */
export interface ShelfNode extends Pick<PostgresNode, 'id' | 'open' | 'close'> {
  readonly logs: Pick<PostgresLogs, 'look' | 'ensure' | 'create' | 'end'>;
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
  #refreshing: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isClosed = false;

  constructor(place: ShelfPlace, node: ShelfNode, options: ShelfOptions) {
    this.#place = place;
    this.#node = node;
    this.#options = options;
    const parts = commonParts(place.backend, options);
    this.#parts = parts;
    const spool = { copySnapshot: () => this.#copyOfAll() };
    // What is copied is as of then.
    this.#backups = new Backups({ take: () => Promise.resolve() }, spool, () => parts.clock.now());
    const { embeddings, threadHost, onWarn, onBug } = parts;
    const states = (): State[] => Array.from(this.#opened.values(), ({ state }) => state);
    const memory = parts.derived.budget;
    this.#shared = {
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
    await this.#refresh();
    for (const { error } of this.#failed.values()) throw error;
    this.#schedule();
    const catalogue = this.#catalogue.engine;
    return routedEngine(
      {
        catalogue,
        all: () => Array.from(this.#opened.values(), ({ engine }) => engine),
        of: (database) => this.#of(database),
        backups: this.#backups,
        has: (database) => this.#opened.get(database)?.engine.hasDatabase(database) === true,
      },
      {
        createDatabase: (caller, name) => this.#create(caller, name),
        deleteDatabase: (caller, name) => this.#delete(caller, name),
        nodes: () => this.#nodes(),
        handOver: (to, database) => this.#owning(database).handOver(to),
        release: (database) => this.#owning(database).release(database),
        look: (database) => this.#look(database),
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
    await this.#refreshing;
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
    if (database === 'default') throw noOwner('This node is opening the database.');
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

  /** Opens what was created and closes what was deleted, as of a look that was sent after the call. */
  async #refresh(): Promise<void> {
    await this.#refreshing;
    this.#refreshing = this.#refreshed();
    try {
      await this.#refreshing;
    } finally {
      this.#refreshing = null;
    }
  }

  async #refreshed(): Promise<void> {
    const listed = new Map((await this.#node.logs.look()).map((log) => [log.name, log]));
    for (const opened of this.#opened.values()) {
      const log = listed.get(opened.name);
      if (log === undefined || log.isEnded || log.id !== opened.store.id) await this.#closeOne(opened);
      else await this.#attended(opened);
    }
    if (this.#catalogue !== null) await this.#attended(this.#catalogue);
    const waiting = [...listed.values()].filter((log) => this.#isToOpen(log));
    const openNext = async (): Promise<void> => {
      for (let log = waiting.pop(); log !== undefined && !this.#isClosed; log = waiting.pop())
        await this.#openOne(log);
    };
    await Promise.all(Array.from({ length: MAX_OPENING }, openNext));
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
    const { name, isEnded } = log;
    if (isEnded || name === CATALOGUE || isUnfinished(log) || this.#opened.has(name)) return false;
    const failed = this.#failed.get(name);
    return failed === undefined || performance.now() - failed.at > RETRY_MS;
  }

  async #openOne(log: ListedLog): Promise<void> {
    const { name } = log;
    try {
      const opened = await this.#openLog(log);
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
      await this.#refresh().catch(unasked);
      // It may be open here since before it was ended.
      if (isMine) await this.#opened.get(name)?.engine.look();
    }
    const opened = this.#opened.get(name);
    if (opened === undefined) throw noOwner('The database was removed, or cannot be opened here.');
    if (opened.store.shared.role === 'copy') {
      // Another node has it: what it did is known here once it is applied.
      await opened.engine.confirm();
      if (opened.engine.hasDatabase(name) && !opened.engine.remembers(caller))
        throw new EngineError('Conflict', `the database ${name} exists already`);
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
    if (!this.#opened.has(database)) await this.#refresh().catch(unasked);
    return (await this.#opened.get(database)?.engine.look()) ?? 0;
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
    const [{ log, nodes }, logs] = await Promise.all([
      catalogue.nodes(),
      this.#node.logs.look().catch(unasked),
    ]);
    const live = logs.filter((each) => !each.isEnded && !isUnfinished(each));
    const position = live.reduce((sum, { lastSequence }) => sum + lastSequence, 0);
    return {
      log: log === null ? null : { ...log, position },
      databases: live
        .filter(({ name }) => name !== CATALOGUE)
        .map(({ name, epoch, owner, isOwned, lastSequence }) => ({
          name,
          owner: isOwned ? owner : null,
          epoch,
          position: lastSequence,
        })),
      nodes: nodes.map((node) => ({ ...node, lagRecords: Math.max(0, position - node.position) })),
    };
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
      const rest = [...this.#opened.values()];
      const { historyId, epoch } = catalogue.context.parts.log;
      const pins: PinnedState[] = [];
      const options = { key: folderKeyOf(encryptionKey), now: () => clock.now(), random, onWarn };
      const next = async (at: number): Promise<SnapshotCopy> => {
        const opened = at === 0 ? catalogue : rest[at - 1];
        if (opened !== undefined)
          return opened.context.snapshots.pinned((pin) => {
            pins.push(pin);
            return next(at + 1);
          });
        const [first, ...others] = pins;
        const { sequence, time, parts } = joinedPins(present(first, 'the catalogue is pinned'), others);
        const covered = { sequence, time, checksum: null, historyId, epoch, parent: null };
        const pause = scheduler.pauseOf(null, 'backup');
        return spoolSnapshot(
          this.#place.backend,
          covered,
          parts(pause, () => !this.#isClosed),
          options,
        );
      };
      const copy = await next(0);
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

function unasked(error: unknown): never {
  if (!(error instanceof StatementFailed)) throw error;
  throw noOwner('PostgreSQL cannot be asked.', error);
}
