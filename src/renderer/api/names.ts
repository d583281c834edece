/** What is wrong with a name that is being typed, by the schemas that check requests. */
import { databaseNameSchema, scopeNameSchema, tenantNameSchema } from '../../engine/contract/fields.ts';
import { type Validated, validate } from '../../engine/contract/validation.ts';

function problemOf(outcome: Validated<string>): string | null {
  return outcome.ok ? null : (outcome.errors[0]?.message ?? 'not a name');
}

/** A sentence, or null where the name can be one of a database. */
export function databaseNameProblem(name: string): string | null {
  return problemOf(validate(databaseNameSchema, name));
}

/** The same for a tenant. */
export function tenantNameProblem(name: string): string | null {
  return problemOf(validate(tenantNameSchema, name));
}

/** The same for a scope. */
export function scopeNameProblem(name: string): string | null {
  return problemOf(validate(scopeNameSchema, name));
}
