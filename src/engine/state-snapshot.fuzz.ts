/**
 * Snapshots of random states: what is read back, and the records after it, amount to what all records do; whatever is
 * written, compacted and used while the snapshot is.
 */
import { expect, test } from 'vitest';
import { apply } from './apply.ts';
import { present } from './base/assert.ts';
import { Prng } from './base/prng.ts';
import type { FactIdentity, FactPattern, FactStore, FactToStore } from './facts/fact-store.ts';
import { keyRememberedFor } from './idempotency.ts';
import type { KeyStore } from './key-store.ts';
import { parseRule } from './logic/parse.ts';
import { type Operation, operationVersion } from './operation.ts';
import { type DatabaseState, State } from './state.ts';
import { pinState, readState } from './state-snapshot.ts';
import type { LogRecord } from './storage/codec.ts';
import { openLog } from './storage/log.ts';
import { memoryBackend, type MemoryBackend } from './storage/memory-backend.ts';
import type { SnapshotPart } from './storage/snapshot-writer.ts';
import { logOptions } from './testing/log-fixtures.ts';

const runs = process.env['LONG'] === '1' ? 1000 : 8;
const day = 86_400_000;
const timeout = 3_600_000;
const scopes = [null, 's', 'second scope'];
const pause = async (): Promise<void> => {};

/** Random records, for states that hold the same. */
class Writer {
  readonly #prng: Prng;
  readonly #state: State;
  #time = 1_700_000_000_000;

  /** Ids and rules are picked from this state, which is kept up with what is written. */
  constructor(prng: Prng, state: State) {
    this.#prng = prng;
    this.#state = state;
  }

  next(): LogRecord {
    const prng = this.#prng;
    this.#time += prng.chance(0.1) ? prng.below(day / 4) : prng.below(1000);
    const { sequence } = this.#state;
    const names = [...this.#state.databases.keys()];
    const database = names.length === 0 ? 'default' : prng.pick(names);
    const operation: Operation =
      names.length === 0 || prng.chance(0.02)
        ? { kind: 'createDatabase', name: names.length === 0 ? 'default' : `database ${sequence}` }
        : prng.chance(0.1)
          ? this.#keyOperation(sequence)
          : this.#operation(present(this.#state.databases.get(database), 'a database has its name'));
    return {
      sequence: sequence + 1,
      time: this.#time,
      requestId: prng.chance(0.1) ? `\ufeffré-${sequence}` : `request-${sequence}`,
      actor: prng.chance(0.5) ? null : 'actor',
      ...(prng.chance(0.3) ? { idempotency: this.#mark(sequence) } : {}),
      database,
      generation: 0,
      version: operationVersion,
      operation,
    };
  }

  #operation(database: DatabaseState): Operation {
    const prng = this.#prng;
    const tenant = prng.pick(['one', 'two', 'Ünïcode']);
    const kind = prng.below(17);
    const rules = database.rules.all();
    if (kind < 5) {
      const count = prng.chance(0.05) ? 300 : 1 + prng.below(6);
      const facts = Array.from({ length: count }, () => this.#fact());
      const importId = `import ${prng.below(8)} of ${tenant}`;
      if (prng.chance(0.1)) return { kind: 'undoImport', tenant, importId };
      return { kind: 'assert', tenant, facts, ...(prng.chance(0.4) ? { importId } : {}) };
    }
    if (kind === 5) return { kind: 'retract', tenant, pattern: this.#pattern() };
    if (kind === 6) {
      const id = `f${prng.below(database.generation + 1)}-${prng.below(3)}`;
      return { kind: 'retractById', tenant, id };
    }
    if (kind > 9) return this.#wideOperation(database, tenant);
    const rule = {
      rule: parseRule(prng.pick(['q(?x) :- p(?x)', 'q(?y) :- p(?y), not r(?y)', '-q(?x) :- s(?x, ?_)'])),
      scope: prng.chance(0.3) ? 's' : null,
      name: prng.chance(0.3) ? `name ${prng.below(3)}` : null,
      description: null,
      enabled: prng.chance(0.5) ? prng.chance(0.5) : null,
    };
    if (kind === 7 || rules.length === 0) return { kind: 'teach', rule };
    const { id } = prng.pick(rules);
    if (kind === 8) return { kind: 'updateRule', id, rule: { ...rule, rule: null, scope: null } };
    return { kind: 'forgetRule', id };
  }

  #keyOperation(sequence: number): Operation {
    const prng = this.#prng;
    const keys = [...this.#state.keys.all()];
    const names = (): string[] => (prng.chance(0.5) ? [] : ['one', `two ${prng.below(9)}`]);
    const expiresAt = prng.chance(0.5) ? null : this.#time + prng.below(day);
    const role = prng.pick(['admin', 'writer', 'reader', 'replica'] as const);
    const rest = {
      databases: names(),
      tenants: names(),
      description: prng.chance(0.5) ? null : 'é',
      expiresAt,
    };
    const key = { id: `key ${sequence}`, prefix: `cor_${prng.below(3)}`, hash: `${sequence}`, role, ...rest };
    if (keys.length === 0 || prng.chance(0.5)) return { kind: 'createKey', key };
    const { id } = prng.pick(keys);
    if (prng.chance(0.5)) return { kind: 'updateKey', id, change: prng.chance(0.5) ? rest : { expiresAt } };
    return prng.chance(0.8) ? { kind: 'revokeKey', id } : { kind: 'revokeAdminKeys' };
  }

  #mark(sequence: number): NonNullable<LogRecord['idempotency']> {
    const key = this.#prng.chance(0.2) ? 'again' : `key ${sequence}`;
    return { key, fingerprint: key, space: '' };
  }

  /** A commit, or something about a scope, a tenant or the database as a whole. */
  #wideOperation(database: DatabaseState, tenant: string): Operation {
    const prng = this.#prng;
    const [source, target] = [prng.pick(scopes), prng.pick(scopes)];
    if (prng.chance(0.3)) return this.#memoryOperation(database, tenant);
    const kind = prng.below(20);
    if (kind < 8) return this.#commit(tenant);
    if (kind < 11) return { kind: 'forkScope', tenant, source, target, withRules: prng.chance(0.5) };
    if (kind < 14) {
      const strategy = prng.pick(['SOURCE_WINS', 'TARGET_WINS', 'KEEP_BOTH'] as const);
      const base = prng.chance(0.5) ? prng.pick(scopes) : null;
      return { kind: 'mergeScopes', tenant, source, target, strategy, base, resolutions: [] };
    }
    if (kind < 16) return { kind: 'deleteScope', tenant, scope: source ?? 's', withRules: prng.chance(0.5) };
    if (!database.tenants.has(tenant)) return { kind: 'createTenant', tenant };
    if (kind < 18) return { kind: prng.pick(['deleteTenant', 'nukeTenant'] as const), tenant };
    if (kind < 19 || database.name === 'default') return { kind: 'nukeDatabase' };
    return { kind: 'deleteDatabase' };
  }

  /** What decay, consolidation and restoring log: facts by their numbers, and what comes in their place. */
  #memoryOperation(database: DatabaseState, tenant: string): Operation {
    const prng = this.#prng;
    const numbers: number[] = [];
    for (const { number, count } of database.tenants.get(tenant)?.facts.relations.values() ?? [])
      for (let row = 0; row < count; row++) if (prng.chance(0.1)) numbers.push(number[row] as number);
    const kind = prng.below(3);
    const scope = prng.pick([{ kind: 'all' }, { kind: 'unscoped' }, { kind: 'scope', scope: 's' }] as const);
    const [first] = numbers;
    if (kind === 0 || first === undefined)
      return { kind: 'decay', tenant, scope, facts: numbers, answer: null };
    const createdAt = this.#time - prng.below(day);
    if (kind === 1) {
      const facts = Array.from({ length: prng.below(5) }, () => ({ ...this.#fact(), createdAt }));
      return { kind: 'restore', tenant, summary: first, facts, answer: null };
    }
    const value = { value: 'a', createdAt, metadata: { deep: [1] } };
    const summary = {
      predicate: prng.pick(['p_summary', 's_summary']),
      args: [prng.pick(['a', 'b', 'é']), '1'],
      truthVal: prng.chance(0.8),
      scope: prng.pick(scopes),
      metadata: { importance: 1 },
      from: 'p',
      position: 1,
      count: 1,
      first: createdAt,
      last: createdAt,
    };
    return {
      kind: 'consolidate',
      tenant,
      retract: numbers,
      summaries: [summary],
      values: [value],
      answer: null,
    };
  }

  #commit(tenant: string): Operation {
    const distinct = <Fact extends FactIdentity>(facts: readonly Fact[]): Fact[] => [
      ...new Map(
        facts.map((fact) => [JSON.stringify([fact.predicate, fact.args, fact.truthVal, fact.scope]), fact]),
      ).values(),
    ];
    const some = (): FactToStore[] => Array.from({ length: this.#prng.below(5) }, () => this.#fact());
    const retract = distinct(some()).map(({ predicate, args, truthVal, scope }) => ({
      predicate,
      args,
      truthVal,
      scope,
    }));
    return { kind: 'commit', tenant, retract, assert: distinct(some()), rules: [], operations: 2 };
  }

  #identity(): Pick<FactToStore, 'predicate' | 'args' | 'scope'> {
    const prng = this.#prng;
    const constant = (): string => prng.pick(['a', 'b', '', 'é', '\ufeff', 'long '.repeat(30), '1', '😀']);
    const [predicate, arity] = prng.pick([['p', 1] as const, ['s', 2] as const, ['n', 0] as const]);
    const args = Array.from({ length: arity }, constant);
    return { predicate, args, scope: prng.pick([null, null, 's', 'second scope']) };
  }

  #fact(): FactToStore {
    const prng = this.#prng;
    const from = prng.chance(0.2) ? this.#time + prng.below(day) - day / 2 : null;
    const until = prng.chance(0.4) ? (from ?? this.#time) + 1 + prng.below(day / 4) : null;
    return {
      ...this.#identity(),
      truthVal: prng.chance(0.8),
      ...(from === null ? {} : { validFrom: from }),
      ...(until === null ? {} : { validUntil: until }),
      ...(prng.chance(0.3)
        ? { metadata: { importance: prng.below(3) / 2, deep: { list: [null, 'é'] } } }
        : {}),
    };
  }

  #pattern(): FactPattern {
    const { predicate, args, scope } = this.#identity();
    return {
      predicate,
      args: args.map((arg) => (this.#prng.chance(0.5) ? '?x' : arg)),
      truthVal: this.#prng.chance(0.5) ? null : true,
      scope: scope === null ? { kind: 'all' } : { kind: 'scope', scope },
    };
  }
}

/**
 * All that a state knows that anybody could be told, as JSON; what it knows of retracted facts only where that is
 * asked for, since compaction may let go of it. The state is of no use afterwards.
 */
function everything(state: State, withDead: boolean): unknown {
  const databases = [...state.databases.values()].map((database) => ({
    name: database.name,
    createdAt: database.createdAt,
    generation: database.generation,
    rules: database.rules.all(),
    gone: [...database.goneTenants],
    imports: database.imports.saved(),
    tenants: [...database.tenants].map(([name, { facts, uses }]) => ({
      name,
      createdAt: facts.createdAt,
      forgottenThrough: facts.forgottenThrough,
      scopeRecords: [...facts.scopes.all()].sort(([one], [other]) => one - other),
      scopes: facts.scopeNames,
      relations: [...facts.relations.keys()],
      facts: factsOf(database, facts)
        .filter(({ isAlive }) => withDead || isAlive)
        .map(({ fact, ...told }) => ({
          ...told,
          uses: uses.of(fact, database.createdAtOf(facts, fact)),
        })),
      ended: endedOf(facts, database.generation, state.time),
      boundaries: boundariesAfter(facts, state.time),
    })),
  }));
  const { sequence, time, goneDatabases, idempotency, keys } = state;
  // Those that are a day old are forgotten sooner or later.
  const outcomes = [...idempotency.all()].filter((kept) => kept.time > time - keyRememberedFor);
  const told = { sequence, time, databases, gone: [...goneDatabases], outcomes, keys: keysOf(keys) };
  return JSON.parse(JSON.stringify(told));
}

function keysOf(keys: KeyStore): unknown {
  const kept = Array.from(keys.all(), (key) => ({
    ...key,
    lastUsedAt: keys.lastUsedAt(key.id),
    isFound: keys.withPrefix(key.prefix).includes(key),
  }));
  return { kept, size: keys.size, hasAdmin: keys.hasAdmin };
}

function factsOf(database: DatabaseState, facts: FactStore) {
  return [...facts.relations.values()].flatMap((relation) => {
    const newest: number[] = [];
    for (let row = 0; row < relation.count; row++) {
      const identity = Int32Array.from(relation.columns, (column) => column[row] as number);
      if (relation.find(identity) === row) newest.push(row);
    }
    return newest.map((row) => {
      const fact = { relation, row };
      const { predicate, args, truthVal, scope } = facts.identityOf(fact);
      const changes = facts.changesOf(fact);
      return {
        fact,
        atom: [truthVal, predicate, ...args, scope],
        id: facts.idOf(fact),
        found: facts.byId(facts.idOf(fact))?.row === row,
        isAlive: relation.isAlive(row),
        changedAt: facts.changedAt(predicate, args, truthVal, scope),
        bounds: [relation.validFrom?.[row] ?? -Infinity, relation.validUntil?.[row] ?? Infinity].map(String),
        metadata: facts.metadataOf(fact),
        history: [facts.assertedIn(fact), ...changes].map((generation) => [
          generation,
          database.timeOf(generation),
          database.requestOf(generation),
        ]),
        times: database.timesOf(facts, fact),
      };
    });
  });
}

function endedOf(facts: FactStore, generation: number, time: number): string[] {
  const patterns = [
    { predicate: 'p', args: ['?x'] },
    { predicate: 's', args: ['?x', '?y'] },
    { predicate: 'n', args: [] },
  ];
  return patterns
    .flatMap((pattern) =>
      [true, false].map((truthVal) => ({ ...pattern, truthVal, scope: { kind: 'all' as const } })),
    )
    .flatMap((pattern) =>
      [...facts.matchEnded(pattern, generation, time)].map((ended) => JSON.stringify(ended)),
    )
    .sort();
}

/** The instants to come at which something about a stored fact changes, with its id. */
function boundariesAfter(facts: FactStore, time: number): string[] {
  facts.boundaries.takeUntil(time);
  const told: string[] = [];
  for (let at = facts.boundaries.next; Number.isFinite(at); at = facts.boundaries.next)
    for (const number of facts.boundaries.takeUntil(at)) {
      const fact = facts.versionOf(number);
      if (fact.row < 0 || !fact.relation.isAlive(fact.row)) continue;
      const { validFrom, validUntil } = fact.relation;
      if (validFrom?.[fact.row] === at || validUntil?.[fact.row] === at)
        told.push(`${at} ${facts.idOf(fact)}`);
    }
  return told.sort();
}

/** A question of somebody used facts, and their key. */
function noteUses({ databases, keys, time }: State, prng: Prng): void {
  for (const { id } of keys.all()) if (prng.chance(0.3)) keys.noteUse(id, time);
  for (const { tenants } of databases.values())
    for (const { facts, uses } of tenants.values())
      for (const relation of facts.relations.values())
        for (let row = 0; row < relation.count; row++)
          if (relation.isAlive(row) && prng.chance(0.3)) uses.note({ relation, row }, time, time);
}

function compact({ databases }: State): void {
  for (const { tenants, generation } of databases.values())
    for (const { facts } of tenants.values()) facts.compact(facts.relations.keys(), generation);
}

/** What happened to a state: a record was applied, its facts were used, or its relations compacted. */
type Event = LogRecord | { readonly usedBy: number } | 'compacted';

function happen(state: State, event: Event): void {
  if (event === 'compacted') compact(state);
  else if ('usedBy' in event) noteUses(state, new Prng(event.usedBy));
  else apply(state, JSON.parse(JSON.stringify(event)) as LogRecord);
}

function happened(events: readonly Event[]): State {
  const state = new State();
  for (const event of events) happen(state, event);
  return state;
}

async function reopened(backend: MemoryBackend, seed: number) {
  const { log } = await openLog(backend, logOptions({ segmentBytes: 5000 }, seed));
  const { state } = await readState(log, pause);
  for await (const record of log.read(state.sequence)) apply(state, record);
  return { log, state };
}

async function run(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const withDead = prng.chance(0.5);
  const backend = memoryBackend();
  const events: Event[] = [];
  const reference = new State();
  const writer = new Writer(prng, reference);
  const fired = new Map([['r1', { fired: seed % 7 }]]);
  let { log } = await openLog(backend, logOptions({ segmentBytes: 5000 }, seed));
  let state = new State();
  const meet = (event: Event): void => {
    events.push(event);
    for (const each of [reference, state]) happen(each, event);
  };
  const write = async (count: number): Promise<void> => {
    for (let written = 0; written < count; written++) {
      const record = writer.next();
      await log.append([record], () => meet(record));
    }
  };
  for (let round = 0; round < 1 + prng.below(3); round++) {
    await write(1 + prng.below(60));
    meet({ usedBy: prng.next() });
    if (!withDead) meet('compacted');
    await log.beginSegment();
    const pin = pinState(state, () => fired);
    const before = events.length;
    const during = async function* (): AsyncGenerator<SnapshotPart> {
      for await (const part of pin.parts(pause, () => true)) {
        if (prng.chance(0.05)) await write(prng.below(4));
        if (!withDead && prng.chance(0.02)) meet('compacted');
        yield part;
      }
    };
    await log.putSnapshot(pin, during());
    pin.release();
    const snapshot = await readState(log, pause);
    expect(everything(snapshot.state, withDead), `seed ${seed}, read`).toEqual(
      everything(happened(events.slice(0, before)), withDead),
    );
    for (const tallies of snapshot.tallies.values()) expect([...tallies]).toEqual([...fired]);
    if (prng.chance(0.5)) await write(prng.below(30));
    await log.close();
    ({ log, state } = await reopened(backend, prng.next()));
  }
  await write(prng.below(20));
  await log.close();
  const last = await reopened(backend, prng.next());
  const told = everything(reference, withDead);
  expect(everything(state, withDead), `seed ${seed}, live`).toEqual(told);
  expect(everything(last.state, withDead), `seed ${seed}, reopened`).toEqual(told);
}

test('a snapshot and the records after it amount to what all records do', { timeout }, async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  for (let at = 0; at < runs; at++) await run(seed + at);
});
