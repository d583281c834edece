/** What predicates mean: declarations of their arguments, keys and checks. They belong to the database, as rules do. */
import { z } from 'zod';
import { generationSchema, optional, defaulted, queryInteger, timeSchema } from './fields.ts';
import { isArgumentName, isWellFormed, maxArguments } from './language.ts';
import { constantSchema, predicateSchema } from './language-schemas.ts';

/** Declarations of one database. */
export const maxDeclarations = 10_000;
/** Characters of one declaration as JSON. */
export const maxDeclarationCharacters = 262_144;
/** Constants that an argument may be. */
const maxChoices = 1000;

const typeNames = ['any', 'text', 'integer', 'number', 'boolean', 'date', 'instant', 'entity'] as const;

/** The types in words: a type that lists its values is `oneOf`. */
export const typeWords = [...typeNames, 'oneOf'] as const;
const descriptionSchema = optional(
  z.string().max(10_000).refine(isWellFormed, 'the text holds a lone surrogate'),
).describe('For people and models');
const argumentNameSchema = z
  .string()
  .max(128)
  .refine(isArgumentName, 'a name of an argument is 1 to 128 letters, digits or _');

const typeSchema = z.union(
  [z.enum(typeNames), z.strictObject({ oneOf: z.array(constantSchema).min(1).max(maxChoices) })],
  { error: `a type is one of ${typeNames.join(', ')}, or {"oneOf": [constants]}` },
);

const argumentSchema = z.strictObject({
  name: argumentNameSchema,
  description: descriptionSchema,
  type: defaulted(typeSchema, 'any').describe(
    'integer and number as in the language; boolean: true or false; date: YYYY-MM-DD; instant: ISO 8601 with a time, or ' +
      'milliseconds; text, entity and any: every constant',
  ),
});

/** The predicate in a path. */
export const declaredParams = z.strictObject({
  name: predicateSchema,
  arity: queryInteger(0, maxArguments),
});

/** What is declared, without the predicate: the body of a PUT. */
export const declarationInputSchema = z
  .strictObject({
    description: descriptionSchema,
    arguments: defaulted(z.array(argumentSchema).max(maxArguments), []).describe(
      'As many as the arity; none: they have no names',
    ),
    key: defaulted(z.array(argumentNameSchema).max(maxArguments), []).describe(
      'Names of arguments: at any instant one true fact of a scope for each of their values',
    ),
    onConflict: defaulted(z.enum(['warn', 'supersede', 'reject']), 'warn').describe(
      'A second fact for a value of the key is stored and listed, ends the first, or is refused with KeyConflict',
    ),
    check: defaulted(z.enum(['warn', 'reject']), 'warn').describe(
      'A fact with an argument of another type is stored with hints, or refused with ShapeViolation',
    ),
  })
  .superRefine((value, context) => {
    const refuse = (path: (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    const names = value.arguments.map(({ name }) => name);
    for (const [at, name] of names.entries())
      if (names.indexOf(name) < at)
        refuse(['arguments', at, 'name'], `two arguments have the name ${name}: names are distinct`);
    for (const [at, name] of value.key.entries()) {
      if (!names.includes(name)) refuse(['key', at], `no argument has the name ${name}`);
      if (value.key.indexOf(name) < at) refuse(['key', at], `${name} is in the key already`);
    }
  });
export type DeclarationInput = z.output<typeof declarationInputSchema>;
export type DeclaredArgument = DeclarationInput['arguments'][number];
export type ArgumentType = DeclaredArgument['type'];

/** A predicate with its arity, as declared. */
export interface Declaration extends DeclarationInput {
  readonly name: string;
  readonly arity: number;
}

/** A declaration as answers show it. */
export function shownDeclaration(declaration: Declaration): Declaration {
  const { name, arity, description, arguments: named, key, onConflict, check } = declaration;
  return { name, arity, description, arguments: named, key, onConflict, check };
}

/** The fields of a declaration in answers. */
export const declarationFields = {
  name: z.string(),
  arity: z.int(),
  description: z.string().nullable(),
  arguments: z.array(
    z.object({
      name: z.string(),
      description: z.string().nullable(),
      type: z.union([z.enum(typeNames), z.object({ oneOf: z.array(z.string()) })]),
    }),
  ),
  key: z.array(z.string()),
  onConflict: z.enum(['warn', 'supersede', 'reject']),
  check: z.enum(['warn', 'reject']),
};

export const declarationOutcomeSchema = z.object({
  status: z.enum(['added', 'updated', 'unchanged']),
  ...declarationFields,
  generation: generationSchema,
});
export type DeclarationOutcome = z.output<typeof declarationOutcomeSchema>;

export const withdrawnSchema = z.object({
  status: z.literal('withdrawn'),
  name: z.string(),
  arity: z.int(),
  generation: generationSchema,
});
export type Withdrawn = z.output<typeof withdrawnSchema>;

export const predicateDetailSchema = z.object({
  ...declarationFields,
  createdAt: timeSchema,
  facts: z.int().describe('Stored visible facts, of both truth values'),
  derived: z.int().describe('Conclusions known; a lower bound unless derivedComplete'),
  derivedComplete: z.boolean(),
  rules: z.int().describe('Rules that conclude it'),
  scopes: z.array(z.string().nullable()),
  examples: z.array(z.string()).describe('Facts, at most 3'),
  violations: z
    .object({ key: z.int(), shape: z.int() })
    .describe(
      'Values of the key with several facts at one instant, and facts with arguments of another type',
    ),
});
export type PredicateDetail = z.output<typeof predicateDetailSchema>;
