/**
 * Wire schemas of aggregation: one figure over the facts that match a pattern, also per group.
 *
 * Variable names are accepted with or without `?`; the schema's output has it. The schema refuses what is senseless in
 * itself; whether a value is a number shows only when the facts are read.
 */
import { z } from 'zod';
import { defaulted, oneScopeChoice, optional, scopeFields, timeoutSchema } from './fields.ts';
import { defaultMaxDerivations } from './inference.ts';
import { maxArguments } from './language.ts';
import { predicateSchema, termsSchema, variableNameSchema } from './language-schemas.ts';
import { takingTrue } from './same-said.ts';
import { knowledgeGenerationField, momentFields } from './moments.ts';

export const aggregateOperations = ['COUNT', 'SUM', 'MIN', 'MAX', 'AVG'] as const;

const aggregateFields = {
  operation: z.enum(aggregateOperations),
  predicate: predicateSchema,
  args: optional(termsSchema).describe('Absent: any arguments, any number of them'),
  variable: optional(variableNameSchema).describe('The variable of args to aggregate, with or without ?'),
  argIndex: optional(
    z
      .int()
      .min(0)
      .max(maxArguments - 1),
  ).describe(
    'Instead of variable: the position of the argument, from 0. Without args, facts with fewer arguments do not match',
  ),
  groupBy: defaulted(z.array(variableNameSchema).max(maxArguments), []).describe(
    'Variables of args, with or without ?',
  ),
  distinct: defaulted(z.boolean(), false).describe('true: each value once; values are compared as text'),
  infer: defaulted(z.boolean(), false).describe('true: include derivable conclusions'),
  ...scopeFields,
  ...momentFields,
  timeoutMs: timeoutSchema,
  maxDerivations: defaulted(z.int().min(1).max(1_000_000_000), defaultMaxDerivations),
};

export const aggregateInputSchema = takingTrue(
  z.strictObject(aggregateFields).superRefine(oneScopeChoice).superRefine(aggregable),
);
export type AggregateInput = z.output<typeof aggregateInputSchema>;

/** Refuses a request that does not say what to aggregate, or that names an unknown variable. */
function aggregable(input: z.output<z.ZodObject<typeof aggregateFields>>, context: z.RefinementCtx): void {
  const { operation, args, variable, argIndex, groupBy } = input;
  const refuse = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });
  if (variable !== null && argIndex !== null)
    refuse(['argIndex'], 'give either variable or argIndex, not both');
  if (variable === null && argIndex === null && operation !== 'COUNT')
    refuse(['variable'], `${operation} needs variable or argIndex`);
  if (args === null) {
    if (variable !== null)
      refuse(['variable'], 'variable must be one of args: give args, or argIndex instead');
    if (groupBy.length > 0) refuse(['groupBy'], 'the variables of groupBy are those of args: give args');
    return;
  }
  if (argIndex !== null && argIndex >= args.length)
    refuse(
      ['argIndex'],
      `args has ${args.length} ${args.length === 1 ? 'argument' : 'arguments'}, counted from 0`,
    );
  const absent = (name: string): string => `${name} is not among the variables of args`;
  if (variable !== null && !args.includes(variable)) refuse(['variable'], absent(variable));
  for (const [at, name] of groupBy.entries()) if (!args.includes(name)) refuse(['groupBy', at], absent(name));
}

const aggregateValueSchema = z
  .union([z.number(), z.string(), z.null()])
  .describe(
    'A number if all values are numbers, except that an integer beyond +-(2^53 - 1) is given as text; null: no match',
  );
export type AggregateValue = z.output<typeof aggregateValueSchema>;

export const aggregateResultSchema = z.object({
  ...knowledgeGenerationField,
  operation: z.enum(aggregateOperations),
  result: aggregateValueSchema,
  matchedFacts: z.int().describe('Number of distinct atoms that match'),
  groups: z
    .array(
      z.object({
        key: z.record(z.string(), z.string()).describe('Keyed by variable name without ?'),
        result: aggregateValueSchema,
        matchedFacts: z.int(),
      }),
    )
    .describe('Ordered by key by code point, the variables in the order of groupBy'),
});
export type AggregateResult = z.output<typeof aggregateResultSchema>;
