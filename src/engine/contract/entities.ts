/** Wire schemas of entities: the page of a constant, aliases and merges. */
import { z } from 'zod';
import {
  defaulted,
  generationSchema,
  offsetSchema,
  oneScopeChoice,
  queryFlag,
  queryInteger,
  scopeFields,
  scopeParameters,
  timeoutSchema,
  timeSchema,
} from './fields.ts';
import { storedFactSchema } from './facts.ts';
import { constantSchema } from './language.ts';

const limitOfPage = 100;
const maxLimit = 100_000;
const maxOffset = 999_999_999_999_999;
const about = {
  infer: 'true: derive every conclusion about it within timeoutMs; otherwise those derived before',
  limit: 'Entries of each list',
  offset: 'Entries of each list to skip',
};

/** The path of GET /entities/:constant. */
export const entityParams = z.strictObject({ constant: constantSchema });

/** The query string of GET /entities/:constant. */
export const entityQuerySchema = z
  .strictObject({
    ...scopeParameters,
    infer: defaulted(queryFlag, false).describe(about.infer),
    limit: defaulted(queryInteger(1, maxLimit), limitOfPage).describe(about.limit),
    offset: defaulted(queryInteger(0, maxOffset), 0).describe(about.offset),
    timeoutMs: defaulted(queryInteger(1, 600_000), 10_000).describe('Time for deriving, in milliseconds'),
  })
  .superRefine(oneScopeChoice);

/** The body of POST /entities. */
export const entityInputSchema = z
  .strictObject({
    constant: constantSchema,
    ...scopeFields,
    infer: defaulted(z.boolean(), false).describe(about.infer),
    limit: defaulted(z.int().min(1).max(maxLimit), limitOfPage).describe(about.limit),
    offset: offsetSchema.describe(about.offset),
    timeoutMs: timeoutSchema,
  })
  .superRefine(oneScopeChoice);
export type EntityInput = z.output<typeof entityInputSchema>;

const conclusionSchema = z.object({
  atom: z.string(),
  predicate: z.string(),
  args: z.array(z.string()),
  truthVal: z.boolean(),
});
export type EntityConclusion = z.output<typeof conclusionSchema>;

export const entityPageSchema = z.object({
  entity: z.string().describe('The constant; if the request named an alias, the entity of that alias'),
  aliases: z.array(z.string()).describe('Its other names, by code point'),
  asArgument: z
    .array(
      z.object({
        predicate: z.string(),
        arity: z.int(),
        position: z.int().describe('From 0'),
        name: z.string().nullable().describe('The declared name of the argument; null: it has none'),
        count: z.int().describe('Stored facts with it there, of both truth values'),
        derived: z.int().describe('Conclusions with it there, as far as `conclusions` goes'),
      }),
    )
    .describe('Where it occurs, by predicate, arity and position'),
  facts: z.array(storedFactSchema).describe('Stored facts with it, newest first'),
  conclusions: z.array(conclusionSchema).describe('Conclusions with it that are not stored, by relation'),
  conclusionsComplete: z
    .boolean()
    .describe('true: these are all conclusions; false: only those that were derived so far'),
  notWorkedOut: z
    .array(z.string())
    .optional()
    .describe('With infer=true: predicate/arity of what was not derived in time, negated with -'),
  neighbours: z
    .array(
      z.object({
        entity: z.string(),
        via: z.string().describe('The predicate'),
        count: z.int().describe('Facts and conclusions of the predicate with both'),
      }),
    )
    .describe('Constants that share a fact or a conclusion with it, most first'),
  mentionsInRules: z
    .array(
      z.object({
        id: z.string(),
        rule: z.string(),
        name: z.string().nullable(),
        scope: z.string().nullable(),
        enabled: z.boolean(),
      }),
    )
    .describe('Rules that name it, in order of creation'),
  history: z
    .array(
      z.object({
        time: timeSchema,
        generation: generationSchema,
        requestId: z.string(),
        change: z.enum(['asserted', 'updated']),
        id: z.string(),
        atom: z.string(),
      }),
    )
    .describe('Changes of the facts that it has now, newest first'),
  totals: z
    .object({ facts: z.int(), conclusions: z.int(), neighbours: z.int(), mentionsInRules: z.int() })
    .describe('Lengths of the whole lists'),
  nextOffset: z.int().nullable().describe('The offset of the next page; null: no list goes on'),
  generation: generationSchema,
});
export type EntityPage = z.output<typeof entityPageSchema>;
