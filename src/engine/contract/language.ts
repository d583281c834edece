/**
 * The language on the wire: atoms, literals and rules as JSON, with their schemas.
 *
 * The wire shape with all defaults filled in is also the engine's AST. An argument that starts with `?` is a variable,
 * any other string a constant. What a schema cannot check (arity of built-ins, safety, stratification) is left to
 * `language/check`.
 */
import { z } from 'zod';
import { takingFactFields } from './same-said.ts';

/** Comparison predicates: two arguments. */
export const comparisonNames = ['<', '<=', '>', '>=', '=', '!='] as const;
/** Arithmetic predicates: left, right, result. */
export const arithmeticNames = ['+', '-', '*', '/', 'mod'] as const;
export const aggregateNames = ['count', 'sum', 'min', 'max', 'avg'] as const;

export type AggregateName = (typeof aggregateNames)[number];

/** `predicate(args)`, or `-predicate(args)` when `negated` (explicit negation). */
export interface Atom {
  predicate: string;
  args: string[];
  negated: boolean;
}

/** An atom in a body; `naf`: under default negation (`not`). A built-in has the name of one as its predicate. */
export interface AtomLiteral extends Atom {
  naf: boolean;
}

/** `result = aggregate { over : body }`. */
export interface AggregateLiteral {
  aggregate: AggregateName;
  result: string;
  over: string[];
  body: Literal[];
}

export type Literal = AtomLiteral | AggregateLiteral;

/** `head :- body`. Variables are scoped to the rule. */
export interface Rule {
  head: Atom;
  body: Literal[];
}

/**
 * Arguments by name, of an atom whose declaration is not known yet: the values in the order given, beside their names.
 * `language/argument-names` puts them in the order of the declaration before anything else reads them.
 */
export class NamedTerms extends Array<string> {
  /** Copies have no names: they are plain lists. */
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }

  readonly names: readonly string[];
  /** An argument that is left out is an error; else it is `?_`. */
  readonly needsAll: boolean;

  constructor(given: ReadonlyMap<string, string>, needsAll: boolean) {
    super();
    for (const value of given.values()) this.push(value);
    this.names = [...given.keys()];
    this.needsAll = needsAll;
  }

  /** As a client gives them, so that a program that sends what it parsed sends the names. */
  toJSON(): Record<string, string> {
    return Object.fromEntries(this.names.map((name, at) => [name, this[at] as string]));
  }
}

const argumentName = /^[\p{L}\p{N}_]{1,128}$/u;

/** True if an argument may be declared with this name. */
export function isArgumentName(name: string): boolean {
  return argumentName.test(name);
}

const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** True if the text has no lone surrogate, so that UTF-8 can encode it. */
export function isWellFormed(text: string): boolean {
  return !loneSurrogate.test(text);
}

/** Maximum size of a constant: its UTF-8 bytes. */
export const maxConstantBytes = 65_536;

/** Why the text is not a valid constant; null if it is. It may be a variable. */
export function constantProblem(text: string): string | null {
  // A UTF-16 code unit takes one to three bytes.
  if (text.length * 3 > maxConstantBytes) {
    const bytes = text.length > maxConstantBytes ? text.length : utf8Bytes(text);
    if (bytes > maxConstantBytes)
      return `a constant has at most ${maxConstantBytes} bytes of UTF-8; this one has ${utf8Bytes(text)}`;
  }
  return isWellFormed(text) ? null : 'the text holds a lone surrogate';
}

/** The bytes of the text in UTF-8; a lone surrogate counts as three. */
function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    // The two units of a surrogate pair take four bytes together.
    if (unit >= 0x80) bytes += unit < 0x800 || isHalfOfPair(text, at, unit) ? 1 : 2;
  }
  return bytes;
}

function isHalfOfPair(text: string, at: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdfff) return false;
  const other = unit < 0xdc00 ? text.charCodeAt(at + 1) : text.charCodeAt(at - 1);
  return unit < 0xdc00 ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other <= 0xdbff;
}

/** Why the text is not a valid predicate; null if it is. */
export function predicateProblem(name: string): string | null {
  if (name.length < 1 || name.length > 256) return 'a predicate has 1 to 256 characters';
  if (!isWellFormed(name)) return 'the text holds a lone surrogate';
  const positive = /^(?:not|no)\s+(\S+)$/i.exec(name)?.[1];
  if (positive !== undefined)
    return (
      `a predicate has no white space: to say that something is explicitly false, use ${positive} itself, with ` +
      `truthVal false in a fact and negated true in a question or rule`
    );
  // eslint-disable-next-line no-control-regex
  if (/[\s\u0000-\u001f\u007f-\u009f(){},;"'`]/u.test(name))
    return 'a predicate has no white space, control character, quote or any of ( ) , { } ;';
  if (name.includes(':-')) return 'a predicate does not contain :-';
  if (/^[?\-%#]/.test(name)) return 'a predicate does not start with ? - % or #';
  if (name.endsWith('.')) return 'a predicate does not end with a full stop';
  return null;
}

const builtinNames: ReadonlySet<string> = new Set([...comparisonNames, ...arithmeticNames]);

/** True for the name of a comparison or an arithmetic operation. */
export function isBuiltinName(name: string): boolean {
  return builtinNames.has(name);
}

/** True for a variable: it starts with `?`. A valid one continues with letters, digits or `_`. */
export function isVariable(term: string): boolean {
  return term.startsWith('?');
}

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

export const maxArguments = 64;
export const maxBodyLiterals = 256;

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
