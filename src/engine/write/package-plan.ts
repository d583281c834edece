/**
 * What applying a package does: one transaction that makes the knowledge what the package states, and nothing that is
 * somebody else's less.
 *
 * A version that the package brought is its own as long as nobody made another one: then it may take it away, unless another
 * package holds the same version. What was stored before it came is not its own.
 */
import { TextMap } from '../base/text-map.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { runInSlices } from '../base/slices.ts';
import { checkRuleOperation } from '../commit/prepare-rules.ts';
import { KeyCheck, keyClaim, refuseMisfits } from '../commit/prepare-shape.ts';
import { maxDeclarations, shownDeclaration } from '../contract/declarations.ts';
import {
  maxPackageChangesListed,
  maxPackages,
  type PackageChanges,
  type PackageKept,
  type PackageOutcome,
} from '../contract/packages.ts';
import { renderDeclaration } from '../language/declaration-text.ts';
import { renderIdentity, renderRule, ruleIdentity } from '../language/print.ts';
import { relationKey, relationOf } from '../language/terms.ts';
import type { ReadContext } from '../session/read-context.ts';
import { changeRules } from '../state/apply-rules.ts';
import { declarationsAfter } from '../state/apply-shape.ts';
import { holdersOf, judgeKey, StrictKeys } from '../state/key-rule.ts';
import type { Commit, ConstraintToStore, RuleOperation, ShapeOperation } from '../state/operation.ts';
import type { FactIdentity, FactRow } from '../store/fact-store.ts';
import {
  packagedConstraint,
  packagedDeclaration,
  packagedFact,
  packagedRule,
  packagedThing,
  type PackageHoldings,
  type PackageRecord,
} from '../store/package-record.ts';
import { type PackageStatements, placed, type Stated } from './package-text.ts';

/** A package to apply or, if it states nothing, to delete. */
export interface PackageChangeWanted {
  readonly name: string;
  readonly scope: string | null;
  readonly isRemoved: boolean;
  readonly statements: PackageStatements;
}

/** What a plan answers, beside the consequences. */
export type PlannedAnswer = Pick<
  PackageOutcome,
  'name' | 'scope' | 'status' | 'facts' | 'rules' | 'declarations' | 'constraints' | 'kept' | 'keptCount'
>;

/** The transaction, null if there is nothing to write, and what it does. */
export interface PackagePlan {
  readonly commit: Commit | null;
  readonly answer: PlannedAnswer;
  /** Keys of the relations whose facts or rules change, and their scopes. */
  readonly relations: ReadonlySet<string>;
  readonly scopes: ReadonlySet<string | null>;
  /** Keys of the relations whose stored facts it was planned by. */
  readonly reads: ReadonlySet<string>;
}

const stepsBetweenBreaths = 256;

/**
 * Plans the change at this time of the wall clock. Requires that nothing that it may change changes meanwhile. Throws
 * Conflict, KeyConflict, ShapeViolation or RuleException.
 */
export async function planPackage(
  context: ReadContext,
  caller: Caller,
  wanted: PackageChangeWanted,
  time: number,
): Promise<PackagePlan> {
  const planning = new Planning(context, caller, wanted, time);
  await planning.declarations();
  await planning.facts();
  await planning.rules();
  await planning.constraints();
  return planning.plan();
}

/** True if applying the package can change what serves all tenants. */
export function changesShared(
  { rules, declarations, constraints }: PackageStatements,
  known: PackageRecord | null,
): boolean {
  return rules.length + declarations.length + constraints.length > 0 || (known?.shared.size ?? 0) > 0;
}

class Planning {
  readonly #context: ReadContext;
  readonly #tenant: string;
  readonly #wanted: PackageChangeWanted;
  readonly #time: number;
  readonly #known: PackageRecord | null;
  readonly #retract: FactIdentity[] = [];
  readonly #assert: FactIdentity[] = [];
  readonly #rules: RuleOperation[] = [];
  readonly #shape: ShapeOperation[] = [];
  readonly #drops: string[] = [];
  readonly #takes: [key: string, generation: number][] = [];
  readonly #lists = {
    facts: newChanges(),
    rules: newChanges(),
    declarations: newChanges(),
    constraints: newChanges(),
  };
  readonly #kept: PackageKept[] = [];
  #keptCount = 0;
  readonly #relations = new Set<string>();
  readonly #scopes = new Set<string | null>();
  readonly #reads = new Set<string>();
  /** The holdings of the other packages: of facts of the tenant's, of what is shared of those of all tenants. */
  readonly #othersFacts: readonly PackageHoldings[];
  #othersShared: readonly PackageHoldings[] | null = null;
  #steps = 0;

  constructor(context: ReadContext, { tenant }: Caller, wanted: PackageChangeWanted, time: number) {
    const { packages } = context.tenant;
    this.#context = context;
    this.#tenant = tenant;
    this.#wanted = wanted;
    this.#time = time;
    this.#known = packages.get(wanted.name) ?? null;
    if (this.#known === null && packages.size >= maxPackages)
      throw new EngineError('Conflict', `a tenant has at most ${maxPackages} packages: delete some`);
    this.#othersFacts = [...packages.values()]
      .filter(({ name }) => name !== wanted.name)
      .map(({ facts }) => facts);
  }

  async declarations(): Promise<void> {
    const { declarations } = this.#context.database;
    const list = this.#lists.declarations;
    const stated = new Set<string>();
    for (const { what } of this.#wanted.statements.declarations) {
      const key = packagedDeclaration(what);
      stated.add(key);
      const before = declarations.get(what.name, what.arity);
      if (
        before !== null &&
        JSON.stringify(shownDeclaration(before)) === JSON.stringify(shownDeclaration(what))
      ) {
        list.kept++;
        await this.#takeShared(key, before.changedIn);
        continue;
      }
      if (before !== null) await this.#takeShared(key, before.changedIn);
      this.#shape.push({ kind: 'declare', declaration: what });
      note(list, before === null ? 'added' : 'changed', () => renderDeclaration(what));
    }
    for (const [key, generation] of this.#held('shared', stated)) {
      const thing = packagedThing(key);
      if (thing.kind !== 'declaration') continue;
      const stored = declarations.get(thing.name, thing.arity);
      const text = (): string => (stored === null ? '' : renderDeclaration(stored));
      if (await this.#keepsShared(key, generation, 'declaration', stored?.changedIn ?? null, text)) continue;
      this.#shape.push({ kind: 'withdraw', name: thing.name, arity: thing.arity });
      note(list, 'removed', text);
    }
    if (declarationsAfter(this.#context.database, this.#shape).size <= maxDeclarations) return;
    throw new EngineError(
      'Conflict',
      `a database has at most ${maxDeclarations} declarations: withdraw some`,
    );
  }

  async facts(): Promise<void> {
    const list = this.#lists.facts;
    const stated = new TextMap<Stated<FactIdentity>>();
    const added: Stated<FactIdentity>[] = [];
    for (const each of this.#wanted.statements.facts) {
      await this.#breathe();
      const key = packagedFact(each.what);
      if (stated.has(key)) continue;
      stated.set(key, each);
      const row = this.#stored(each.what);
      if (row === null) {
        added.push(each);
        this.#assert.push(each.what);
        this.#touch(each.what);
        note(list, 'added', () => renderIdentity(each.what));
        continue;
      }
      list.kept++;
      const born = row.relation.bornIn(row.row);
      if (this.#known?.facts.get(key) !== born && isHeldBy(this.#othersFacts, key, born))
        this.#takes.push([key, born]);
    }
    for (const [key, generation] of this.#held('facts', stated)) {
      await this.#breathe();
      const thing = packagedThing(key);
      if (thing.kind !== 'fact') continue;
      const { identity } = thing;
      const row = this.#stored(identity);
      if (row === null || this.#keepsFact(key, generation, row, identity)) {
        this.#drops.push(key);
        continue;
      }
      this.#retract.push(identity);
      this.#touch(identity);
      note(list, 'removed', () => renderIdentity(identity));
    }
    await this.#judgeFacts(stated, added);
  }

  /** True if the fact, which the package no longer states, stays; notes why. */
  #keepsFact(key: string, generation: number, row: FactRow, identity: FactIdentity): boolean {
    const { facts } = this.#context.tenant;
    const born = row.relation.bornIn(row.row);
    const isOwn = born === generation;
    if (isOwn && !isHeldBy(this.#othersFacts, key, born)) return false;
    const reason = isOwn
      ? inAnotherPackage
      : facts.assertedIn(row) > generation
        ? `it was retracted, and asserted again in generation ${facts.assertedIn(row)}`
        : `it was changed in generation ${born}`;
    this.#keep('fact', () => renderIdentity(identity), reason);
    return true;
  }

  /** Judges what is stated by keys, and what is new by types and keys, as a transaction. */
  async #judgeFacts(
    stated: TextMap<Stated<FactIdentity>>,
    added: readonly Stated<FactIdentity>[],
  ): Promise<void> {
    const { database, tenant, pacer } = this.#context;
    const declarations = declarationsAfter(database, this.#shape);
    if (declarations.size === 0) return;
    const keys = StrictKeys.of(declarations);
    const byKey = new TextMap<Stated<FactIdentity>>();
    if (!keys.isEmpty)
      for (const each of stated.values()) {
        await this.#breathe();
        if (keys.keyOf(each.what) === null) continue;
        const value = keyClaim(declarations, each.what);
        const other = byKey.get(value);
        if (other !== undefined) throw contradiction(each, other);
        byKey.set(value, each);
      }
    const gone = new TextMap<true>();
    for (const fact of added.length === 0 ? [] : this.#retract) {
      await this.#breathe();
      gone.set(packagedFact(fact), true);
    }
    const isGone = (fact: FactIdentity): boolean => gone.has(packagedFact(fact));
    const check = new KeyCheck(declarations, tenant.facts, this.#time, isGone);
    for (const { what, place } of added) {
      await this.#breathe();
      try {
        refuseMisfits(declarations, what, '');
        await runInSlices(check.check(what, ''), () => pacer.breathe());
      } catch (error) {
        throw error instanceof EngineError ? placed(error, place) : error;
      }
      await this.#noteSuperseded(keys, what, isGone);
    }
  }

  /** Notes the facts whose validity ends by a key, since the package states another one. */
  async #noteSuperseded(
    keys: StrictKeys,
    fact: FactIdentity,
    isGone: (fact: FactIdentity) => boolean,
  ): Promise<void> {
    const key = keys.keyOf(fact);
    if (key?.onConflict !== 'supersede') return;
    const { tenant, pacer } = this.#context;
    const { facts } = tenant;
    const steps = holdersOf(facts, fact, key, this.#time);
    const { rivals } = await runInSlices(steps, () => pacer.breathe());
    const relation = facts.relation(fact.predicate, fact.args.length, false);
    if (relation === null) return;
    const judged = judgeKey(fact, null, rivals, 'supersede', this.#time);
    if (judged.kind !== 'supersedes') return;
    for (const { row } of [...judged.ended, ...judged.retracted]) {
      const identity = facts.identityOf({ relation, row });
      if (!isGone(identity)) note(this.#lists.facts, 'changed', () => renderIdentity(identity));
    }
  }

  async rules(): Promise<void> {
    const { scope, statements } = this.#wanted;
    const { rules } = this.#context.database;
    const list = this.#lists.rules;
    const stated = new Set<string>();
    const identities = new TextMap<true>();
    const taught: { readonly operation: RuleOperation; readonly each: Stated<unknown> }[] = [];
    for (const each of statements.rules) {
      await this.#breathe();
      const identity = ruleIdentity(each.what);
      if (identities.has(identity)) continue;
      identities.set(identity, true);
      const same = rules.same(identity, scope);
      if (same !== null) {
        list.kept++;
        stated.add(packagedRule(same.id));
        await this.#takeShared(packagedRule(same.id), same.changedIn);
        continue;
      }
      const rule = { rule: each.what, scope, name: null, description: null, enabled: null };
      taught.push({ operation: { kind: 'teach', rule }, each });
      this.#concludes(relationOf(each.what.head), scope);
      note(list, 'added', () => renderRule(each.what));
    }
    for (const [key, generation] of this.#held('shared', stated)) {
      const thing = packagedThing(key);
      if (thing.kind !== 'rule') continue;
      const stored = rules.get(thing.id);
      const text = (): string => stored?.text ?? '';
      if (await this.#keepsShared(key, generation, 'rule', stored?.changedIn ?? null, text)) continue;
      this.#rules.push({ kind: 'forgetRule', id: thing.id });
      if (stored !== null) this.#concludes(relationOf(stored.rule.head), stored.scope);
      note(list, 'removed', text);
    }
    this.#rules.push(...taught.map(({ operation }) => operation));
    if (taught.length === 0) return;
    const { name } = this.#context.database;
    const copy = rules.copy();
    const origin = { time: this.#time, generation: this.#context.reader.generation + 1 };
    for (const [at, operation] of this.#rules.entries()) {
      await this.#breathe();
      const own = taught[at - (this.#rules.length - taught.length)];
      try {
        checkRuleOperation({ name, rules: copy }, operation);
      } catch (error) {
        throw error instanceof EngineError && own !== undefined ? placed(error, own.each.place) : error;
      }
      changeRules(copy, operation, { ...origin, id: `planned-${at}` });
    }
  }

  async constraints(): Promise<void> {
    const { constraints } = this.#context.database;
    const list = this.#lists.constraints;
    const stated = new Set<string>();
    const known = new TextMap<true>();
    const stored = constraints.all();
    for (const { what } of this.#wanted.statements.constraints) {
      await this.#breathe();
      const { text, scope, description, name } = what;
      if (known.has(text)) continue;
      known.set(text, true);
      const same = stored.find((each) => each.text === text && each.scope === scope);
      const shown = (): string => constraintText(what);
      if (same === undefined) {
        this.#shape.push({ kind: 'addConstraint', constraint: what });
        note(list, 'added', shown);
        continue;
      }
      const key = packagedConstraint(same.id);
      stated.add(key);
      await this.#takeShared(key, same.changedIn);
      if (description === null || description === same.description) {
        list.kept++;
        continue;
      }
      this.#shape.push({ kind: 'updateConstraint', id: same.id, constraint: { name, description } });
      note(list, 'changed', shown);
    }
    for (const [key, generation] of this.#held('shared', stated)) {
      const thing = packagedThing(key);
      if (thing.kind !== 'constraint') continue;
      const found = constraints.get(thing.id);
      const text = (): string => (found === null ? '' : constraintText(found));
      if (await this.#keepsShared(key, generation, 'constraint', found?.changedIn ?? null, text)) continue;
      this.#shape.push({ kind: 'deleteConstraint', id: thing.id });
      note(list, 'removed', text);
    }
  }

  plan(): PackagePlan {
    const { name, scope, isRemoved } = this.#wanted;
    const isMoved = this.#known === null || this.#known.scope !== scope;
    const operations = this.#retract.length + this.#assert.length + this.#rules.length + this.#shape.length;
    const isApplied = isMoved || operations + this.#keptCount > 0;
    // Whatever else is gone, or another package's too, is no news, but is written down.
    const isChange = isRemoved || isApplied || this.#drops.length + this.#takes.length > 0;
    const status = isRemoved ? 'deleted' : isApplied ? 'applied' : 'unchanged';
    const answer: PlannedAnswer = {
      name,
      scope,
      status,
      ...this.#lists,
      kept: this.#kept,
      keptCount: this.#keptCount,
    };
    const part = <Part extends object>(list: readonly unknown[], of: Part): Part | object =>
      list.length === 0 ? {} : of;
    const commit: Commit = {
      kind: 'commit',
      tenant: this.#tenant,
      retract: this.#retract,
      assert: this.#assert,
      rules: this.#rules,
      ...part(this.#shape, { shape: this.#shape }),
      package: { name, scope, ...(isRemoved ? { isRemoved } : {}) },
      ...part(isRemoved ? [] : this.#drops, { drops: this.#drops }),
      ...part(this.#takes, { takes: this.#takes }),
      operations,
      note: JSON.stringify(answer),
    };
    const [relations, scopes, reads] = [this.#relations, this.#scopes, this.#reads];
    return { commit: isChange ? commit : null, answer, relations, scopes, reads };
  }

  /** What the package held and no longer states. */
  *#held(
    kind: 'facts' | 'shared',
    stated: { has(key: string): boolean },
  ): Generator<readonly [key: string, generation: number]> {
    for (const entry of this.#known?.[kind] ?? []) if (!stated.has(entry[0])) yield entry;
  }

  /** True if something shared, which the package no longer states, stays or is gone; notes why. */
  async #keepsShared(
    key: string,
    generation: number,
    kind: PackageKept['kind'],
    changedIn: number | null,
    text: () => string,
  ): Promise<boolean> {
    const isOwn = changedIn === generation;
    if (isOwn && !isHeldBy(await this.#others(), key, generation)) return false;
    this.#drops.push(key);
    if (changedIn !== null)
      this.#keep(kind, text, isOwn ? inAnotherPackage : `it was changed in generation ${changedIn}`);
    return true;
  }

  /** The package holds too what another package brought. */
  async #takeShared(key: string, changedIn: number): Promise<void> {
    if (this.#known?.shared.get(key) === changedIn) return;
    if (isHeldBy(await this.#others(), key, changedIn)) this.#takes.push([key, changedIn]);
  }

  async #others(): Promise<readonly PackageHoldings[]> {
    if (this.#othersShared !== null) return this.#othersShared;
    const found: PackageHoldings[] = [];
    for (const { packages } of this.#context.database.tenants.values()) {
      await this.#breathe();
      for (const record of packages.values())
        if (record !== this.#known && record.shared.size > 0) found.push(record.shared);
    }
    return (this.#othersShared = found);
  }

  #keep(kind: PackageKept['kind'], text: () => string, reason: string): void {
    this.#keptCount++;
    if (this.#kept.length < maxPackageChangesListed) this.#kept.push({ kind, text: text(), reason });
  }

  /** The stored version of the fact; null: there is none. */
  #stored({ predicate, args, truthVal, scope }: FactIdentity): FactRow | null {
    const { facts } = this.#context.tenant;
    this.#reads.add(relationKey(predicate, args.length, !truthVal));
    const row = facts.find(predicate, args, truthVal, scope);
    return row !== null && facts.isStored(row, this.#time) ? row : null;
  }

  #touch({ predicate, args, truthVal, scope }: FactIdentity): void {
    this.#concludes(relationKey(predicate, args.length, !truthVal), scope);
  }

  #concludes(relation: string, scope: string | null): void {
    this.#relations.add(relation);
    this.#scopes.add(scope);
  }

  async #breathe(): Promise<void> {
    if (++this.#steps % stepsBetweenBreaths === 0) await this.#context.pacer.breathe();
  }
}

/** The constraint with its reason, as it stands in a file. */
function constraintText({ text, description }: Pick<ConstraintToStore, 'text' | 'description'>): string {
  return description === null ? text : `${text} ${JSON.stringify(description)}`;
}

/** Names no other package: it may be another tenant's. */
const inAnotherPackage = 'another package holds it too';

function isHeldBy(others: readonly PackageHoldings[], key: string, generation: number): boolean {
  return others.some((holdings) => holdings.get(key) === generation);
}

function newChanges(): PackageChanges {
  return { added: 0, removed: 0, changed: 0, kept: 0, listed: { added: [], removed: [], changed: [] } };
}

function note(list: PackageChanges, kind: 'added' | 'removed' | 'changed', text: () => string): void {
  list[kind]++;
  if (list.listed[kind].length < maxPackageChangesListed) list.listed[kind].push(text());
}

/** The KeyConflict of two facts of one text, which have no order. */
function contradiction(each: Stated<FactIdentity>, other: Stated<FactIdentity>): EngineError {
  const atom = renderIdentity(other.what);
  return new EngineError(
    'KeyConflict',
    `${each.place()}: ${renderIdentity(each.what)} has the same key as ${atom} at ${other.place()}: leave one of them out`,
    { inTheWay: { atom, scope: other.what.scope, validFrom: null, validUntil: null } },
  );
}
