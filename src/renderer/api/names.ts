/** Validation of typed names, by the schemas that check requests. */
import { databaseNameSchema, scopeNameSchema, tenantNameSchema } from '../../engine/contract/fields.ts';
import { type Validated, validate } from '../../engine/contract/validation.ts';

function problemOf(outcome: Validated<string>): string | null {
  return outcome.ok ? null : (outcome.errors[0]?.message ?? 'not a name');
}

/** Returns a sentence, or null if the name is valid for a database. */
export function databaseNameProblem(name: string): string | null {
  return problemOf(validate(databaseNameSchema, name));
}

/** Returns a sentence, or null if the name is valid for a tenant. */
export function tenantNameProblem(name: string): string | null {
  return problemOf(validate(tenantNameSchema, name));
}

/** Returns a sentence, or null if the name is valid for a scope. */
export function scopeNameProblem(name: string): string | null {
  return problemOf(validate(scopeNameSchema, name));
}
