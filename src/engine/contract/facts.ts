/** Wire schemas of facts: assert, retract, query, list and vocabulary. */
import { z } from 'zod';
import {
  consequencesTimeoutSchema,
  defaulted,
  generationSchema,
  completenessFields,
  hintsSchema,
  instantSchema,
  limitSchema,
  maxTime,
  namedSchema,
  offsetSchema,
  oneScopeChoice,
  optional,
  queryFlag,
  queryInteger,
  scopeFields,
  scopeNameSchema,
  scopeParameters,
  timeSchema,
} from './fields.ts';
import { declarationFields } from './declarations.ts';
import { argumentSort, type FactSort, factSortKeys, sortedPosition } from './fact-order.ts';
import { constantProblem, isBuiltinName, maxArguments, predicateProblem } from './language.ts';
import { constantsSchema, predicateSchema, termsSchema } from './language-schemas.ts';
import { parseTime } from './time-text.ts';
import { takingNegated } from './same-said.ts';
import { areTerms, isBoolean, isWhole, plainInput } from './plain-input.ts';
import { knowledgeGenerationField, momentFields, momentParameters } from './moments.ts';

/** Maximum size of `metadata`: UTF-8 bytes of its JSON. */
export const maxMetadataBytes = 64 * 1024;
export const maxFactsPerRequest = 100_000;

const utf8 = new TextEncoder();

type Json = z.output<ReturnType<typeof z.json>>;

/**
 * Checks metadata in one pass that stops at the size limit. The value comes from parsed JSON; a schema for every nested
 * value would block the thread.
 */
export const metadataSchema = z.preprocess(
  (value: Record<string, Json>, context): Record<string, Json> => {
    const problem = metadataProblem(value);
    if (problem === null) return value;
    context.addIssue({ code: 'custom', message: problem, input: value });
    return z.NEVER;
  },
  z.record(
    z.string(),
    z.custom<Json>(() => true),
  ),
);

export type Metadata = z.output<typeof metadataSchema>;

/** Why the value, which comes from parsed JSON, cannot be metadata; null: it can. */
export function metadataProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'metadata is a JSON object';
  const waiting: unknown[] = [value];
  for (let bytes = 0; waiting.length > 0; ) {
    const part = waiting.pop();
    bytes += typeof part === 'string' ? part.length + 2 : 1;
    if (typeof part === 'object' && part !== null) {
      // Each member takes at least one byte, and each name three more.
      const parts: unknown[] = Array.isArray(part) ? part : Object.values(part);
      bytes += 1;
      if (bytes + waiting.length + parts.length > maxMetadataBytes) return tooLong;
      for (const each of parts) waiting.push(each);
    } else if (!isJsonScalar(part)) return 'metadata is a JSON object';
    if (bytes + waiting.length > maxMetadataBytes) return tooLong;
  }
  return utf8.encode(JSON.stringify(value)).length <= maxMetadataBytes ? null : tooLong;
}

const tooLong = 'metadata is at most 64 KiB of JSON';

function isJsonScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

const factFields = {
  predicate: predicateSchema,
  args: constantsSchema,
  truthVal: defaulted(z.boolean(), true).describe('false: explicitly false'),
  ...scopeFields,
  ttl: optional(z.int().min(1).max(maxTime)).describe('Milliseconds from now until the fact expires'),
  validFrom: optional(instantSchema('always')).describe(
    'Epoch ms, ISO 8601 text, or "always"; absent: unchanged',
  ),
  validUntil: optional(instantSchema('never')).describe(
    'Epoch ms, ISO 8601 text, or "never"; absent: unchanged',
  ),
  metadata: optional(metadataSchema).describe('A JSON object of up to 64 KiB; absent: unchanged'),
};

export const factSchema = takingNegated(z.strictObject(factFields).superRefine(oneScopeChoice));
/** The fields of /tell. */
export const factInputFields = {
  ...factFields,
  ifGeneration: optional(generationSchema).describe('Refuse if the fact has changed since this generation'),
};
export const factInputSchema = takingNegated(z.strictObject(factInputFields).superRefine(oneScopeChoice));

/** A fact as a client sends it, with defaults filled in. `null` times and metadata: not given. */
export type FactInput = z.output<typeof factSchema>;

export const factsInputSchema = z.preprocess(
  (value) => (Array.isArray(value) ? { facts: value } : value),
  z.strictObject({
    facts: z
      .array(factSchema)
      .min(1, 'give 1 to 100,000 facts')
      .max(maxFactsPerRequest, 'give 1 to 100,000 facts'),
  }),
);

/** The fast path of `factInputSchema`: the same output for a fact that `plainFact` accepts, null for all others. */
export function plainFactInput(value: unknown): z.output<typeof factInputSchema> | null {
  const fact = plainFact(value);
  return fact === null ? null : Object.assign(fact, { ifGeneration: null });
}

const plainFields = new Set([
  'predicate',
  'args',
  'truthVal',
  'scope',
  'ttl',
  'validFrom',
  'validUntil',
  'metadata',
]);

/**
 * The fast path of `factSchema` for the common fact: predicate, string arguments, truth value, scope, validity and
 * metadata. Returns null for any other or invalid value, which the schema then judges. Values are not copied.
 */
export function plainFact(value: unknown): FactInput | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const field in value) if (!plainFields.has(field)) return null;
  const { predicate, args, truthVal = true, scope = null } = value as Readonly<Record<string, unknown>>;
  const { ttl = null, validFrom, validUntil, metadata = null } = value as Readonly<Record<string, unknown>>;
  if (typeof predicate !== 'string' || !Array.isArray(args) || typeof truthVal !== 'boolean') return null;
  if (args.length > maxArguments || !isPlainPredicate(predicate)) return null;
  if (scope !== null && (typeof scope !== 'string' || !isPlainScope(scope))) return null;
  for (let at = 0; at < args.length; at++) {
    const text: unknown = args[at];
    if (typeof text !== 'string' || text.startsWith('?') || constantProblem(text) !== null) return null;
  }
  if (ttl !== null && (!Number.isSafeInteger(ttl) || (ttl as number) < 1 || (ttl as number) > maxTime))
    return null;
  const [from, until] = [plainInstant(validFrom, 'always'), plainInstant(validUntil, 'never')];
  if (from === undefined || until === undefined) return null;
  if (metadata !== null && metadataProblem(metadata) !== null) return null;
  // A literal: a spread of defaults takes as long as all of the above.
  return {
    predicate,
    args: args as string[],
    truthVal,
    scope,
    unscoped: false,
    ttl: ttl as number | null,
    validFrom: from,
    validUntil: until,
    metadata: metadata as Metadata | null,
  };
}

/** The output of `instantSchema` for a value that it accepts, null if none is given; undefined for all others. */
export function plainInstant<Word extends string>(
  value: unknown,
  open: Word,
): number | Word | null | undefined {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && Math.abs(value) <= maxTime ? value : undefined;
  if (typeof value !== 'string') return undefined;
  return value === open ? open : (parseTime(value) ?? undefined);
}

/** The last valid names: consecutive facts mostly share predicate and scope. */
let knownPredicate: string | null = null;
let knownScope: string | null = null;

/** True for a valid predicate that is not a built-in. Remembers the last valid one. */
export function isPlainPredicate(name: unknown): boolean {
  if (typeof name !== 'string') return false;
  if (name === knownPredicate) return true;
  if (isBuiltinName(name) || predicateProblem(name) !== null) return false;
  knownPredicate = name;
  return true;
}

/** True for a valid scope name. Remembers the last valid one. */
export function isPlainScope(name: unknown): boolean {
  if (typeof name !== 'string') return false;
  if (name === knownScope) return true;
  if (!scopeNameSchema.safeParse(name).success) return false;
  knownScope = name;
  return true;
}

/** The list in `factsInputSchema`. */
export const factsList = {
  field: 'facts',
  element: factSchema,
  quick: plainFact,
  max: maxFactsPerRequest,
};

const supersededSchema = z.object({
  id: z.string(),
  atom: z.string(),
  validUntil: timeSchema.nullable().describe('Its validity ends here, where the new fact begins'),
  retracted: z.literal(true).optional().describe('It began with the new fact'),
});
export type Superseded = z.output<typeof supersededSchema>;

export const supersededFields = {
  superseded: z
    .array(supersededSchema)
    .optional()
    .describe('Facts that a declared key ended, at most 100; absent: none'),
  supersededCount: z.int().optional().describe('How many there are, if more than are listed'),
};

export const factOutcomeSchema = z.object({
  status: z.enum(['asserted', 'updated', 'unchanged']),
  atom: z.string(),
  id: z.string(),
  ...supersededFields,
  generation: generationSchema,
  hints: hintsSchema,
});
export type FactOutcome = z.output<typeof factOutcomeSchema>;

export const factsOutcomeSchema = z.object({
  status: z.literal('asserted'),
  asserted: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  ...supersededFields,
  generation: generationSchema,
  hints: hintsSchema,
});
export type FactsOutcome = z.output<typeof factsOutcomeSchema>;

const retractFields = {
  predicate: predicateSchema,
  ...scopeFields,
  truthVal: optional(z.boolean()).describe('Absent: both truth values'),
  dryRun: defaulted(z.boolean(), false).describe('Preview: report the outcome, change nothing'),
  dependents: optional(z.enum(['known', 'all'])).describe(
    'all: derive every conclusion that goes too, the default with dryRun; known: only those derived before',
  ),
  ifGeneration: optional(generationSchema).describe(
    'Refuse if a matching fact has changed since this generation',
  ),
  timeoutMs: consequencesTimeoutSchema.describe('Time for finding dependents'),
};

export const retractInputSchema = takingNegated(
  z.strictObject({ ...retractFields, args: constantsSchema }).superRefine(oneScopeChoice),
);
/** The fields of /retract/pattern. */
export const retractPatternFields = { ...retractFields, args: termsSchema };
export const retractPatternInputSchema = takingNegated(
  z.strictObject(retractPatternFields).superRefine(oneScopeChoice),
);
export type RetractInput = z.output<typeof retractPatternInputSchema>;

const retractOutcome = {
  status: z.enum(['retracted', 'absent']),
  retracted: z.int(),
  dependents: z.array(z.string()).describe('Conclusions that are no longer true, the first 100'),
  dependentsCount: z.int(),
  dependentsComplete: z.boolean().describe('false: not every affected conclusion could be determined'),
  ...completenessFields,
  generation: generationSchema,
  dryRun: z.literal(true).optional(),
  hints: hintsSchema,
};
export const retractPatternOutcomeSchema = z.object(retractOutcome);
export const retractOutcomeSchema = z.object({ ...retractOutcome, atom: z.string() });
export type RetractPatternOutcome = z.output<typeof retractPatternOutcomeSchema>;
export type RetractOutcome = z.output<typeof retractOutcomeSchema>;

export const queryInputSchema = takingNegated(
  z
    .strictObject({
      predicate: predicateSchema,
      args: termsSchema,
      ...scopeFields,
      ...momentFields,
      truthVal: optional(z.boolean()).describe('Absent: both truth values'),
      limit: limitSchema,
      offset: offsetSchema,
    })
    .superRefine(oneScopeChoice),
);
export type QueryInput = z.output<typeof queryInputSchema>;

/** The fast path of `queryInputSchema` for a usual query; null for all others. */
export const plainQuery = plainInput(
  queryInputSchema,
  { predicate: 'p', args: [] },
  {
    predicate: isPlainPredicate,
    args: areTerms,
    scope: isPlainScope,
    truthVal: isBoolean,
    limit: isWhole(1, 100_000),
    offset: isWhole(0, Number.MAX_SAFE_INTEGER),
  },
);

export const queryResultSchema = z.array(
  z.object({
    predicate: z.string(),
    args: z.array(z.string()),
    named: namedSchema.optional(),
    truthVal: z.boolean(),
  }),
);
export type QueryResult = z.output<typeof queryResultSchema>;

export const storedFactSchema = z.object({
  id: z.string().nullable(),
  predicate: z.string(),
  args: z.array(z.string()),
  named: namedSchema.optional(),
  truthVal: z.boolean(),
  scope: z.string().nullable(),
  validFrom: timeSchema.nullable(),
  validUntil: timeSchema.nullable(),
  metadata: z.record(z.string(), z.json()),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  importId: z.string().nullable(),
  salience: z.number().min(0).max(1),
  derived: z.boolean(),
  provenance: z.object({ rule: z.string(), premises: z.array(z.string()) }).nullable(),
});
export type StoredFact = z.output<typeof storedFactSchema>;

const factSortSchema = z.union([z.enum(factSortKeys), z.string().regex(argumentSort)], {
  error: `a listing is sorted by ${factSortKeys.join(', ')} or argN, where N is the position of an argument, 0 to 63`,
});

/** The query string of GET /facts. */
export const listFactsQuerySchema = takingNegated(
  z
    .strictObject({
      predicate: optional(predicateSchema),
      ...scopeParameters,
      ...momentParameters,
      q: optional(z.string()).describe('Part of the rendered atom, case-insensitive'),
      truthVal: optional(queryFlag),
      derived: defaulted(queryFlag, false).describe('true: also list derivable conclusions of predicate'),
      sort: defaulted(
        factSortSchema.transform((sort) => sort as FactSort),
        'predicate',
      ).describe(
        'argN: by the argument at position N, from 0; numbers first, in numeric order, then text by code ' +
          'point, then facts without such an argument. It needs predicate. scope: facts without a scope come ' +
          'last; truthVal: false first; derived: stored facts first',
      ),
      order: defaulted(z.enum(['asc', 'desc']), 'asc'),
      limit: defaulted(queryInteger(1, 1000), 100),
      cursor: optional(z.string()).describe('nextCursor of the previous page of the same query'),
      offset: optional(queryInteger(0, 999_999_999_999_999)).describe(
        'Number of entries to skip from the start. With a cursor it applies to the list of the page that gave ' +
          'the cursor, with the saliences of that time',
      ),
    })
    .superRefine(oneScopeChoice)
    .superRefine((query, context) => {
      if (query.derived && query.predicate === null)
        context.addIssue({ code: 'custom', path: ['predicate'], message: 'derived=true needs predicate' });
      if (sortedPosition(query.sort) !== null && query.predicate === null)
        context.addIssue({
          code: 'custom',
          path: ['predicate'],
          message: `sort=${query.sort} needs predicate`,
        });
    }),
);
export type ListFactsQuery = z.output<typeof listFactsQuerySchema>;

export const factListSchema = z.object({
  ...knowledgeGenerationField,
  facts: z.array(storedFactSchema),
  total: z.int(),
  nextCursor: z.string().nullable(),
  hints: hintsSchema,
});
export type FactList = z.output<typeof factListSchema>;

export const factDetailSchema = storedFactSchema.extend({
  dependents: z.array(z.string()),
  salienceBreakdown: z.object({
    uses: z.int(),
    lastUsedAt: timeSchema.nullable(),
    activation: z.number(),
    importance: z.number(),
    confidence: z.number(),
    salience: z.number(),
  }),
  history: z.array(
    z.object({
      time: timeSchema,
      generation: generationSchema,
      requestId: z.string(),
      change: z.enum(['asserted', 'updated', 'retracted']),
    }),
  ),
});
export type FactDetail = z.output<typeof factDetailSchema>;

export const predicateListSchema = z.object({
  ...knowledgeGenerationField,
  predicates: z.array(
    z.object({
      name: z.string(),
      arity: z.int(),
      facts: z.int().describe('Stored visible facts, of both truth values'),
      derived: z
        .int()
        .describe('Conclusions known in the view of all scopes; a lower bound unless derivedComplete'),
      derivedComplete: z.boolean().describe('true: the count is exact'),
      rules: z.int().describe('Rules that conclude it'),
      scopes: z.array(z.string().nullable()),
      example: z.string().nullable(),
      declaration: z
        .object(declarationFields)
        .optional()
        .describe('What PUT /predicates declared; absent: nothing'),
    }),
  ),
  constraints: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        constraint: z.string(),
        mode: z.enum(['warn', 'reject']),
        scope: z.string().nullable(),
      }),
    )
    .optional()
    .describe('What must not be true, oldest first; absent: there are none'),
});
export type PredicateList = z.output<typeof predicateListSchema>;
