/**
 * The usual input of an operation, checked without its schema.
 *
 * A schema answers for every value, with complaints, and makes objects on its way; most requests are in order and give
 * few fields, each as it will be used. Such a one is taken here at a tenth of the cost; all others are left to the schema,
 * which alone says what is allowed.
 */
import type { z } from 'zod';
import { isWellFormed, maxArguments } from './language.ts';

/** True for a value that the field takes, and takes as it is; false where that is for the schema to say. */
export type IsPlain = (value: unknown) => boolean;

/**
 * Makes what gives the output of `schema` for an object of these fields alone, each of them plain; null for all others.
 * `example` has the fields that must be there, and is taken by the schema. No two of the fields may exclude each other.
 * Values of the output are those given, not copies.
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

/** Constants and variables given as texts. */
export function areTerms(value: unknown): boolean {
  if (!Array.isArray(value) || value.length > maxArguments) return false;
  for (const term of value as unknown[]) {
    if (typeof term !== 'string') return false;
    if (term.startsWith('?') ? !plainVariable.test(term) : !isWellFormed(term)) return false;
  }
  return true;
}

export function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}

/** Whole numbers from `least` to `most`, both included. */
export function isWhole(least: number, most: number): IsPlain {
  return (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}
