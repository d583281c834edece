/**
 * One engine made of many, one for each database: every operation goes to the engine of the database that its caller, or its
 * input, names. What belongs to no database, such as keys, is the catalogue's; lists and totals are of all of them.
 */
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import type { Backups } from '../commit/snapshots.ts';
import { compareText } from '../base/text-order.ts';
import type { Engine } from './engine.ts';
import type { EngineCounters, EngineFigures } from './engine-figures.ts';

/** The engines by the names of their databases. */
export interface Engines {
  /** Of what belongs to no database. It has an empty database `default` of its own, which nobody sees. */
  readonly catalogue: Engine;
  /** Those of databases. */
  all(): readonly Engine[];
  /** Of the database; the catalogue, which refuses with DatabaseNotFound, if there is none. Throws NoOwner. */
  of(database: string): Engine;
  /** True if there is such a database, here or at another node. */
  has(database: string): boolean;
  /** See `Engine.confirm`. Of a database that is not known here, whether there is one is known then. */
  confirm(database: string): Promise<void>;
  /** This node's part in the log of the database. */
  nodeOf(database: string): ReturnType<Engine['node']>;
  /** Of everything together. */
  readonly backups: Pick<Backups, 'last' | 'count'>;
}

/** What a routed engine cannot do by asking its parts. */
type Own =
  | 'createDatabase'
  | 'deleteDatabase'
  | 'nodes'
  | 'handOver'
  | 'release'
  | 'makeCopy'
  | 'copiesElsewhere'
  | 'databasesElsewhere'
  | 'successor'
  | 'look'
  | 'others'
  | 'heard'
  | 'backup'
  | 'journal'
  | 'whenErased'
  | 'subscribe'
  | 'close';

/** The engine over these engines, with its own part of the operations. */
export function routedEngine(engines: Engines, own: Pick<Engine, Own>): Engine {
  const { catalogue } = engines;
  const byCaller = Object.entries(catalogue).flatMap(([name, operation]) => {
    if (typeof operation !== 'function') return [];
    const run = (caller: Caller, ...input: unknown[]): unknown => {
      const { [name as keyof Engine]: found } = engines.of(caller.database);
      return (found as (caller: Caller, ...input: unknown[]) => unknown)(caller, ...input);
    };
    return [[name, run] as const];
  });
  return {
    ...(Object.fromEntries(byCaller) as unknown as Engine),
    ...ofDatabases(engines),
    ...ofStorage(engines),
    ...ofRequests(engines),
    ...totals(engines),
    keys: catalogue.keys,
    leader: followerRefusal,
    replica: null,
    ...own,
  };
}

function ofDatabases({ all, of, has }: Engines) {
  return {
    databases: async (caller) => {
      const lists = await Promise.all(all().map((engine) => engine.databases(caller)));
      const databases = lists.flatMap((list) => list.databases);
      return { databases: databases.toSorted((one, other) => compareText(one.name, other.name)) };
    },
    hasDatabase: has,
    nukeDatabase: (caller, name) => of(name).nukeDatabase(caller, name),
    quota: (caller, name, tenant) => of(name).quota(caller, name, tenant),
    setQuota: (caller, name, tenant, quota) => of(name).setQuota(caller, name, tenant, quota),
    tenants: (caller, name) => of(name).tenants(caller, name),
    createTenant: (caller, name, tenant) => of(name).createTenant(caller, name, tenant),
    deleteTenant: (caller, name, tenant) => of(name).deleteTenant(caller, name, tenant),
    nukeTenant: (caller, name, tenant) => of(name).nukeTenant(caller, name, tenant),
  } satisfies Partial<Engine>;
}

function ofRequests({ catalogue, all, of, has, nodeOf }: Engines) {
  const isHere = (database: string): boolean => has(database) && isOpen(nodeOf(database));
  return {
    // Another node's answer has its own.
    token: (database) => (isHere(database) ? of(database).token(database) : null),
    atLeast: (database, token) => of(database).atLeast(database, token),
    remembers: (caller) => of(caller.database).remembers(caller) || catalogue.remembers(caller),
    takeUses: () => all().flatMap((engine) => engine.takeUses()),
    noteUses: (told) => {
      for (const uses of told) if (isHere(uses.database)) of(uses.database).noteUses([uses]);
    },
    keptImport: (caller, key) => of(caller.database).keptImport(caller, key),
  } satisfies Partial<Engine>;
}

/** True if the log is open here: as its owner, or as a copy. */
function isOpen(node: ReturnType<Engine['node']>): boolean {
  return node !== null && node.owned + node.copies > 0;
}

function ofStorage({ catalogue, all, nodeOf, backups, ...engines }: Engines) {
  const everything = (): readonly Engine[] => [catalogue, ...all()];
  const position: Engine['position'] = () => {
    const positions = everything().map((engine) => engine.position());
    return { ...catalogue.position(), position: sum(positions.map((each) => each.position)) };
  };
  const whole = (): ReturnType<Engine['node']> => wholeNode(catalogue, all());
  const node: Engine['node'] = (database) => (database === undefined ? whole() : nodeOf(database));
  return {
    position,
    node,
    /** Of the logs that are this node's. */
    snapshot: async () => {
      const owned = everything().filter((engine) => engine.node()?.role === 'owner');
      const [first = await catalogue.snapshot(), ...others] = await Promise.all(
        owned.map((engine) => engine.snapshot()),
      );
      return others.reduce(
        (one, { position: at, bytes, elapsedMs }) => ({
          position: one.position + at,
          bytes: one.bytes + bytes,
          elapsedMs: Math.max(one.elapsedMs, elapsedMs),
        }),
        first,
      );
    },
    dropEnded: async (signal) => {
      for (const engine of everything()) await engine.dropEnded(signal);
    },
    retire: () => {
      for (const engine of everything()) engine.retire();
    },
    confirm: async (database) => {
      if (database !== undefined) return engines.confirm(database);
      await Promise.all(everything().map((engine) => engine.confirm()));
    },
    storage: () => (everything().some((engine) => engine.storage() === 'failed') ? 'failed' : 'ready'),
    storageState: () => {
      const states = everything().map((engine) => engine.storageState());
      const snapshots = states.flatMap(({ snapshot }) => snapshot ?? []);
      return {
        ...catalogue.storageState(),
        status: states.some(({ status }) => status === 'failed') ? 'failed' : 'ready',
        position: sum(states.map((state) => state.position)),
        log: summed(states.map(({ log }) => log)),
        snapshot:
          snapshots.length === 0
            ? null
            : {
                position: sum(snapshots.map((snapshot) => snapshot.position)),
                bytes: sum(snapshots.map(({ bytes }) => bytes)),
                createdAt: Math.max(...snapshots.map(({ createdAt }) => createdAt)),
              },
        backup: backups.last,
        node: whole(),
      };
    },
    clockOffsetMs: () => catalogue.clockOffsetMs(),
    embeddingsState: () => catalogue.embeddingsState(),
  } satisfies Partial<Engine>;
}

/** Role and owner of the catalogue, with the sums of databases. */
function wholeNode(catalogue: Engine, all: readonly Engine[]): ReturnType<Engine['node']> {
  const status = catalogue.node();
  if (status === null) return null;
  const others = all.flatMap((engine) => engine.node() ?? []);
  return others.reduce(
    (one, { owned, copies, lagRecords, staleMs, takes, problem }) => ({
      ...one,
      owned: one.owned + owned,
      copies: one.copies + copies,
      lagRecords: one.lagRecords + lagRecords,
      staleMs: Math.max(one.staleMs, staleMs),
      takes: one.takes + takes,
      problem: one.problem ?? problem,
    }),
    { ...status, owned: 0, copies: 0 },
  );
}

function totals({ catalogue, all, backups }: Engines) {
  return {
    counters: (): EngineCounters => {
      const counted = [catalogue, ...all()].map((engine) => engine.counters());
      const plain = counted.map(({ reasoning: _threads, shared: _shared, ...numbers }) => numbers);
      // All have the same threads.
      const { reasoning } = catalogue.counters();
      return {
        ...summed(plain),
        backups: backups.count,
        reasoning,
        shared: summed(counted.map(({ shared }) => shared)),
      };
    },
    figures: (): EngineFigures => {
      // The catalogue's own database is none.
      const own = { ...catalogue.figures(), databases: 0, tenants: 0, rules: 0, conclusions: 0 };
      const figures = all().map((engine) => engine.figures());
      const everything = [own, ...figures];
      const { reasoning } = own;
      const total = (name: NumericFigure): number => sum(everything.map(({ [name]: value }) => value));
      const snapshots = everything.flatMap(({ snapshot }) => snapshot ?? []);
      const took = everything.flatMap(({ snapshotTookMs }) => snapshotTookMs ?? []);
      return {
        ...own,
        databases: total('databases'),
        tenants: total('tenants'),
        rules: total('rules'),
        conclusions: total('conclusions') - Math.max(0, figures.length - 1) * reasoning.conclusions,
        deadRows: total('deadRows'),
        openTransactions: total('openTransactions'),
        oldestTransactionMs: Math.max(...everything.map((each) => each.oldestTransactionMs)),
        windowSessions: total('windowSessions'),
        logBytes: total('logBytes'),
        logSegments: total('logSegments'),
        logWaitingBytes: total('logWaitingBytes'),
        position: total('position'),
        snapshot:
          snapshots.length === 0
            ? null
            : {
                bytes: sum(snapshots.map(({ bytes }) => bytes)),
                at: Math.max(...snapshots.map(({ at }) => at)),
              },
        snapshotTookMs: took.length === 0 ? null : Math.max(...took),
        backupAt: backups.last?.takenAt ?? null,
      };
    },
  } satisfies Partial<Engine>;
}

type NumericFigure = Exclude<
  {
    [Name in keyof EngineFigures]: EngineFigures[Name] extends number ? Name : never;
  }[keyof EngineFigures],
  undefined
>;

/** A follower has one log, and these are several. */
const followerRefusal: Engine['leader'] = {
  followers: () => [],
  records: () => refuseFollower(),
  snapshot: () => refuseFollower(),
};

function refuseFollower(): never {
  throw new EngineError(
    'Conflict',
    'with STORE_URL a service cannot be followed: start another node with the same STORE_URL',
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** The sums of all members. */
function summed<Numbers extends object>(all: readonly Numbers[]): Numbers {
  const totals = new Map<string, number>();
  for (const each of all)
    for (const [name, value] of Object.entries(each))
      totals.set(name, (totals.get(name) ?? 0) + Number(value));
  return Object.fromEntries(totals) as Numbers;
}
