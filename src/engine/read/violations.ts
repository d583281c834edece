import { EngineError } from '../base/errors.ts';
import type { StoredConstraint, Violation, ViolationList, ViolationsQuery } from '../contract/constraints.ts';
import type { ConstraintRecord, ConstraintStore } from '../store/constraint-store.ts';
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

/** Estimated bytes of a violation beside its texts. */
const bytesOfViolation = 200;
const rowsBetweenBreaths = 256;

/** What is violated now, in the order of `FoundViolation`; the first ones shown, with their proofs unless not wanted. */
export async function listViolations(context: ReadContext, query: ViolationsQuery): Promise<ViolationList> {
  const { constraints } = context.database;
  if (query.constraint !== null) requireConstraint(constraints, query.constraint);
  const wanted = query.kind === null || query.kind === 'constraint' ? constraints.all() : [];
  const found = await violationsNow(
    context,
    wanted.filter(
      ({ id, body }) =>
        (query.constraint === null || id === query.constraint) &&
        (query.predicate === null ||
          [...atomsIn(body)].some(({ predicate }) => predicate === query.predicate)),
    ),
  );
  const violations: Violation[] = [];
  for (const each of found.slice(0, query.limit))
    violations.push(await shownViolation(context, each, query.proof));
  const { generation } = context.reader;
  return { violations, count: violations.length, total: found.length, generation };
}

/** Every violation of these constraints as the context's reader sees it, in order. */
export async function violationsNow(
  context: ReadContext,
  constraints: readonly ConstraintRecord[],
): Promise<FoundViolation[]> {
  if (constraints.length === 0) return [];
  const isAnyInEvery = constraints.some(({ scope }) => scope === null);
  const scopes = isAnyInEvery ? [null, ...(await existingScopes(context))] : [];
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
  const found = new Map<string, ConstantTuple>();
  for (let row = 0; row < count; row++) {
    if (row % rowsBetweenBreaths === rowsBetweenBreaths - 1) {
      pacer.memory.take(rowsBetweenBreaths * bytesOfViolation);
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
