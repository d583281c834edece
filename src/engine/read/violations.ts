import { TextMap } from '../base/text-map.ts';
import { compareText } from '../base/text-order.ts';
import { EngineError } from '../base/errors.ts';
import type { StoredConstraint } from '../contract/constraints.ts';
import type {
  DeclarationViolation,
  Violation,
  ViolationList,
  ViolationsQuery,
} from '../contract/violations.ts';
import { misfitsOf } from '../commit/prepare-shape.ts';
import { renderConstant, renderIdentity } from '../language/print.ts';
import { atomsIn } from '../language/terms.ts';
import type { ConstantTuple } from '../datalog/maintain/view-delta.ts';
import {
  compareViolations,
  denialOf,
  existingScopes,
  type FoundViolation,
  shownViolation,
  viewOfScope,
} from '../session/constraint-states.ts';
import type { ReadContext } from '../session/read-context.ts';
import { isAdded } from '../datalog/model/reader.ts';
import { keyPositions } from '../state/key-rule.ts';
import type { ConstraintRecord, ConstraintStore } from '../store/constraint-store.ts';
import type { DeclarationRecord } from '../store/declaration-store.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import { keyHash } from '../store/key-index.ts';
import type { StoredRelation } from '../store/stored-relation.ts';

/** Facts that one violation lists. */
const maxFactsListed = 100;
const rowsBetweenBreaths = 0x3ff;
/** Estimated bytes of a violation of a constraint beside its texts, and of a step of its proof. */
const bytesOfViolation = 200;
const bytesOfStep = 400;
/** Of a group of supposed facts beside its key. */
const bytesOfGroup = 150;

/**
 * What violates the declarations in the tenant, keys first, then types, each by predicate and arity and in order of
 * assertion; then what violates the constraints, in the order of `compareViolations`. A fact counts for its declaration as
 * long as it is stored, also before its validity begins. Throws NotFound for an unknown constraint.
 */
export async function listViolations(context: ReadContext, query: ViolationsQuery): Promise<ViolationList> {
  const { database, reader, pacer } = context;
  const { constraint: id, limit, predicate } = query;
  if (id !== null) requireConstraint(database.constraints, id);
  const isWanted = (kind: Violation['kind']): boolean =>
    (query.kind === null || query.kind === kind) && (id === null || kind === 'constraint');
  const declared = database.declarations
    .all()
    .filter(({ name }) => predicate === null || name === predicate)
    .sort((left, right) => compareText(left.name, right.name) || left.arity - right.arity);
  const violations: Violation[] = [];
  let total = 0;
  const take = (found: () => Violation): void => {
    if (total++ < limit) violations.push(found());
  };
  for (const kind of ['key', 'shape'] as const)
    if (isWanted(kind))
      for (const declaration of declared) await eachViolation(context, declaration, kind, take);
  if (isWanted('constraint')) {
    const found = await violationsNow(
      context,
      database.constraints
        .all()
        .filter(
          (each) =>
            (id === null || each.id === id) &&
            (predicate === null || [...atomsIn(each.body)].some((atom) => atom.predicate === predicate)),
        ),
    );
    total += found.length;
    for (const each of found.slice(0, limit - violations.length)) {
      const shown = await shownViolation(context, each, query.proof);
      pacer.memory.take(bytesOfViolation + (shown.proof?.steps.length ?? 0) * bytesOfStep);
      violations.push(shown);
    }
  }
  return { violations, total, truncated: total > violations.length, generation: reader.generation };
}

/** How often the declaration is violated. */
export async function countViolations(
  context: ReadContext,
  declaration: DeclarationRecord,
): Promise<{ key: number; shape: number }> {
  const counts = { key: 0, shape: 0 };
  for (const kind of ['key', 'shape'] as const)
    await eachViolation(context, declaration, kind, () => void counts[kind]++);
  return counts;
}

/** Takes every violation of the declaration as the context's reader sees it, with what is supposed. */
export async function eachViolation(
  context: ReadContext,
  declaration: DeclarationRecord,
  kind: 'key' | 'shape',
  take: (found: () => DeclarationViolation) => void,
): Promise<void> {
  const { tenant, reader } = context;
  const added = reader.overlay?.added.facts ?? null;
  if (kind === 'key' && added !== null) return eachSupposedDouble(context, declaration, take);
  for (const negated of kind === 'key' ? [false] : [false, true])
    for (const facts of added === null ? [tenant.facts] : [tenant.facts, added]) {
      const relation = facts.relation(declaration.name, declaration.arity, negated);
      if (relation === null) continue;
      if (kind === 'key') await eachDouble(context, declaration, relation, take);
      else await eachMisfit(context, declaration, relation, take);
    }
}

/** The store that has the fact: that of the tenant, or that of what is supposed over it. */
function storeOf({ tenant, reader }: ReadContext, fact: FactRow): FactStore {
  return isAdded(reader, fact) ? (reader.overlay?.added.facts ?? tenant.facts) : tenant.facts;
}

/** True if the row counts as stored for the reader, valid or not. */
function isHeldBy({ reader }: ReadContext, relation: StoredRelation, row: number): boolean {
  const { generation, time, overlay } = reader;
  return relation.isHeld(row, generation, time) && overlay?.hidden.get(relation)?.has(row) !== true;
}

async function eachMisfit(
  context: ReadContext,
  declaration: DeclarationRecord,
  relation: StoredRelation,
  take: (found: () => DeclarationViolation) => void,
): Promise<void> {
  const { reader, pacer } = context;
  if (declaration.arguments.every(({ type }) => type === 'any' || type === 'text' || type === 'entity'))
    return;
  const count = relation.rowsAt(reader.generation);
  for (let row = 0; row < count; row++) {
    if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
    if (!isHeldBy(context, relation, row)) continue;
    const args = storeOf(context, { relation, row }).argsOf({ relation, row });
    const misfits = [...misfitsOf(declaration, args)];
    if (misfits.length === 0) continue;
    take(() =>
      violationOf(context, declaration, [{ relation, row }], {
        kind: 'shape',
        positions: misfits.map(({ position }) => position),
        message: misfits.map(({ message }) => message).join('; '),
      }),
    );
  }
}

/** Groups the stored rows by the key and their scope, and takes those of which two are valid at one instant. */
async function eachDouble(
  context: ReadContext,
  declaration: DeclarationRecord,
  relation: StoredRelation,
  take: (found: () => DeclarationViolation) => void,
): Promise<void> {
  const { reader, pacer } = context;
  const positions = keyPositions(declaration);
  if (positions.length === 0) return;
  const count = relation.rowsAt(reader.generation);
  const columns = [...positions, relation.arity];
  const isHeld = (row: number): boolean => relation.isHeld(row, reader.generation, reader.time);
  let buckets = 64;
  while (buckets < count) buckets *= 2;
  const heads = new Int32Array(buckets);
  const next = new Int32Array(count);
  const bucketOf = (row: number): number => (keyHash(relation, positions, row) >>> 0) & (buckets - 1);
  for (let row = count - 1; row >= 0; row--) {
    if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
    if (!isHeld(row)) continue;
    const bucket = bucketOf(row);
    next[row] = heads[bucket] as number;
    heads[bucket] = row + 1;
  }
  const isLooked = new Uint8Array(count);
  for (let row = 0; row < count; row++) {
    if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
    if (isLooked[row] === 1 || !isHeld(row)) continue;
    const group: number[] = [];
    for (let other = row; other >= 0; other = (next[other] as number) - 1) {
      if (!columns.every((column) => valueAt(relation, column, other) === valueAt(relation, column, row)))
        continue;
      isLooked[other] = 1;
      group.push(other);
    }
    const rows = overlapping(group.map((each) => ({ relation, row: each })));
    if (rows.length === 0) continue;
    const message = messageOfKey(context, declaration, { relation, row }, rows.length);
    take(() => violationOf(context, declaration, rows, { kind: 'key', positions, message }));
  }
}

/** Like `eachDouble`, over the stored rows and those that are supposed, which number scopes and constants apart. */
async function eachSupposedDouble(
  context: ReadContext,
  declaration: DeclarationRecord,
  take: (found: () => DeclarationViolation) => void,
): Promise<void> {
  const { tenant, reader, pacer } = context;
  const positions = keyPositions(declaration);
  if (positions.length === 0) return;
  const groups = new TextMap<FactRow[]>();
  for (const facts of [tenant.facts, reader.overlay?.added.facts]) {
    const relation = facts?.relation(declaration.name, declaration.arity, false) ?? null;
    if (facts === undefined || relation === null) continue;
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
      if (!isHeldBy(context, relation, row)) continue;
      const { args, scope } = facts.identityOf({ relation, row });
      const key = JSON.stringify([scope, ...positions.map((position) => args[position])]);
      const group = groups.get(key);
      if (group !== undefined) group.push({ relation, row });
      else {
        pacer.memory.takeText(key, bytesOfGroup);
        groups.set(key, [{ relation, row }]);
      }
    }
  }
  for (const group of groups.values()) {
    const rows = overlapping(group);
    const [first] = rows;
    if (first === undefined) continue;
    const message = messageOfKey(context, declaration, first, rows.length);
    take(() => violationOf(context, declaration, rows, { kind: 'key', positions, message }));
  }
}

function valueAt({ columns }: StoredRelation, column: number, row: number): number {
  return (columns[column] as Int32Array)[row] as number;
}

/** The facts whose validity overlaps that of another one, in the order given. */
function overlapping(facts: readonly FactRow[]): FactRow[] {
  if (facts.length < 2) return [];
  const byBeginning = facts
    .map((fact, at) => ({ at, ...fact.relation.boundsOf(fact.row) }))
    .sort((left, right) => (left.from < right.from ? -1 : left.from > right.from ? 1 : left.at - right.at));
  const found = new Set<number>();
  let longest = byBeginning[0] as (typeof byBeginning)[number];
  for (const each of byBeginning.slice(1)) {
    if (each.from < longest.until) found.add(longest.at).add(each.at);
    if (each.until > longest.until) longest = each;
  }
  return facts.filter((_, at) => found.has(at));
}

function messageOfKey(
  context: ReadContext,
  declaration: DeclarationRecord,
  fact: FactRow,
  count: number,
): string {
  const args = storeOf(context, fact).argsOf(fact);
  const value = keyPositions(declaration)
    .map((position) => `${declaration.arguments[position]?.name} ${renderConstant(args[position] as string)}`)
    .join(', ');
  return `${count} facts of ${declaration.name}/${declaration.arity} have the key ${value} at the same time`;
}

function violationOf(
  context: ReadContext,
  { name, arity, arguments: named }: DeclarationRecord,
  rows: readonly FactRow[],
  { kind, positions, message }: { kind: 'key' | 'shape'; positions: readonly number[]; message: string },
): DeclarationViolation {
  const { names, overlay } = context.reader;
  const first = storeOf(context, rows[0] as FactRow).identityOf(rows[0] as FactRow);
  const listed = rows.slice(0, maxFactsListed).map((fact) => {
    const { from, until } = fact.relation.boundsOf(fact.row);
    const facts = storeOf(context, fact);
    const identity = facts.identityOf(fact);
    return {
      id: (isAdded(context.reader, fact) ? overlay?.idOf(fact) : null) ?? facts.idOf(fact),
      atom: renderIdentity(identity),
      ...names.part(name, identity.args),
      validFrom: Number.isFinite(from) ? from : null,
      validUntil: Number.isFinite(until) ? until : null,
    };
  });
  return {
    kind,
    predicate: name,
    arity,
    scope: first.scope,
    bindings: Object.fromEntries(
      positions.map((position) => [
        named[position]?.name ?? String(position),
        first.args[position] as string,
      ]),
    ),
    message,
    facts: listed,
    proof: {
      roots: listed.map((_, at) => at),
      steps: listed.map(({ id, validFrom: _, validUntil: __, ...atom }, at) => ({
        id: at,
        ...atom,
        kind: 'fact',
        rule: null,
        ruleId: null,
        premises: [],
        scope: first.scope,
        factId: id,
      })),
    },
  };
}

/** Every violation of these constraints as the context's reader sees it, in order; `views`: those in which all are judged. */
export async function violationsNow(
  context: ReadContext,
  constraints: readonly ConstraintRecord[],
  views: readonly (string | null)[] | null = null,
): Promise<FoundViolation[]> {
  if (constraints.length === 0) return [];
  const isAnyInEvery = constraints.some(({ scope }) => scope === null);
  const scopes = views ?? (isAnyInEvery ? [null, ...(await existingScopes(context))] : []);
  const found: FoundViolation[] = [];
  for (const constraint of constraints)
    for (const scope of constraint.scope === null ? scopes : [constraint.scope])
      for (const values of await instancesOf(context, constraint, scope))
        found.push({ constraint, scope, values });
  const order = new Map(constraints.map(({ id }, at) => [id, at]));
  return found.sort(compareViolations(({ id }) => order.get(id) ?? 0));
}

async function instancesOf(
  { reasoner, reader, pacer }: ReadContext,
  constraint: ConstraintRecord,
  scope: string | null,
): Promise<Iterable<ConstantTuple>> {
  const { body, variables } = denialOf(constraint);
  const asked = { view: viewOfScope(scope), body, variables };
  const { columns, count, constants } = await reasoner.answers(asked, reader, pacer);
  const found = new TextMap<ConstantTuple>();
  for (let row = 0; row < count; row++) {
    if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) {
      pacer.memory.take((rowsBetweenBreaths + 1) * bytesOfViolation);
      await pacer.breathe();
    }
    const values = columns.map((column) => constants.text(column[row] as number));
    found.set(JSON.stringify(values), values);
  }
  return found.values();
}

/** The constraint with this id. Refuses with NotFound if the database has none. */
export function requireConstraint(constraints: ConstraintStore, id: string): ConstraintRecord {
  const found = constraints.get(id);
  if (found === null)
    throw new EngineError('NotFound', `there is no constraint ${id}: GET /constraints lists the constraints`);
  return found;
}

/** The constraint as listed. */
export function storedConstraint(stored: ConstraintRecord): StoredConstraint {
  const { id, text, body, name, description, mode, scope, createdAt } = stored;
  return { id, text, body: [...body], name, description, mode, scope, createdAt };
}
