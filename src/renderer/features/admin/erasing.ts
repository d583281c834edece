/** What can be deleted or emptied, and in words what goes and what stays. */
import { defaultName, type Space } from '../../api/space.ts';
import { formatAmount } from '../../ui/format.ts';

/** A database or tenant, with counts of what would go. */
export type Target =
  | {
      readonly kind: 'database';
      readonly name: string;
      readonly tenants: number;
      readonly facts: number;
      readonly rules: number;
    }
  | { readonly kind: 'tenant'; readonly database: string; readonly name: string; readonly facts: number };

/** `delete` removes the target itself, `nuke` only its content. */
export interface Erasure {
  readonly how: 'delete' | 'nuke';
  readonly target: Target;
}

/** True if the workbench is in the target. */
function isHere({ target }: Erasure, space: Space): boolean {
  return target.kind === 'database'
    ? space.database === target.name
    : space.database === target.database && space.tenant === target.name;
}

interface Statement {
  readonly title: string;
  readonly goes: string;
  readonly stays: string;
  /** What happens to the workbench; null if nothing does. */
  readonly here: string | null;
}

function goesWith(target: Target): string {
  const facts = formatAmount(target.facts, 'fact');
  if (target.kind === 'tenant') return facts;
  return `${facts} of ${formatAmount(target.tenants, 'tenant')}, and ${formatAmount(target.rules, 'rule')}`;
}

function staysOf({ how, target }: Erasure): string {
  if (target.kind === 'tenant')
    return how === 'delete'
      ? 'The rules stay: they belong to the database.'
      : 'The tenant stays, without facts. The rules stay: they belong to the database.';
  return how === 'delete' ? 'Nothing of the database stays.' : 'The database and its tenants stay, empty.';
}

function whereTo({ how, target }: Erasure): string {
  if (how === 'nuke') return `The workbench is in this ${target.kind} and stays there.`;
  if (target.kind === 'database')
    return `The workbench is in this database, and goes to the database ${defaultName}.`;
  return target.name === defaultName
    ? 'The workbench is in this tenant and stays there. It comes back with its first fact.'
    : `The workbench is in this tenant, and goes to the tenant ${defaultName}.`;
}

/** The words of the dialog that confirms an erasure. */
export function statementOf(erasure: Erasure, space: Space): Statement {
  const { how, target } = erasure;
  const what = target.kind === 'database' ? `the database ${target.name}` : `the tenant ${target.name}`;
  return {
    title: how === 'delete' ? `Delete ${what}?` : `Empty ${what}?`,
    goes: goesWith(target),
    stays: staysOf(erasure),
    here: isHere(erasure, space) ? whereTo(erasure) : null,
  };
}

/** The space the workbench moves to after the erasure; null if it stays. */
export function nextSpace(erasure: Erasure, space: Space): Space | null {
  const { how, target } = erasure;
  if (how === 'nuke' || !isHere(erasure, space) || target.name === defaultName) return null;
  const database = target.kind === 'database' ? defaultName : space.database;
  return { database, tenant: defaultName, scope: { kind: 'all' } };
}
