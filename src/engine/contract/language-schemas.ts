/**
 * The schemas of the language on the wire (`language.ts`). What a schema cannot check (arity of built-ins, safety,
 * stratification) is left to `language/check`.
 */
import { z } from 'zod';
import {
  aggregateNames,
  type Atom,
  constantProblem,
  isArgumentName,
  isBuiltinName,
  isVariable,
  type Literal,
  maxArguments,
  maxBodyLiterals,
  NamedTerms,
  predicateProblem,
} from './language.ts';
import { takingFactFields } from './same-said.ts';

const variablePattern = /^\?[\p{L}\p{N}_]+$/u;

/** The shortest text of a JSON number or boolean given as an argument. */
function scalarText(value: number | boolean): string {
  return Object.is(value, -0) ? '0' : String(value);
}

const safeNumber = z.number().refine((value) => !Number.isInteger(value) || Number.isSafeInteger(value), {
  message: 'an integer beyond +-(2^53 - 1) loses digits in JSON: send it as a string',
});

/** A constant or a variable. Numbers and booleans become their shortest text. */
export const termSchema = z
  .union([z.string(), safeNumber, z.boolean()], {
    error: (issue) =>
      typeof issue.input === 'number'
        ? 'an integer beyond +-(2^53 - 1) loses digits in JSON: send it as a string'
        : 'an argument is a string, a number or a boolean',
  })
  .transform((value) => (typeof value === 'string' ? value : scalarText(value)))
  .superRefine((text, context) => {
    const problem = constantProblem(text);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
    else if (isVariable(text) && !variablePattern.test(text))
      context.addIssue({
        code: 'custom',
        message: 'a variable is ? and letters, digits or _; a constant does not start with ?',
      });
  })
  .meta({ description: 'A constant, or a variable when it starts with ?', examples: ['alice', '?x', 3] });

/** The name of a variable other than `?_`, with or without `?`; the output has it. */
export const variableNameSchema = z
  .string()
  .min(1, { message: 'a variable has a name', abort: true })
  .max(256)
  .transform((name) => (isVariable(name) ? name : `?${name}`))
  .refine((name) => variablePattern.test(name), {
    message: 'a variable name is letters, digits or _, with or without ?',
    abort: true,
  })
  .refine((name) => name !== '?_', {
    message: '?_ matches anything and has no value: use a named variable',
    abort: true,
  });

/** A constant: `termSchema` without variables. */
export const constantSchema = termSchema
  .refine((text) => !isVariable(text), { message: 'a fact is ground: variables are not allowed here' })
  .meta({ description: 'A constant', examples: ['alice', 3] });

/** Any predicate, built-ins included (bodies). */
export const anyPredicateSchema = z.string().superRefine((name, context) => {
  const problem = isBuiltinName(name) ? null : predicateProblem(name);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

/** The predicate of a fact, a head or a question. */
export const predicateSchema = z
  .string()
  .superRefine((name, context) => {
    const problem = isBuiltinName(name)
      ? 'a fact cannot have the name of a built-in as predicate'
      : predicateProblem(name);
    if (problem !== null) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ description: 'The name of a relation', examples: ['parent'] });

/** A list of arguments, or an object with declared names as its fields. */
function argumentsOf(term: z.ZodType<string>, needsAll: boolean) {
  const named = z
    .record(z.string().refine(isArgumentName, 'a name of an argument is 1 to 128 letters, digits or _'), term)
    .refine((given) => Object.keys(given).length <= maxArguments, 'at most 64 arguments')
    .transform((given): string[] => new NamedTerms(new Map(Object.entries(given)), needsAll));
  // A refinement looks at lists alone; `max` also compares what another value has as its length.
  const list = z
    .array(term)
    .refine(({ length }) => length <= maxArguments, 'at most 64 arguments')
    .meta({ maxItems: maxArguments });
  const either = z.union([list, named], {
    error: ({ input }) =>
      input === undefined
        ? 'is required (array)'
        : 'is a list of arguments, or an object with their declared names',
  });
  // Arguments that were read already keep their names when another call passes them on.
  const given = (value: unknown): unknown => (value instanceof NamedTerms ? value.toJSON() : value);
  return z.preprocess(given, either) as unknown as z.ZodType<string[], Arguments>;
}

/** Arguments as a client gives them. */
type Arguments = readonly Scalar[] | Readonly<Record<string, Scalar>>;
type Scalar = string | number | boolean;

export const termsSchema = argumentsOf(termSchema, false).describe(
  'In order, or an object by declared names; one that starts with ? is a variable',
);
export const constantsSchema = argumentsOf(constantSchema, true).describe(
  'In order, or an object by declared names; constants only',
);

const absentFlag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

/** The head of a rule. */
export const headSchema: z.ZodType<Atom, unknown> = takingFactFields(
  z.strictObject({
    predicate: predicateSchema,
    args: argumentsOf(termSchema, true).describe('In order, or an object by declared names'),
    negated: absentFlag,
  }),
);

const atomLiteralSchema = takingFactFields(
  z.strictObject({
    predicate: anyPredicateSchema,
    args: termsSchema,
    negated: absentFlag,
    naf: absentFlag,
  }),
);

const aggregateLiteralSchema = z.strictObject({
  aggregate: z.enum(aggregateNames),
  result: termSchema,
  over: z.array(termSchema).min(1).max(maxArguments),
  body: z.lazy(() => z.array(literalSchema).min(1).max(maxBodyLiterals)),
});

/** A body literal: an atom, a built-in or an aggregate. */
export const literalSchema: z.ZodType<Literal, unknown> = z.lazy(() =>
  z.union([atomLiteralSchema, aggregateLiteralSchema]),
);

export const bodySchema = z
  .array(literalSchema)
  .min(1, 'a body has at least one literal')
  .max(maxBodyLiterals, 'a body has at most 256 literals')
  .describe(
    'Literals {predicate, args, negated?, naf?} (naf: not), built-ins with their operator as predicate, or ' +
      'aggregates {aggregate, result, over, body}; text is shorter',
  );
