/** Wire schemas of the search: from a text to facts, conclusions, rules, entities and predicates. */
import { z } from 'zod';
import { defaulted, oneScopeChoice, optional, scopeFields } from './fields.ts';
import { predicatesSchema } from './memory.ts';
import { mentionSchema } from './mention.ts';
import { asOfField, knowledgeGenerationField } from './moments.ts';

/** Kinds of hits, in the order in which ties are listed. */
export const hitKinds = ['fact', 'conclusion', 'rule', 'entity', 'predicate'] as const;
export type HitKind = (typeof hitKinds)[number];

const signals = ['mention', 'words', 'meaning', 'graph', 'salience'] as const;
export type Signal = (typeof signals)[number];

export const maxSearchedText = 65_536;

export const searchInputSchema = z
  .strictObject({
    text: z.string().min(1).max(maxSearchedText).describe('Words, a question or a name, in any language'),
    limit: defaulted(z.int().min(1).max(100_000), 20).describe('Maximum number of hits'),
    ...scopeFields,
    ...asOfField,
    predicates: predicatesSchema,
    kinds: optional(z.array(z.enum(hitKinds)).min(1).max(hitKinds.length)).describe(
      'Only hits of these kinds; absent: all',
    ),
    prefix: defaulted(z.boolean(), false).describe(
      'The last word is still being typed: words that begin with it count too, unless white space follows',
    ),
  })
  .superRefine(oneScopeChoice);
export type SearchInput = z.output<typeof searchInputSchema>;

const hitSchema = z.object({
  kind: z.enum(hitKinds),
  atom: z.string().optional(),
  rule: z.string().optional(),
  entity: z.string().optional(),
  predicate: z.string().optional(),
  id: z.string().nullable().describe('Of the fact or the rule; null: it has none'),
  score: z.number().describe('The sum of 1 / (60 + rank) over the signals'),
  why: z.array(z.object({ signal: z.enum(signals), rank: z.int(), detail: z.string() })),
  scope: z.string().nullable(),
  salience: z.number().nullable().describe('null: neither a fact nor a conclusion'),
});
export type SearchHit = z.output<typeof hitSchema>;

export const searchedSchema = z.object({
  ...knowledgeGenerationField,
  hits: z.array(hitSchema).describe('Highest score first'),
  mentions: z.array(mentionSchema).describe('What the text names, in order'),
  matched: z.boolean().describe('false: nothing has these words'),
  goalsLeftOut: z
    .int()
    .optional()
    .describe('Goals of the mentions that were not worked out: conclusions may be missing'),
  elapsedMs: z.number(),
});
export type Searched = z.output<typeof searchedSchema>;
