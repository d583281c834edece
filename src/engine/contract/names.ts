/**
 * The names of databases, tenants and scopes: their rules, in the words of a refusal. The schemas of requests are made of
 * them (`fields.ts`); the workbench checks what is typed and what an address says by them, without a validator.
 */
import { isWellFormed } from './language.ts';

export const databaseNamePattern = /^[A-Za-z0-9_.-]{1,128}$/;
export const databaseNameRule = 'a database name is 1 to 128 ASCII letters, digits, _ - or .';

export const tenantNamePattern = /^[\x21-\x7e]{1,256}$/;
export const tenantNameRule = 'a tenant is 1 to 256 visible ASCII characters';

/** Maximum length of a scope's name, in UTF-16 code units. */
export const maxScopeName = 256;
export const scopeLengthRule = 'a scope has 1 to 256 characters';

export const dotsRule = 'a name is never . or ..';

/** True unless the name is one of the two that mean folders in a path. */
export function isNoDots(name: string): boolean {
  return name !== '.' && name !== '..';
}

/** Why the text is not a valid name of a database; null if it is. */
export function databaseNameProblem(name: string): string | null {
  if (!databaseNamePattern.test(name)) return databaseNameRule;
  return isNoDots(name) ? null : dotsRule;
}

/** Why the text is not a valid name of a tenant; null if it is. */
export function tenantNameProblem(name: string): string | null {
  if (!tenantNamePattern.test(name)) return tenantNameRule;
  return isNoDots(name) ? null : dotsRule;
}

// eslint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f-\u009f]/;

/** Why the text is not a valid name of a scope; null if it is. */
export function scopeNameProblem(name: string): string | null {
  if (name.length < 1 || name.length > maxScopeName) return scopeLengthRule;
  if (controls.test(name)) return 'a scope has no control characters';
  if (!isWellFormed(name)) return 'the text holds a lone surrogate';
  return isNoDots(name) ? null : dotsRule;
}
