import { compareText } from '../base/text-order.ts';
import type { Violation, ViolationList, ViolationsQuery } from '../contract/violations.ts';
import { misfitsOf } from '../commit/prepare-shape.ts';
import { renderConstant, renderIdentity } from '../language/print.ts';
import type { ReadContext } from '../session/read-context.ts';
import { keyPositions } from '../state/key-rule.ts';
import type { DeclarationRecord } from '../store/declaration-store.ts';
import type { FactRow } from '../store/fact-store.ts';
import { keyHash } from '../store/key-index.ts';
import type { StoredRelation } from '../store/stored-relation.ts';

/** Facts that one violation lists. */
const maxFactsListed = 100;
const rowsBetweenBreaths = 0x3ff;

/**
 * What violates the declarations in the tenant: keys first, then types, each by predicate and arity and in order of
 * assertion. A fact counts as long as it is stored, also before its validity begins.
 */
export async function listViolations(context: ReadContext, query: ViolationsQuery): Promise<ViolationList> {
  const { database, reader } = context;
  const declared = database.declarations
    .all()
    .filter(({ name }) => query.predicate === null || name === query.predicate)
    .sort((left, right) => compareText(left.name, right.name) || left.arity - right.arity);
  const violations: Violation[] = [];
  let total = 0;
  const take = (found: () => Violation): void => {
    if (total++ < query.limit) violations.push(found());
  };
  for (const kind of ['key', 'shape'] as const) {
    if (query.kind !== null && query.kind !== kind) continue;
    for (const declaration of declared) await eachViolation(context, declaration, kind, take);
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

async function eachViolation(
  context: ReadContext,
  declaration: DeclarationRecord,
  kind: 'key' | 'shape',
  take: (found: () => Violation) => void,
): Promise<void> {
  const { facts } = context.tenant;
  for (const negated of kind === 'key' ? [false] : [false, true]) {
    const relation = facts.relation(declaration.name, declaration.arity, negated);
    if (relation === null) continue;
    if (kind === 'key') await eachDouble(context, declaration, relation, take);
    else await eachMisfit(context, declaration, relation, take);
  }
}

async function eachMisfit(
  context: ReadContext,
  declaration: DeclarationRecord,
  relation: StoredRelation,
  take: (found: () => Violation) => void,
): Promise<void> {
  const { tenant, reader, pacer } = context;
  if (declaration.arguments.every(({ type }) => type === 'any' || type === 'text' || type === 'entity'))
    return;
  const count = relation.rowsAt(reader.generation);
  for (let row = 0; row < count; row++) {
    if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
    if (!relation.isHeld(row, reader.generation, reader.time)) continue;
    const args = tenant.facts.argsOf({ relation, row });
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
  take: (found: () => Violation) => void,
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
    const rows = overlapping(relation, group);
    if (rows.length === 0) continue;
    take(() =>
      violationOf(
        context,
        declaration,
        rows.map((each) => ({ relation, row: each })),
        {
          kind: 'key',
          positions,
          message: messageOfKey(context, declaration, { relation, row }, rows.length),
        },
      ),
    );
  }
}

function valueAt({ columns }: StoredRelation, column: number, row: number): number {
  return (columns[column] as Int32Array)[row] as number;
}

/** The rows whose validity overlaps that of another one, ascending. */
function overlapping(relation: StoredRelation, rows: readonly number[]): number[] {
  if (rows.length < 2) return [];
  const byBeginning = rows
    .map((row) => ({ row, ...relation.boundsOf(row) }))
    .sort((left, right) => (left.from < right.from ? -1 : left.from > right.from ? 1 : left.row - right.row));
  const found = new Set<number>();
  let longest = byBeginning[0] as (typeof byBeginning)[number];
  for (const each of byBeginning.slice(1)) {
    if (each.from < longest.until) found.add(longest.row).add(each.row);
    if (each.until > longest.until) longest = each;
  }
  return [...found].sort((left, right) => left - right);
}

function messageOfKey(
  { tenant }: ReadContext,
  declaration: DeclarationRecord,
  fact: FactRow,
  count: number,
): string {
  const args = tenant.facts.argsOf(fact);
  const value = keyPositions(declaration)
    .map((position) => `${declaration.arguments[position]?.name} ${renderConstant(args[position] as string)}`)
    .join(', ');
  return `${count} facts of ${declaration.name}/${declaration.arity} have the key ${value} at the same time`;
}

function violationOf(
  { tenant }: ReadContext,
  { name, arity, arguments: named }: DeclarationRecord,
  rows: readonly FactRow[],
  { kind, positions, message }: { kind: 'key' | 'shape'; positions: readonly number[]; message: string },
): Violation {
  const first = tenant.facts.identityOf(rows[0] as FactRow);
  const listed = rows.slice(0, maxFactsListed).map((fact) => {
    const { from, until } = fact.relation.boundsOf(fact.row);
    return {
      id: tenant.facts.idOf(fact),
      atom: renderIdentity(tenant.facts.identityOf(fact)),
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
      steps: listed.map(({ id, atom }, at) => ({
        id: at,
        atom,
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
