/**
 * A fast path for common requests that skips schema validation.
 *
 * Schema validation reports errors and allocates intermediate objects. Most requests are valid and have few fields,
 * each already in its final form; accepting them here takes a tenth of the time. Everything else goes to the schema,
 * which alone defines what is allowed.
 */
import type { z } from 'zod';
import { constantProblem, maxArguments } from './language.ts';

/** True for a value that the field accepts unchanged; false leaves the decision to the schema. */
export type IsPlain = (value: unknown) => boolean;

/**
 * Builds a function that returns the output of `schema` for an object with only these fields, each plain, and null for
 * all others. `example` contains the required fields and must be valid. No two fields may exclude each other. Values
 * are not copied.
 */
export function plainInput<Schema extends z.ZodType<object>>(
  schema: Schema,
  example: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, IsPlain>>,
): (value: unknown) => z.output<Schema> | null {
  const defaults: object = schema.parse(example);
  const needed = Object.keys(example);
  const known = new Map(Object.entries(fields));
  return (value) => {
    if (typeof value !== 'object' || value === null) return null;
    const output: Record<string, unknown> = { ...defaults };
    const given = value as Readonly<Record<string, unknown>>;
    for (const field in given) {
      if (known.get(field)?.(given[field]) !== true) return null;
      output[field] = given[field];
    }
    for (const field of needed) if (given[field] === undefined) return null;
    return output as z.output<Schema>;
  };
}

const plainVariable = /^\?\w+$/;

/** True for an array of constants and variables given as strings. */
export function areTerms(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > maxArguments) return false;
  for (const term of value as unknown[]) {
    if (typeof term !== 'string') return false;
    if (term.startsWith('?') ? !plainVariable.test(term) : constantProblem(term) !== null) return false;
  }
  return true;
}

/** True for a boolean. */
export function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

/** Accepts integers from `min` to `max`, both included. */
export function isWhole(min: number, max: number): IsPlain {
  return (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}
