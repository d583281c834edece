/**
 * Fields that say nothing new. They are no typing mistakes, and published clients send them in every call: `negated` where a
 * schema has `truthVal` (each is the other's opposite), and empty fields of facts in the atoms of rules. They are read before
 * the schema, which goes on refusing every other unknown field.
 */
import { z } from 'zod';

type Given = Readonly<Record<string, unknown>>;

function isGiven(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** In JSON, and as texts in a query string. */
const opposites = new Map<unknown, unknown>([
  [true, false],
  [false, true],
  ['true', 'false'],
  ['false', 'true'],
]);

/** `value` with `opposite` read as the opposite of `field`. Refuses one that is neither true nor false. */
function readOpposite(value: Given, field: string, opposite: string, context: z.RefinementCtx): unknown {
  if (!Object.hasOwn(value, opposite)) return value;
  const { [opposite]: said, ...rest } = value;
  if (said === null || said === undefined) return rest;
  const read = opposites.get(said);
  if (read === undefined) {
    context.addIssue({ code: 'custom', path: [opposite], message: 'is true or false' });
    return z.NEVER;
  }
  if (rest[field] === said) {
    const message = `${opposite} is the opposite of ${field}, and both say the same: give one of them`;
    context.addIssue({ code: 'custom', path: [opposite], message });
    return z.NEVER;
  }
  return { ...rest, [field]: read };
}

/** Of a schema that takes more than it says: callers in this program give what it says. */
type Taking<Schema extends z.ZodType> = z.ZodType<z.output<Schema>, z.input<Schema>>;

/** A schema with `truthVal`, which takes `negated` as its opposite too. */
export function takingNegated<Schema extends z.ZodType>(schema: Schema): Taking<Schema> {
  return z.preprocess(
    (value, context) => (isGiven(value) ? readOpposite(value, 'truthVal', 'negated', context) : value),
    schema,
  ) as unknown as Taking<Schema>;
}

/** A schema with `negated`, which takes `truthVal` as its opposite too. */
export function takingTruthVal<Schema extends z.ZodType>(schema: Schema): Taking<Schema> {
  return z.preprocess(
    (value, context) => (isGiven(value) ? readOpposite(value, 'negated', 'truthVal', context) : value),
    schema,
  ) as unknown as Taking<Schema>;
}

/** The schema of an atom in a rule, which takes `truthVal`, and the other fields of facts where they are empty. */
export function takingFactFields<Schema extends z.ZodType>(schema: Schema): Taking<Schema> {
  return z.preprocess((value, context) => {
    if (!isGiven(value)) return value;
    const { scope = null, metadata = null, ...rest } = value;
    const kept = {
      ...rest,
      ...(scope === null ? {} : { scope }),
      ...(metadata === null || (isGiven(metadata) && Object.keys(metadata).length === 0) ? {} : { metadata }),
    };
    return readOpposite(kept, 'negated', 'truthVal', context);
  }, schema) as unknown as Taking<Schema>;
}

/** The schema of a pattern that is about true facts alone: that it is said does no harm. */
export function takingTrue<Schema extends z.ZodType>(schema: Schema): Taking<Schema> {
  return z.preprocess((value) => {
    if (!isGiven(value)) return value;
    const { truthVal = null, negated = null, ...rest } = value;
    return {
      ...rest,
      ...(truthVal === null || truthVal === true ? {} : { truthVal }),
      ...(negated === null || negated === false ? {} : { negated }),
    };
  }, schema) as unknown as Taking<Schema>;
}
