import { compareTexts } from '../base/text-order.ts';
import { runInSlices } from '../base/slices.ts';
import type { ConstraintViolation } from '../contract/constraints.ts';
import type { Literal } from '../contract/language.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { present } from '../base/assert.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import {
  boundByAtoms,
  type ComparedState,
  type ConstantTuple,
  type Denial,
  ViewDelta,
} from '../datalog/maintain/view-delta.ts';
import { FactOverlay } from '../datalog/model/fact-overlay.ts';
import { relationsRead } from '../datalog/model/program.ts';
import type { PinnedReader } from '../datalog/maintain/reasoner.ts';
import { question, renderInstance, substitute } from '../datalog/tables/question.ts';
import type { TableSet } from '../datalog/tables/table-set.ts';
import type { ReadContext } from './read-context.ts';
import { scopeHasFacts, type TouchedAtoms } from './supposed-write.ts';

/** A violation by what identifies it: a constraint, a view (null: the unscoped one) and the values of its variables. */
export interface FoundViolation {
  readonly constraint: ConstraintRecord;
  readonly scope: string | null;
  readonly values: ConstantTuple;
}

/** A constraint as the engine looks for violations: its body, and the variables that tell them apart. */
export function denialOf({ body }: Pick<ConstraintRecord, 'body'>): Denial {
  return { body, variables: [...boundByAtoms(body)] };
}

/** Order of violations: by constraint, oldest first, then by view, the unscoped one first, then by values. */
export function compareViolations(
  orderOf: (constraint: ConstraintRecord) => number,
): (left: FoundViolation, right: FoundViolation) => number {
  return (left, right) =>
    orderOf(left.constraint) - orderOf(right.constraint) ||
    compareTexts(viewText(left), viewText(right)) ||
    compareTexts(left.values, right.values);
}

function viewText({ scope }: FoundViolation): string[] {
  return scope === null ? [] : [scope];
}

/** The view of a scope; null: the unscoped view. */
export function viewOfScope(scope: string | null): ScopeChoice {
  return scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope };
}

/** One of two states to compare. */
export interface ConstrainedState {
  readonly reader: PinnedReader;
  readonly constraints: readonly ConstraintRecord[];
  readonly rules: readonly RuleRecord[];
  /** True if the scope exists without rules: by a fact of the tenant, or as a fork. */
  readonly hasScope: (scope: string) => Promise<boolean>;
}

/**
 * What violations a change begins and ends: of constraints that both states have, in proportion to the change; of new and
 * changed constraints, of new views and deleted ones, all.
 */
export class ConstraintStates {
  readonly #context: ReadContext;
  readonly #before: ConstrainedState;
  readonly #after: ConstrainedState;
  readonly #touched: TouchedAtoms;
  #sides: { readonly before: ComparedState; readonly after: ComparedState } | null = null;

  constructor(
    context: ReadContext,
    before: ConstrainedState,
    after: ConstrainedState,
    touched: TouchedAtoms,
  ) {
    this.#context = context;
    this.#before = before;
    this.#after = after;
    this.#touched = touched;
  }

  /** Releases the tables. */
  end(): void {
    if (this.#sides === null) return;
    const { memory } = this.#context.reasoner;
    for (const { set } of [this.#sides.before, this.#sides.after]) memory.forget(set);
    this.#sides = null;
  }

  /** The violations that only one of the states has. */
  async compare(): Promise<{ begun: FoundViolation[]; ended: FoundViolation[] }> {
    const begun: FoundViolation[] = [];
    const ended: FoundViolation[] = [];
    for (const scope of await this.#scopes()) await this.#compareIn(scope, begun, ended);
    const order = new Map(
      [...this.#before.constraints, ...this.#after.constraints].map(({ id }, at) => [id, at]),
    );
    const compare = compareViolations(({ id }) => order.get(id) ?? 0);
    return { begun: begun.sort(compare), ended: ended.sort(compare) };
  }

  async #compareIn(scope: string | null, begun: FoundViolation[], ended: FoundViolation[]): Promise<void> {
    const then = await this.#applicable(this.#before, scope);
    const now = await this.#applicable(this.#after, scope);
    const steady: { before: ConstraintRecord; after: ConstraintRecord }[] = [];
    for (const [id, after] of now) {
      const before = then.get(id);
      if (before?.text === after.text) steady.push({ before, after });
    }
    const { before, after } = this.#both();
    const { pacer } = this.#context;
    const delta = new ViewDelta(viewOfScope(scope), before, after, pacer);
    const touched = this.#touched.scopes.get(scope)?.values() ?? [];
    const denials = steady.map((each) => denialOf(each.after));
    if (denials.length > 0) await delta.follow(touched, denials);
    for (const [at, constraint] of steady.entries()) {
      const { gained, lost } = await delta.denied(present(denials[at], 'each has a denial'));
      for (const values of gained) begun.push({ constraint: constraint.after, scope, values });
      for (const values of lost) ended.push({ constraint: constraint.before, scope, values });
    }
    const isSteady = new Set(steady.map(({ after: { id } }) => id));
    for (const [id, constraint] of now) {
      if (isSteady.has(id)) continue;
      const all = await delta.deniedIn('after', denialOf(constraint));
      const known = then.get(id);
      for (const values of await without(all, known, delta)) begun.push({ constraint, scope, values });
    }
    for (const [id, constraint] of then)
      if (!now.has(id))
        for (const values of await delta.deniedIn('before', denialOf(constraint)))
          ended.push({ constraint, scope, values });
  }

  /** The constraints that the state checks in the view of the scope, by id. */
  async #applicable(
    { constraints, rules, hasScope }: ConstrainedState,
    scope: string | null,
  ): Promise<Map<string, ConstraintRecord>> {
    const inEvery = constraints.some((each) => each.scope === null);
    const isView =
      scope === null || (inEvery && (rules.some((rule) => rule.scope === scope) || (await hasScope(scope))));
    const found = new Map<string, ConstraintRecord>();
    for (const each of constraints)
      if (each.scope === null ? isView : each.scope === scope) found.set(each.id, each);
    return found;
  }

  /** The scopes in whose views something can differ; null: the unscoped view. */
  async #scopes(): Promise<Set<string | null>> {
    const scopes = new Set<string | null>(this.#touched.scopes.keys());
    const changed = changedConstraints(this.#before.constraints, this.#after.constraints);
    for (const { scope } of changed) if (scope !== null) scopes.add(scope);
    const isEverywhere =
      this.#before.reader.program !== this.#after.reader.program ||
      changed.some(({ scope }) => scope === null);
    if (!isEverywhere) return scopes;
    scopes.add(null);
    for (const { rules } of [this.#before, this.#after])
      for (const { scope } of rules) if (scope !== null) scopes.add(scope);
    for (const name of await existingScopes(this.#context)) scopes.add(name);
    return scopes;
  }

  #both(): { readonly before: ComparedState; readonly after: ComparedState } {
    this.#sides ??= { before: this.#side(this.#before.reader), after: this.#side(this.#after.reader) };
    return this.#sides;
  }

  #side(pinned: PinnedReader): ComparedState {
    const overlay = pinned.overlay instanceof FactOverlay ? pinned.overlay : new FactOverlay(pinned);
    const { program } = pinned;
    // A denial may contain a constant that occurs only in a rule not yet compiled.
    for (const text of program.constants) overlay.constants.idOf(text);
    const reader = { ...pinned, overlay };
    const { reasoner, pacer } = this.#context;
    const set: TableSet = reasoner.tablesOver(reader);
    set.holder = set;
    set.charge(pacer.memory);
    reasoner.memory.use(set);
    return { reader, program, set };
  }
}

/** Those of the tuples that the constraint, as it was before, did not forbid. */
async function without(
  tuples: readonly ConstantTuple[],
  known: ConstraintRecord | undefined,
  delta: ViewDelta,
): Promise<readonly ConstantTuple[]> {
  if (known === undefined) return tuples;
  const before = denialOf(known);
  const variables = new Set(before.variables);
  // Values of other variables identify other violations.
  const isAlike = tuples[0]?.length === variables.size;
  if (!isAlike) return tuples;
  const kept = new Set((await delta.deniedIn('before', before)).map((each) => JSON.stringify(each)));
  return tuples.filter((each) => !kept.has(JSON.stringify(each)));
}

/** Constraints that one of the lists lacks, or has with another body or scope. */
function changedConstraints(
  before: readonly ConstraintRecord[],
  after: readonly ConstraintRecord[],
): ConstraintRecord[] {
  const key = ({ id, text, scope }: ConstraintRecord): string => JSON.stringify([id, text, scope]);
  const [then, now] = [new Set(before.map(key)), new Set(after.map(key))];
  return [...before.filter((each) => !now.has(key(each))), ...after.filter((each) => !then.has(key(each)))];
}

/** The names of the scopes that exist for the tenant, in no order. */
export async function existingScopes({ database, tenant, reader, pacer }: ReadContext): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { scope } of database.rules.all()) if (scope !== null) found.add(scope);
  for (const name of tenant.facts.scopeNames)
    if (name !== null && !found.has(name)) {
      await pacer.breathe();
      if (await runInSlices(scopeHasFacts(tenant, name, reader), () => pacer.breathe())) found.add(name);
    }
  return found;
}

/** The violation as answers show it, with its proof if asked for. */
export async function shownViolation(
  context: ReadContext,
  { constraint, scope, values }: FoundViolation,
  withProof = true,
): Promise<ConstraintViolation> {
  const { variables } = denialOf(constraint);
  const bindings: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [at, variable] of variables.entries()) bindings[variable.slice(1)] = values[at] as string;
  const body = constraint.body.map(
    (literal): Literal => substitute(literal, (variable) => bindings[variable.slice(1)]),
  );
  const asked = question(viewOfScope(scope), body);
  const page = { offset: 0, limit: 1, withProof, withAlternatives: false };
  const {
    matches,
    page: rows,
    proof,
  } = await context.reasoner.answer(asked, context.reader, context.pacer, page);
  const row = present(rows[0], 'a violation has an instance');
  const instance = renderInstance(matches.question, (variable) => {
    const at = asked.variables.indexOf(variable);
    return at < 0 ? undefined : matches.constants.text((matches.columns[at] as Int32Array)[row] as number);
  });
  const { id, name, mode } = constraint;
  return {
    kind: 'constraint',
    constraint: id,
    name,
    mode,
    scope,
    bindings,
    instance,
    proof: proof?.proof ?? null,
  };
}

/** The relations that the constraints read, directly or through rules of the programs. */
export function relationsBelow(
  constraints: Iterable<Pick<ConstraintRecord, 'body'>>,
  programs: readonly PinnedReader['program'][],
): Set<string> {
  const read: string[] = [];
  for (const { body } of constraints) read.push(...relationsRead(body));
  const found = new Set(read);
  for (const program of programs) for (const relation of program.below(read)) found.add(relation);
  return found;
}
