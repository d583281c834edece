import { present } from '../base/assert.ts';
import type { LogRecord } from '../log/codec.ts';
import type { AliasRecord } from '../store/alias-store.ts';
import { type ConstraintRecord, ConstraintStore } from '../store/constraint-store.ts';
import { type DeclarationRecord, DeclarationStore } from '../store/declaration-store.ts';
import { type TestRecord, TestStore } from '../store/test-store.ts';
import type { ConstraintToStore, ShapeOperation } from './operation.ts';
import type { DatabaseState, TenantState } from './state.ts';

/** Applies operations on declarations, constraints, tests and aliases. The checks ran before: what they name exists. */

/** The effect of a write on one declaration, constraint, test or alias; null before or after: there is none. */
export type ShapeChange = { readonly isChange: boolean } & (
  | {
      readonly kind: 'declaration';
      readonly before: DeclarationRecord | null;
      readonly after: DeclarationRecord | null;
    }
  | {
      readonly kind: 'constraint';
      readonly before: ConstraintRecord | null;
      readonly after: ConstraintRecord | null;
    }
  | { readonly kind: 'test'; readonly before: TestRecord | null; readonly after: TestRecord | null }
  | { readonly kind: 'alias'; readonly before: AliasRecord | null; readonly after: AliasRecord | null }
);

/** What of a database these operations change. */
type Shape = Pick<DatabaseState, 'declarations' | 'constraints' | 'tests'>;

/** Changes declarations, constraints, tests and aliases, and advances the generation if that is a change. */
export function applyShape(
  database: DatabaseState,
  operation: ShapeOperation,
  record: LogRecord,
): ShapeChange {
  const generation = database.lastGeneration + 1;
  const tenant = 'tenant' in operation ? database.tenantOrNew(operation.tenant, record.time) : null;
  const [change] = changeShape(database, tenant, [operation], { time: record.time, generation });
  if ('tenant' in operation && tenant !== null) database.tenants.set(operation.tenant, tenant);
  if (present(change, 'an operation has one change').isChange)
    database.advance(record.time, record.requestId);
  return change as ShapeChange;
}

/**
 * Applies the operations in order, without advancing a generation; `tenant` is that of their aliases. New constraints get
 * the ids `c12`, `c12-1`, `c12-2`, …
 */
export function changeShape(
  database: Shape,
  tenant: Pick<TenantState, 'aliases'> | null,
  operations: readonly ShapeOperation[],
  { time, generation }: { readonly time: number; readonly generation: number },
): ShapeChange[] {
  const { declarations, constraints, tests } = database;
  let added = 0;
  return operations.map((operation): ShapeChange => {
    switch (operation.kind) {
      case 'declare': {
        const { declaration } = operation;
        const before = declarations.get(declaration.name, declaration.arity);
        const after = { ...declaration, createdAt: before?.createdAt ?? time, changedIn: generation };
        if (before !== null && isSame(before, after))
          return { kind: 'declaration', before, after: before, isChange: false };
        declarations.put(after);
        return { kind: 'declaration', before, after, isChange: true };
      }
      case 'withdraw': {
        const before = present(declarations.get(operation.name, operation.arity), 'it was checked');
        declarations.remove(before);
        return { kind: 'declaration', before, after: null, isChange: true };
      }
      case 'addConstraint': {
        const id = added === 0 ? `c${generation}` : `c${generation}-${added}`;
        added++;
        const { constraint } = operation;
        const after = { ...constraint, id, createdAt: time, changedIn: generation };
        constraints.put(after);
        return { kind: 'constraint', before: null, after, isChange: true };
      }
      case 'updateConstraint': {
        const before = constraintById(constraints, operation.id);
        const after = { ...before, ...operation.constraint, changedIn: generation };
        if (isSame(before, after)) return { kind: 'constraint', before, after: before, isChange: false };
        constraints.put(after);
        return { kind: 'constraint', before, after, isChange: true };
      }
      case 'deleteConstraint': {
        const before = constraintById(constraints, operation.id);
        constraints.remove(before.id);
        return { kind: 'constraint', before, after: null, isChange: true };
      }
      case 'putTest':
      case 'deleteTest':
        return changeTest(tests, operation, { time, generation });
      case 'addAlias': {
        const { aliases } = present(tenant, 'an alias belongs to a tenant');
        const before = aliases.get(operation.alias);
        if (before?.entity === operation.entity)
          return { kind: 'alias', before, after: before, isChange: false };
        if (before !== null) aliases.remove(before);
        const after = { entity: operation.entity, alias: operation.alias, createdAt: time };
        aliases.add(after);
        return { kind: 'alias', before, after, isChange: true };
      }
      case 'removeAlias': {
        const { aliases } = present(tenant, 'an alias belongs to a tenant');
        const before = aliases.get(operation.alias);
        if (before?.entity !== operation.entity)
          return { kind: 'alias', before: null, after: null, isChange: false };
        aliases.remove(before);
        return { kind: 'alias', before, after: null, isChange: true };
      }
    }
  });
}

function changeTest(
  tests: TestStore,
  operation: Extract<ShapeOperation, { kind: 'putTest' | 'deleteTest' }>,
  { time, generation }: { readonly time: number; readonly generation: number },
): ShapeChange {
  if (operation.kind === 'deleteTest') {
    const before = tests.get(operation.name);
    tests.remove(operation.name);
    return { kind: 'test', before, after: null, isChange: before !== null };
  }
  const { name, text, scope } = operation.test;
  const before = tests.get(name);
  if (before?.text === text && before.scope === scope)
    return { kind: 'test', before, after: before, isChange: false };
  const createdAt = before?.createdAt ?? time;
  const after = { name, text, scope, createdAt, updatedAt: time, changedIn: generation };
  tests.put(after);
  return { kind: 'test', before, after, isChange: true };
}

/**
 * The declarations after these operations, which are not applied: by them the facts of one transaction are judged. A new
 * store if any of them changes one.
 */
export function declarationsAfter(
  { declarations }: Pick<DatabaseState, 'declarations'>,
  operations: readonly ShapeOperation[],
): DeclarationStore {
  const own = operations.filter(({ kind }) => kind === 'declare' || kind === 'withdraw');
  if (own.length === 0) return declarations;
  const copy = declarations.copy();
  changeSome({ declarations: copy, constraints: new ConstraintStore(), tests: new TestStore() }, own);
  return copy;
}

/** Like `declarationsAfter`, for constraints. Those that the operations add have ids that no stored one has. */
export function constraintsAfter(
  { constraints }: Pick<DatabaseState, 'constraints'>,
  operations: readonly ShapeOperation[],
): ConstraintStore {
  const own = operations.filter(({ kind }) => kind.endsWith('Constraint'));
  if (own.length === 0) return constraints;
  const copy = constraints.copy();
  changeSome({ declarations: new DeclarationStore(), constraints: copy, tests: new TestStore() }, own);
  return copy;
}

/** Like `declarationsAfter`, for tests. */
export function testsAfter(
  { tests }: Pick<DatabaseState, 'tests'>,
  operations: readonly ShapeOperation[],
): TestStore {
  const own = operations.filter(({ kind }) => kind === 'putTest' || kind === 'deleteTest');
  if (own.length === 0) return tests;
  const copy = tests.copy();
  changeSome({ declarations: new DeclarationStore(), constraints: new ConstraintStore(), tests: copy }, own);
  return copy;
}

/** Applies the operations but those on what is not there: another commit removed it, and this one will be refused. */
function changeSome(shape: Shape, operations: readonly ShapeOperation[]): void {
  const { declarations, constraints } = shape;
  for (const [at, operation] of operations.entries()) {
    const { kind } = operation;
    if (kind === 'withdraw' && declarations.get(operation.name, operation.arity) === null) continue;
    const isOfConstraint = kind === 'updateConstraint' || kind === 'deleteConstraint';
    if (isOfConstraint && constraints.get(operation.id) === null) continue;
    // No stored constraint is of a generation below 1.
    changeShape(shape, null, [operation], { time: 0, generation: -at });
  }
}

function constraintById(constraints: DatabaseState['constraints'], id: string): ConstraintRecord {
  return present(constraints.get(id), 'the constraint was there when it was checked');
}

type Compared = (DeclarationRecord | ConstraintRecord) & Partial<ConstraintToStore>;

/** Whether only the generations of change differ. */
function isSame(before: Compared, after: Compared): boolean {
  return JSON.stringify({ ...before, changedIn: 0 }) === JSON.stringify({ ...after, changedIn: 0 });
}
