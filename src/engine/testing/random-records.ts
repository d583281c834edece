/**
 * Random records of every operation, for equal states: anything that a log can contain, whether a service would have
 * accepted it or not.
 */
import { present } from '../base/assert.ts';
import type { Prng } from './prng.ts';
import type { FactIdentity, FactPattern, FactToStore } from '../store/fact-store.ts';
import { parseRule } from '../language/parse.ts';
import { type Commit, type Operation, type ShapeOperation, versionOf } from '../state/operation.ts';
import { packagedFact } from '../store/package-record.ts';
import type { WrittenOrigin } from '../base/origin.ts';
import type { Declaration } from '../contract/declarations.ts';
import { noQuota } from '../contract/quotas.ts';
import type { DatabaseState, State } from '../state/state.ts';
import type { LogRecord } from '../log/codec.ts';

const day = 86_400_000;
const scopes = [null, 's', 'second scope'];

/** Random records, for equal states. */
export class RandomRecords {
  readonly #prng: Prng;
  readonly #state: State;
  #time: number;

  /** Ids and rules are picked from this state, to which the records are applied; times begin at `time`. */
  constructor(prng: Prng, state: State, time = 1_700_000_000_000) {
    this.#prng = prng;
    this.#state = state;
    this.#time = time;
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
      version: versionOf(operation),
      operation,
      ...(prng.chance(0.7) ? { origin: this.#origin() } : {}),
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
      const id = `f${prng.below(database.lastGeneration + 1)}-${prng.below(3)}`;
      return { kind: 'retractById', tenant, id };
    }
    if (kind > 9) return this.#wideOperation(database, tenant);
    if (kind === 9 && prng.chance(0.5)) return this.#shapeOperation(database, tenant);
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

  /** Origins with and without their optional parts. */
  #origin(): WrittenOrigin {
    const prng = this.#prng;
    return {
      surface: prng.pick(['http', 'mcp', 'a2a', 'workbench', 'cli', 'system'] as const),
      ...(prng.chance(0.3) ? { keyName: 'ci' } : {}),
      ...(prng.chance(0.3) ? { client: 'tool/1.0', session: 'ab12' } : {}),
      ...(prng.chance(0.3) ? { reason: 'the register said "so"' } : {}),
    };
  }

  #shapeOperation(database: DatabaseState, tenant: string): ShapeOperation {
    const prng = this.#prng;
    const { declarations, constraints } = database;
    const kind = prng.below(9);
    const declared = declarations.all();
    if (kind < 2 || (kind === 2 && declared.length === 0))
      return { kind: 'declare', declaration: this.#declaration() };
    if (kind === 2) {
      const { name, arity } = prng.pick(declared);
      return { kind: 'withdraw', name, arity };
    }
    if (kind > 6) return this.#testOperation();
    const entity = prng.pick(['a', 'b', 'é']);
    const alias = prng.pick(['A', 'B', 'Ada', '😀']);
    if (kind < 5) return { kind: prng.pick(['addAlias', 'removeAlias'] as const), tenant, entity, alias };
    const constraint = {
      body: parseRule('h() :- p(?x), s(?x, ?y)').body,
      text: '!- p(?x), s(?x, ?y)',
      name: `constraint ${prng.below(3)}`,
      description: prng.chance(0.5) ? null : 'é',
      mode: prng.pick(['warn', 'reject'] as const),
      scope: prng.pick(scopes),
    };
    const stored = constraints.all();
    if (stored.length === 0 || prng.chance(0.5)) return { kind: 'addConstraint', constraint };
    const { id } = prng.pick(stored);
    if (prng.chance(0.5)) return { kind: 'deleteConstraint', id };
    return { kind: 'updateConstraint', id, constraint: { mode: constraint.mode, name: constraint.name } };
  }

  #testOperation(): ShapeOperation {
    const prng = this.#prng;
    const name = prng.pick(['first', 'é "second"']);
    if (prng.chance(0.3)) return { kind: 'deleteTest', name };
    const text = `test ${JSON.stringify(name)} { expect ${prng.pick(['p(a)', 'n()'])}. }`;
    return { kind: 'putTest', test: { name, text, scope: prng.pick(scopes) } };
  }

  #declaration(): Declaration {
    const prng = this.#prng;
    const [name, arity] = prng.pick([['p', 1] as const, ['s', 2] as const, ['n', 0] as const]);
    const hasNames = prng.chance(0.8);
    const key = hasNames && arity > 0 && prng.chance(0.7) ? ['first'] : [];
    const names = ['first', 'second'].slice(0, arity);
    return {
      name,
      arity,
      description: prng.chance(0.5) ? null : 'ré "sumé"',
      arguments: hasNames
        ? names.map((each) => ({
            name: each,
            description: null,
            type: prng.pick(['any', 'entity', { oneOf: ['a', 'b'] }] as const),
          }))
        : [],
      key,
      onConflict: prng.pick(['warn', 'supersede', 'reject'] as const),
      check: prng.pick(['warn', 'reject'] as const),
    };
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

  #quota(tenant: string | null): Operation {
    const facts = this.#prng.chance(0.3) ? null : this.#prng.below(100);
    return { kind: 'setQuota', tenant, quota: { ...noQuota, facts } };
  }

  #mark(sequence: number): NonNullable<LogRecord['idempotency']> {
    const key = this.#prng.chance(0.2) ? 'again' : `key ${sequence}`;
    return { key, fingerprint: key, space: '' };
  }

  /** A commit, or an operation on a scope, a tenant or the database as a whole. */
  #wideOperation(database: DatabaseState, tenant: string): Operation {
    const prng = this.#prng;
    const [source, target] = [prng.pick(scopes), prng.pick(scopes)];
    if (prng.chance(0.3)) return this.#memoryOperation(database, tenant);
    const kind = prng.below(20);
    if (kind < 8) return this.#commit(database, tenant);
    if (kind < 11) {
      // Older programs logged none with a base.
      const hasBase = prng.chance(0.8) ? { hasBase: true as const } : {};
      return { kind: 'forkScope', tenant, source, target, withRules: prng.chance(0.5), ...hasBase };
    }
    if (kind < 14) {
      const strategy = prng.pick(['SOURCE_WINS', 'TARGET_WINS', 'KEEP_BOTH'] as const);
      const facts = database.tenants.get(tenant)?.facts;
      const [one, other] = [facts?.scopeNumber(source) ?? -1, facts?.scopeNumber(target) ?? -1];
      const hasBase = (facts?.mergeBases.baseOf(one, other) ?? null) !== null;
      const named = prng.chance(0.5) ? prng.pick(scopes) : null;
      const base = hasBase && prng.chance(0.8) ? ({ fork: true } as const) : named;
      const revision = prng.chance(0.8) ? { revision: 2 as const } : {};
      return { kind: 'mergeScopes', tenant, source, target, strategy, base, resolutions: [], ...revision };
    }
    if (kind < 16) return { kind: 'deleteScope', tenant, scope: source ?? 's', withRules: prng.chance(0.5) };
    if (prng.chance(0.2)) return this.#quota(prng.chance(0.3) ? null : tenant);
    if (!database.tenants.has(tenant)) return { kind: 'createTenant', tenant };
    if (kind < 18) return { kind: prng.pick(['deleteTenant', 'nukeTenant'] as const), tenant };
    if (kind < 19 || database.name === 'default') return { kind: 'nukeDatabase' };
    return { kind: 'deleteDatabase' };
  }

  /** The records of decay, consolidation and restoring: facts by their numbers, and their replacements. */
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

  #commit(database: DatabaseState, tenant: string): Operation {
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
    const shape = this.#prng.chance(0.2) ? [this.#shapeOperation(database, tenant)] : [];
    const packaged = this.#prng.chance(0.3) ? this.#packagePart(database, tenant) : {};
    return {
      kind: 'commit',
      tenant,
      retract,
      assert: distinct(some()),
      rules: [],
      ...(shape.length === 0 ? {} : { shape }),
      ...(this.#prng.chance(0.2) ? { isExact: true as const } : {}),
      ...packaged,
      operations: 2,
    };
  }

  /** A package that the commit applies or takes away. */
  #packagePart(database: DatabaseState, tenant: string): Pick<Commit, 'package' | 'drops' | 'takes'> {
    const prng = this.#prng;
    const name = prng.pick(['one', 'two', 'é']);
    const isRemoved = prng.chance(0.2) ? { isRemoved: true as const } : {};
    const known = database.tenants.get(tenant)?.packages.get(name);
    const held = known === undefined ? [] : [...known.facts.keys(), ...known.shared.keys()];
    const drops = held.filter(() => prng.chance(0.2));
    const takes = Array.from(
      { length: prng.below(3) },
      () => [packagedFact({ ...this.#identity(), truthVal: true }), prng.below(9)] as const,
    );
    return { package: { name, scope: prng.pick(scopes), ...isRemoved }, drops, takes };
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
