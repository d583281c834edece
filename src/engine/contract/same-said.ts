/**
 * Redundant fields that published clients send in every call: `negated` where a schema has `truthVal` (each is the
 * opposite of the other), and empty fact fields in the atoms of rules. They are read before the schema, which still
 * refuses every other unknown field.
 */
import { z } from 'zod';

type Given = Readonly<Record<string, unknown>>;

function isGiven(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As booleans in JSON, as texts in a query string. */
const opposites = new Map<unknown, unknown>([
  [true, false],
  [false, true],
  ['true', 'false'],
  ['false', 'true'],
]);

/**
 * `value` with `opposite` converted to `field`. Refuses a value that is neither true nor false, and two that contradict
 * each other.
 */
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
    const message = `${opposite} is the opposite of ${field}, and both have the same value: give only one of them`;
    context.addIssue({ code: 'custom', path: [opposite], message });
    return z.NEVER;
  }
  return { ...rest, [field]: read };
}

/** A schema that accepts more than its input type declares; callers in this program use the declared type. */
type Taking<Schema extends z.ZodType> = z.ZodType<z.output<Schema>, z.input<Schema>>;

/** A schema with `truthVal` that also accepts `negated` as its opposite. */
export function takingNegated<Schema extends z.ZodType>(schema: Schema): Taking<Schema> {
  return z.preprocess(
    (value, context) => (isGiven(value) ? readOpposite(value, 'truthVal', 'negated', context) : value),
    schema,
  ) as unknown as Taking<Schema>;
}

/** A schema with `negated` that also accepts `truthVal` as its opposite. */
export function takingTruthVal<Schema extends z.ZodType>(schema: Schema): Taking<Schema> {
  return z.preprocess(
    (value, context) => (isGiven(value) ? readOpposite(value, 'negated', 'truthVal', context) : value),
    schema,
  ) as unknown as Taking<Schema>;
}

/** The schema of an atom in a rule that also accepts `truthVal`, and other fact fields if empty. */
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

/** The schema of a pattern over true facts only; also accepts `truthVal: true` and `negated: false`. */
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
