import { apply } from './apply.ts';
import { assert } from '../base/assert.ts';
import { TextMap } from '../base/text-map.ts';
import { EngineError } from '../base/errors.ts';
import { Slices } from '../base/slices.ts';
import { type AliasRecord, AliasStore } from '../store/alias-store.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import type { DeclarationRecord } from '../store/declaration-store.ts';
import { FactUses } from '../store/fact-uses.ts';
import type { PinnedFacts } from '../store/fact-store.ts';
import { isPackagedFact, type PackageRecord, type TenantPackages } from '../store/package-record.ts';
import type { Imports, KnownImport } from '../store/generations.ts';
import { type RuleRecord, RuleStore } from '../store/rule-store.ts';
import type { TestRecord } from '../store/test-store.ts';
import type { StoredOutcome, StoredOutcomes } from './idempotency.ts';
import type { KeyRecord } from './key-store.ts';
import { ColumnReader, ColumnWriter } from './columns/columns.ts';
import { readFacts, writeFacts } from './columns/facts-in-columns.ts';
import { NeededGenerations, readGenerations } from './columns/generations-in-columns.ts';
import { readUses, writeUses } from './columns/uses-in-columns.ts';
import type { Tallies } from '../datalog/model/program.ts';
import { DatabaseState, State, type TenantState } from './state.ts';
import type { Log, ReadableLog } from '../log/log.ts';
import type { OpeningProgress } from './opening-progress.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';
import { StartupError } from '../log/startup-error.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Operation } from './operation.ts';
import type { Report } from './report.ts';
import type { Rule } from '../contract/language.ts';
import type { Quota } from '../contract/quotas.ts';
import { ruleIdentity, renderRule } from '../language/print.ts';

/**
 * A pinned state, ready to be written as a snapshot: the fold of all records up to one sequence.
 *
 * It is pinned in one turn between two records and then written in slices while further records are applied; the
 * snapshot still contains the pinned state (MVCC). The first section holds logged state, the second observed state:
 * uses of facts and keys, and how often rules fired. Reading the first needs nothing of the second.
 */
export interface PinnedState {
  /** Sequence and stamp of the last applied record. */
  readonly sequence: number;
  readonly time: number;
  readonly contents: PinnedContents;
  /** The snapshot's bytes, readable once. Polls `isWanted` and throws as soon as it returns false. */
  parts(pause: () => Promise<void>, isWanted: () => boolean): AsyncGenerator<SnapshotPart>;
  /** Releases the pin. Call it in every case. */
  release(): void;
}

/** A restored state, and how often its rules had fired. */
export interface RestoredState {
  readonly state: State;
  readonly tallies: ReadonlyMap<DatabaseState, Tallies>;
  /** Sequence of the last record after the snapshot that erased something; null or absent: none did. */
  readonly clearedAt?: number | null;
}

/** Version of the snapshot's content, raised with every change. Newer versions are refused. */
const contentVersion = 10;

/**
 * The first versions with keys and imports, dropped outcomes and quotas, a shape of the knowledge, facts of the past, with
 * the time by which each `ttl` was told, with tests, and with packages.
 */
const versionWithKeys = 3;
const versionWithImports = 3;
const versionWithQuotas = 5;
const versionWithShape = 6;
const versionWithPast = 7;
const versionWithTold = 8;
const versionWithTests = 9;
const versionWithPackages = 10;

/** The first version that can say all that is in the state: programs of that version can read the snapshot. */
function versionFor(state: State): number {
  const databases = [...state.databases.values()];
  if (databases.some(({ tenants }) => [...tenants.values()].some(({ packages }) => packages.size > 0)))
    return versionWithPackages;
  if (databases.some(({ tests }) => tests.size > 0)) return versionWithTests;
  const pasts = databases.flatMap(({ tenants }) => Array.from(tenants.values(), ({ facts }) => facts.past));
  if (pasts.some(({ hasTtls }) => hasTtls)) return versionWithTold;
  if (pasts.some(({ isEmpty }) => !isEmpty)) return versionWithPast;
  const hasShape = databases.some(
    ({ declarations, constraints, tenants }) =>
      declarations.size + constraints.size > 0 ||
      [...tenants.values()].some(({ aliases }) => aliases.size > 0),
  );
  if (hasShape) return versionWithShape;
  const hasQuota = databases.some(({ quota, tenantQuotas }) => quota !== null || tenantQuotas.size > 0);
  return state.idempotency.hasDropped || hasQuota ? versionWithQuotas : 4;
}

interface StateHead {
  readonly version: number;
  readonly sequence: number;
  readonly time: number;
  /** `State.wall`; absent where it is `time`. */
  readonly wall?: number;
  readonly databases: number;
  /** Deleted databases with their last generations. */
  readonly gone: readonly (readonly [string, number])[];
}

interface DatabaseHead {
  readonly name: string;
  readonly createdAt: number;
  readonly firstGeneration: number;
  readonly tenants: readonly string[];
  /** Deleted tenants with their last generations. */
  readonly gone: readonly (readonly [string, number])[];
  /** See `DatabaseState.stamped`: its stamp and its wall clock. Absent: an earlier version. */
  readonly stamped?: readonly [number, number];
  /** See `DatabaseState.clearedIn`. Absent: never, or an earlier version. */
  readonly clearedIn?: number;
  /** The quota of all tenants together, and those of single tenants. Absent: none, or an earlier version. */
  readonly quota?: Quota;
  readonly tenantQuotas?: readonly (readonly [string, Quota])[];
}

/** How often each rule fired, by rule id. */
interface ObservedHead {
  readonly fired: readonly (readonly [string, number])[];
}

interface PinnedTenant {
  readonly name: string;
  readonly facts: PinnedFacts;
  readonly uses: FactUses;
}

interface PinnedDatabase {
  readonly head: DatabaseHead;
  readonly observed: ObservedHead;
  readonly generation: number;
  readonly generations: NeededGenerations;
  readonly imports: readonly KnownImport[];
  readonly rules: readonly RuleRecord[];
  readonly shape: DatabaseShape;
  /** Of each tenant. */
  readonly packages: readonly (readonly PackageRecord[])[];
  readonly tenants: readonly PinnedTenant[];
}

/** What gives the knowledge of a database its shape, with the aliases of each tenant. */
interface DatabaseShape {
  readonly declarations: readonly DeclarationRecord[];
  readonly constraints: readonly ConstraintRecord[];
  readonly tests: readonly TestRecord[];
  readonly aliases: readonly (readonly AliasRecord[])[];
}

/** What a pinned state is written from. */
interface PinnedContents {
  readonly head: StateHead;
  readonly databases: readonly PinnedDatabase[];
  readonly outcomes: Iterable<StoredOutcome>;
  readonly keys: readonly KeyRecord[];
  readonly keyUses: readonly (readonly [string, number])[];
}

/** Pins the state. Call it between two records; one pin at a time. */
export function pinState(state: State, talliesOf: (database: DatabaseState) => Tallies): PinnedState {
  const { sequence, time, wall } = state;
  const databases = Array.from(state.databases.values(), (database) => pinned(database, talliesOf(database)));
  const gone = [...state.goneDatabases];
  const head: StateHead = {
    version: versionFor(state),
    sequence,
    time,
    ...(wall === time ? {} : { wall }),
    databases: databases.length,
    gone,
  };
  const outcomes = state.idempotency.all();
  const keys = [...state.keys.all()];
  const keyUses = state.keys.uses();
  return pinnedOver({ head, databases, outcomes, keys, keyUses }, () => {
    for (const { tenants } of databases)
      for (const { facts, uses } of tenants) {
        facts.numbers.unpin();
        uses.unpin();
      }
  });
}

function pinnedOver(contents: PinnedContents, release: () => void): PinnedState {
  const { head, databases, outcomes, keys, keyUses } = contents;
  const { sequence, time } = head;
  return {
    sequence,
    time,
    contents,
    parts: async function* (pause, isWanted) {
      const slices = new Slices(async () => {
        await pause();
        if (!isWanted()) throw new EngineError('NotReady', 'the snapshot is no longer needed');
      });
      for await (const bytes of writeState(head, { databases, outcomes, keys }, slices))
        yield { section: 'state', bytes };
      for await (const bytes of writeObserved(databases, keyUses, slices))
        yield { section: 'observed', bytes };
    },
    release,
  };
}

/** One state of these: keys of the first, and databases of the others. Release them, not this one. */
export function joinedPins(catalogue: PinnedState, others: readonly PinnedState[]): PinnedState {
  const all = [catalogue, ...others].map(({ contents }) => contents);
  const heads = all.map(({ head }) => head);
  const databases = others.flatMap(({ contents }) => contents.databases);
  const latest = heads.reduce((one, other) => (other.time > one.time ? other : one));
  const head: StateHead = {
    ...latest,
    version: Math.max(...heads.map(({ version }) => version)),
    sequence: heads.reduce((sum, { sequence }) => sum + sequence, 0),
    databases: databases.length,
    gone: heads.flatMap(({ gone }) => gone),
  };
  const outcomes = all
    .flatMap((contents) => [...contents.outcomes])
    .toSorted((one, other) => one.time - other.time);
  const { keys, keyUses } = catalogue.contents;
  return pinnedOver({ head, databases, outcomes, keys, keyUses }, () => {});
}

/**
 * Restores the state from the log's snapshot, ready for the records after it. Rejects with a StartupError if the
 * snapshot is newer. `withObserved`: includes observed state, which is optional.
 */
export async function readState(
  log: Pick<Log, 'readSnapshot'>,
  pause: () => Promise<void>,
  withObserved = true,
): Promise<RestoredState> {
  const slices = new Slices(pause);
  const columns = new ColumnReader(log.readSnapshot('state'), slices);
  const head = (await columns.json()) as StateHead;
  if (head.version > contentVersion)
    throw new StartupError(
      `The snapshot has state version ${head.version}; this program reads versions up to ${contentVersion}. ` +
        'Nothing was changed. Use the newer program that wrote it.',
    );
  const state = new State();
  for (const [name, generation] of head.gone) state.goneDatabases.set(name, generation);
  await readOutcomes(columns, state.idempotency);
  if (head.version >= versionWithKeys)
    await columns.texts((text) => state.keys.put(JSON.parse(decoder.decode(text)) as KeyRecord));
  for (let count = 0; count < head.databases; count++) {
    const database = await readDatabase(columns, head, slices);
    state.databases.set(database.name, database);
  }
  assert(await columns.isAtEnd(), 'a snapshot holds what its head says');
  state.sequence = head.sequence;
  state.time = head.time;
  state.wall = head.wall ?? head.time;
  return { state, tallies: withObserved ? await readObserved(log, state, slices) : new Map() };
}

function pinned(database: DatabaseState, tallies: Tallies): PinnedDatabase {
  const {
    name,
    createdAt,
    lastGeneration: generation,
    firstGeneration,
    goneTenants,
    quota,
    tenantQuotas,
  } = database;
  const { stamped, clearedIn } = database;
  const tenants = Array.from(database.tenants, ([tenant, { facts, uses }]): PinnedTenant => {
    uses.pin();
    return { name: tenant, facts: facts.pin(), uses };
  });
  return {
    head: {
      name,
      createdAt,
      firstGeneration,
      tenants: tenants.map((tenant) => tenant.name),
      gone: [...goneTenants],
      ...(stamped === null ? {} : { stamped: [stamped.time, stamped.wall] }),
      ...(clearedIn === 0 ? {} : { clearedIn }),
      ...(quota === null ? {} : { quota }),
      ...(tenantQuotas.size === 0 ? {} : { tenantQuotas: [...tenantQuotas] }),
    },
    observed: { fired: Array.from(tallies, ([rule, { fired }]) => [rule, fired] as const) },
    generation,
    generations: new NeededGenerations(database.generations),
    imports: database.imports.saved(),
    rules: database.rules.all(),
    shape: {
      declarations: database.declarations.all(),
      constraints: database.constraints.all(),
      tests: database.tests.all(),
      aliases: Array.from(database.tenants.values(), ({ aliases }) => aliases.all()),
    },
    packages: Array.from(database.tenants.values(), ({ packages }) => [...packages.values()]),
    tenants,
  };
}

async function* writeState(
  head: StateHead,
  {
    databases,
    outcomes,
    keys,
  }: {
    readonly databases: readonly PinnedDatabase[];
    readonly outcomes: Iterable<StoredOutcome>;
    readonly keys: readonly KeyRecord[];
  },
  slices: Slices,
): AsyncGenerator<Uint8Array> {
  const columns = new ColumnWriter(slices);
  yield* columns.json(head);
  yield* columns.texts(utf8Of(outcomes));
  yield* columns.texts(utf8Of(keys));
  for (const database of databases) {
    yield* columns.json(database.head);
    yield* writeRules(database.rules, columns);
    const { generation, generations, imports } = database;
    for (const { facts } of database.tenants)
      yield* writeFacts(facts, generation, columns, slices, generations.need);
    yield* generations.write(columns, slices);
    yield* columns.texts(utf8Of(imports));
    if (head.version < versionWithShape) continue;
    const { declarations, constraints, tests, aliases } = database.shape;
    yield* columns.texts(utf8Of(declarations));
    yield* columns.texts(utf8Of(constraints));
    for (const each of aliases) yield* columns.texts(utf8Of(each));
    if (head.version >= versionWithTests) yield* columns.texts(utf8Of(tests));
    if (head.version >= versionWithPackages)
      for (const each of database.packages) yield* columns.texts(packagesUtf8(each));
  }
}

/** Each package as a head in JSON, and then a line for each thing that it holds: the generation and the key. */
function* packagesUtf8(packages: readonly PackageRecord[]): Generator<Uint8Array> {
  for (const { facts, shared, ...head } of packages) {
    yield encoder.encode(JSON.stringify(head));
    for (const holdings of [facts, shared])
      for (const [key, generation] of holdings) yield encoder.encode(`${generation} ${key}`);
  }
}

/** Reads what `packagesUtf8` wrote. */
async function readPackages(columns: ColumnReader, packages: TenantPackages): Promise<void> {
  let [facts, shared] = [new TextMap<number>(), new TextMap<number>()];
  await columns.texts((text) => {
    const line = decoder.decode(text);
    if (line.startsWith('{')) {
      [facts, shared] = [new TextMap(), new TextMap()];
      const head = JSON.parse(line) as Omit<PackageRecord, 'facts' | 'shared'>;
      packages.set(head.name, { ...head, facts, shared });
      return;
    }
    const end = line.indexOf(' ');
    const key = line.slice(end + 1);
    (isPackagedFact(key) ? facts : shared).set(key, Number(line.slice(0, end)));
  });
}

type WrittenItem =
  | StoredOutcome
  | KeyRecord
  | KnownImport
  | DeclarationRecord
  | ConstraintRecord
  | TestRecord
  | AliasRecord;

/** Each as JSON in UTF-8. */
function* utf8Of(all: Iterable<WrittenItem>): Generator<Uint8Array> {
  for (const each of all) yield encoder.encode(JSON.stringify(each));
}

function readOutcomes(columns: ColumnReader, outcomes: StoredOutcomes): Promise<void> {
  return columns.texts((text) => outcomes.put(JSON.parse(decoder.decode(text)) as StoredOutcome));
}

function readImports(columns: ColumnReader, imports: Imports): Promise<void> {
  return columns.texts((text) => imports.restore(JSON.parse(decoder.decode(text)) as KnownImport));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

async function readDatabase(
  columns: ColumnReader,
  { time, wall = time, version }: StateHead,
  slices: Slices,
): Promise<DatabaseState> {
  const head = (await columns.json()) as DatabaseHead;
  const { name, createdAt, firstGeneration, tenants, gone, quota, tenantQuotas = [] } = head;
  const { stamped = [time, wall], clearedIn = 0 } = head;
  const rules = await readRules(columns);
  const stores = new Map<string, TenantState>();
  for (const tenant of tenants) {
    const facts = await readFacts(columns, wall, slices);
    stores.set(tenant, { facts, uses: new FactUses(facts), aliases: new AliasStore(), packages: new Map() });
  }
  const generations = await readGenerations(columns);
  const database = new DatabaseState(name, createdAt, firstGeneration, generations, rules);
  if (version >= versionWithImports) await readImports(columns, database.imports);
  if (version >= versionWithShape) {
    const { declarations, constraints } = database;
    await columns.texts((text) => declarations.put(JSON.parse(decoder.decode(text)) as DeclarationRecord));
    await columns.texts((text) => constraints.put(JSON.parse(decoder.decode(text)) as ConstraintRecord));
    for (const { aliases } of stores.values())
      await columns.texts((text) => aliases.add(JSON.parse(decoder.decode(text)) as AliasRecord));
  }
  if (version >= versionWithTests)
    await columns.texts((text) => database.tests.put(JSON.parse(decoder.decode(text)) as TestRecord));
  if (version >= versionWithPackages)
    for (const { packages } of stores.values()) await readPackages(columns, packages);
  database.stamped = { time: stamped[0], wall: stamped[1] };
  database.clearedIn = clearedIn;
  for (const [tenant, generation] of gone) database.goneTenants.set(tenant, generation);
  for (const [tenant, store] of stores) database.tenants.set(tenant, store);
  if (quota !== undefined) database.setQuota(null, quota);
  for (const [tenant, limits] of tenantQuotas) database.setQuota(tenant, limits);
  return database;
}

async function* writeObserved(
  databases: readonly PinnedDatabase[],
  keyUses: readonly (readonly [string, number])[],
  slices: Slices,
): AsyncGenerator<Uint8Array> {
  const columns = new ColumnWriter(slices);
  for (const { observed, tenants } of databases) {
    yield* columns.json(observed);
    for (const { uses, facts } of tenants) yield* writeUses(uses, facts.count, columns, slices);
  }
  yield* columns.json(keyUses);
}

async function readObserved(
  log: Pick<Log, 'readSnapshot'>,
  state: State,
  slices: Slices,
): Promise<Map<DatabaseState, Tallies>> {
  const tallies = new Map<DatabaseState, Tallies>();
  const columns = new ColumnReader(log.readSnapshot('observed'), slices);
  if (await columns.isAtEnd()) return tallies;
  for (const database of state.databases.values()) {
    const { fired } = (await columns.json()) as ObservedHead;
    tallies.set(database, new Map(fired.map(([rule, count]) => [rule, { fired: count }])));
    for (const { uses } of database.tenants.values()) await readUses(columns, uses, slices);
  }
  // Snapshots of versions without keys end here.
  if (await columns.isAtEnd()) return tallies;
  for (const [id, time] of (await columns.json()) as [string, number][]) state.keys.noteUse(id, time);
  return tallies;
}

function nothing(): RestoredState {
  return { state: new State(), tallies: new Map() };
}

/** Recovers the state from the log: its snapshot, if any, then the records after it. `progress` is told of both. */
export async function stateOf(
  log: ReadableLog,
  pause: () => Promise<void>,
  progress: OpeningProgress | null = null,
): Promise<RestoredState> {
  const restored = log.snapshot() === null ? nothing() : await readState(counted(log, progress), pause);
  const { state } = restored;
  let clearedAt: number | null = null;
  for await (const record of log.read(state.sequence)) {
    if (erasesHistory(record, apply(state, record))) clearedAt = record.sequence;
    progress?.recordApplied();
  }
  return { ...restored, clearedAt };
}

/** True if something that the record erased may be in the log before it. */
export function erasesHistory({ operation }: LogRecord, { cleared }: Pick<Report, 'cleared'>): boolean {
  if ((operation as Operation).kind === 'forget') return true;
  if (cleared === null) return false;
  const { tenants, rules, isDatabaseGone } = cleared;
  if (rules > 0 || isDatabaseGone) return true;
  for (const { facts, aliases, packages } of tenants.values())
    if (facts.relations.size + aliases.size + packages.size > 0) return true;
  return false;
}

/** The log's snapshot, whose bytes are counted as they are read. */
function counted(log: ReadableLog, progress: OpeningProgress | null): Pick<Log, 'readSnapshot'> {
  if (progress === null) return log;
  return {
    readSnapshot: async function* (section) {
      for await (const bytes of log.readSnapshot(section)) {
        yield bytes;
        progress.snapshotRead(bytes.length);
      }
    },
  };
}

/** A rule as written; its text and identity are recomputed. */
type WrittenRule = Omit<RuleRecord, 'text' | 'identity'>;

/** Writes the rules of one database in order. */
function writeRules(rules: readonly RuleRecord[], columns: ColumnWriter): AsyncGenerator<Uint8Array> {
  return columns.texts(rulesUtf8(rules));
}

/** Reads what `writeRules` wrote. */
async function readRules(columns: ColumnReader): Promise<RuleStore> {
  const rules = new RuleStore();
  await columns.texts((text) => {
    const written = JSON.parse(decoder.decode(text)) as WrittenRule;
    const rule: Rule = written.rule;
    rules.put({ ...written, text: renderRule(rule), identity: ruleIdentity(rule) });
  });
  return rules;
}

function* rulesUtf8(rules: readonly RuleRecord[]): Generator<Uint8Array> {
  for (const { text: _text, identity: _identity, ...written } of rules)
    yield encoder.encode(JSON.stringify(written satisfies WrittenRule));
}
