/**
 * A state as plain JSON, in an order independent of its history: for comparing states that were folded from the log,
 * read from a snapshot, or live.
 *
 * Two states of the same records are equal, except for the optional parts (`ToldMore`).
 */
import type { FactStore } from '../store/fact-store.ts';
import { idempotencyWindowMs } from '../state/idempotency.ts';
import type { KeyStore } from '../state/key-store.ts';
import type { DatabaseState, State } from '../state/state.ts';

/** Optional parts that may differ between states of the same records. */
export interface ToldMore {
  /** What is known of retracted facts: compaction may drop it. */
  readonly dead: boolean;
  /** How often facts were used, and when keys were: observed, not logged. */
  readonly uses: boolean;
  /** What will begin or end, and when. Consumes the state. */
  readonly boundaries: boolean;
  /** The predicates of all facts ever stored: a snapshot keeps only those in use. */
  readonly relations: boolean;
}

/** The logged state, as text: the same on every replica at the same sequence. */
export function loggedTold(state: State): string {
  return JSON.stringify(
    toldState(state, { dead: false, uses: false, boundaries: false, relations: false }),
    inOrder,
  );
}

/** The fields may have been written in any order. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Everything observable in a state, as JSON. */
export function toldState(state: State, more: ToldMore): unknown {
  const databases = [...state.databases.values()].map((database) => ({
    name: database.name,
    createdAt: database.createdAt,
    generation: database.lastGeneration,
    rules: database.rules.all(),
    declarations: database.declarations.all(),
    constraints: database.constraints.all(),
    tests: database.tests.all(),
    gone: [...database.goneTenants],
    quota: database.quota,
    tenantQuotas: [...database.tenantQuotas],
    imports: database.imports.saved(),
    tenants: [...database.tenants].map(([name, { facts, uses, aliases, packages }]) => ({
      name,
      packages: Array.from(packages.values(), ({ facts: held, shared, ...head }) => ({
        ...head,
        held: [...held],
        shared: [...shared],
      })),
      aliases: aliases.all(),
      createdAt: facts.createdAt,
      forgottenThrough: facts.forgottenThrough,
      scopeRecords: [...facts.scopes.all()].sort(([one], [other]) => one - other),
      scopes: facts.scopeNames,
      mergeBases: facts.mergeBases.saved(),
      archive: archiveOf(facts),
      ...(more.relations ? { relations: [...facts.relations.keys()] } : {}),
      facts: factsOf(database, facts)
        .filter(({ isAlive }) => more.dead || isAlive)
        .map(({ fact, ...told }) => ({
          ...told,
          ...(more.uses ? { uses: uses.of(fact, database.createdAtOf(facts, fact)) } : {}),
        })),
      ended: endedOf(facts, database.lastGeneration, state.time),
      ...(more.boundaries ? { boundaries: boundariesAfter(facts, state.time) } : {}),
    })),
  }));
  const { sequence, time, goneDatabases, idempotency, keys } = state;
  // Those that are a day old are forgotten eventually.
  const outcomes = [...idempotency.all()].filter((kept) => kept.time > time - idempotencyWindowMs);
  const told = {
    sequence,
    time,
    databases,
    gone: [...goneDatabases],
    outcomes,
    keys: keysOf(keys, more.uses),
  };
  return JSON.parse(JSON.stringify(told));
}

function keysOf(keys: KeyStore, withUses: boolean): unknown {
  const kept = Array.from(keys.all(), (key) => ({
    ...key,
    ...(withUses ? { lastUsedAt: keys.lastUsedAt(key.id) } : {}),
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

/** The versions that merge bases need beside live ones. */
function archiveOf(facts: FactStore): unknown {
  return [...facts.archive].map(([relation, versions]) => [
    relation,
    Array.from({ length: versions.count }, (_, at) => [
      Array.from(versions.argsAt(at), (id) => facts.dictionary.text(id)),
      facts.scopeNames[versions.scopeAt(at)],
      [versions.births[at], versions.deaths[at]],
      [versions.froms[at], versions.untils[at]].map(String),
      versions.versionAt(at).metadata,
    ]),
  ]);
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

/** The future instants at which something about a stored fact changes, with its id. */
function boundariesAfter(facts: FactStore, time: number): string[] {
  facts.boundaries.takeUntil(time);
  const told: string[] = [];
  for (let at = facts.boundaries.next; Number.isFinite(at); at = facts.boundaries.next)
    for (const number of new Set(facts.boundaries.takeUntil(at))) {
      const fact = facts.versionOf(number);
      if (fact.row < 0 || !fact.relation.isAlive(fact.row)) continue;
      const { validFrom, validUntil } = fact.relation;
      if (validFrom?.[fact.row] === at || validUntil?.[fact.row] === at)
        told.push(`${at} ${facts.idOf(fact)}`);
    }
  return told.sort();
}
