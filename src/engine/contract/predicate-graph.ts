/** How predicates depend on each other, by rules, constraints and declared arguments: GET /predicates/graph. */
import { z } from 'zod';
import { typeWords } from './declarations.ts';
import { defaulted, oneScopeChoice, optional, queryInteger, scopeParameters } from './fields.ts';
import { maxArguments } from './language.ts';
import { predicateSchema } from './language-schemas.ts';
import { knowledgeGenerationField, momentParameters } from './moments.ts';

/** Nodes of one answer, at most. */
const MAX_NODES = 10_000;

export const predicateGraphQuerySchema = z
  .strictObject({
    predicate: optional(predicateSchema).describe(
      'Only what this predicate depends on, what depends on it, and what shares a declared argument with it',
    ),
    arity: optional(queryInteger(0, maxArguments)).describe('With predicate: only of this arity'),
    ...scopeParameters,
    limit: defaulted(queryInteger(1, MAX_NODES), 1000).describe(
      `Maximum number of nodes, up to ${MAX_NODES}: those nearest to predicate, else predicates, constraints and arguments in order`,
    ),
    ...momentParameters,
  })
  .superRefine(oneScopeChoice)
  .superRefine(({ predicate, arity }, context) => {
    if (arity !== null && predicate === null)
      context.addIssue({ code: 'custom', path: ['arity'], message: 'give the predicate too' });
  });
export type PredicateGraphQuery = z.output<typeof predicateGraphQuerySchema>;

const predicateNodeSchema = z.object({
  kind: z.literal('predicate'),
  id: z.string().describe('name/arity, with - before it if negated'),
  name: z.string(),
  arity: z.int(),
  negated: z.boolean().describe('true: what is false, an independent relation'),
  facts: z.int().describe('Stored visible facts in the view'),
  rules: z.int().describe('Rules of the view that conclude it, disabled ones too'),
  stratum: z
    .int()
    .nullable()
    .describe(
      'From 0: it is complete before those of higher strata begin. null: only rules of scopes name it, and those of all ' +
        'scopes together have no strata',
    ),
  recursive: z.boolean().describe('It depends on itself'),
  declared: z.boolean(),
  key: z.array(z.string()).describe('Names of the arguments of its declared key'),
});

const constraintNodeSchema = z.object({
  kind: z.literal('constraint'),
  id: z.string(),
  name: z.string(),
  text: z.string(),
  mode: z.enum(['warn', 'reject']),
  scope: z.string().nullable(),
});

const argumentNodeSchema = z.object({
  kind: z.literal('argument'),
  id: z.string().describe('`name: type`'),
  name: z.string(),
  type: z.enum(typeWords),
});

const readFields = {
  from: z.string().describe('Id of the predicate that is read'),
  completes: z.boolean().describe('Through not or an aggregate: it must be complete first'),
};

export const predicateGraphSchema = z.object({
  ...knowledgeGenerationField,
  nodes: z
    .array(z.discriminatedUnion('kind', [predicateNodeSchema, constraintNodeSchema, argumentNodeSchema]))
    .describe(
      'Predicates by name, arity and truth value; constraints, oldest first; declared arguments by name and type',
    ),
  edges: z
    .array(
      z.discriminatedUnion('kind', [
        z.object({
          kind: z.literal('rule'),
          ...readFields,
          to: z.string().describe('Id of the predicate that is concluded'),
          rules: z.array(z.string()).describe('Ids of the rules'),
          positions: z
            .array(z.object({ from: z.int(), to: z.int() }))
            .describe('Arguments that a rule joins by a variable, by position from 0'),
        }),
        z.object({
          kind: z.literal('constraint'),
          ...readFields,
          to: z.string().describe('Id of the constraint'),
        }),
        z.object({
          kind: z.literal('argument'),
          from: z.string().describe('Id of the predicate'),
          to: z.string().describe('Id of the argument'),
          position: z.int().describe('From 0'),
          inKey: z.boolean(),
        }),
      ]),
    )
    .describe('Between nodes of the answer'),
  total: z.int().describe('Number of nodes, whatever the limit'),
  truncated: z.boolean().describe('Nodes were left out for the limit'),
});
export type PredicateGraph = z.output<typeof predicateGraphSchema>;
