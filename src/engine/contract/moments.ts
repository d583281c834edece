/** Fields that put a question into the past: valid time (`asOf`) and transaction time (`asKnown`). */
import { z } from 'zod';
import { parseTime } from './time-text.ts';

const maxTime = 8_640_000_000_000_000;
const maxCharacters = 64;
const text = z.string().max(maxCharacters);
const instantForm = 'an instant is epoch milliseconds or ISO 8601 text';
const momentForm = 'a moment of knowledge is a generation, or an instant as ISO 8601 text';

/** An instant in a body: epoch milliseconds, or ISO 8601 text. */
export const asOfSchema = z
  .union([z.int().min(-maxTime).max(maxTime), text], { error: instantForm })
  .transform((value, context): number => {
    const time = typeof value === 'number' ? value : parseTime(value);
    if (time !== null) return time;
    context.addIssue({ code: 'custom', message: instantForm });
    return z.NEVER;
  });

/** A moment of knowledge: a generation, or the last one stamped at or before an instant (epoch milliseconds). */
export type KnownAt =
  | { readonly kind: 'generation'; readonly generation: number }
  | { readonly kind: 'instant'; readonly time: number };

/** A moment of knowledge in a body: an integer is a generation, ISO 8601 text an instant. */
export const momentSchema = z
  .union([z.int(), text], { error: momentForm })
  .transform((value, context): KnownAt => {
    const time = typeof value === 'string' ? parseTime(value) : null;
    if (typeof value === 'number' && value >= 0) return { kind: 'generation', generation: value };
    if (time !== null) return { kind: 'instant', time };
    context.addIssue({ code: 'custom', message: momentForm });
    return z.NEVER;
  });

const asOfText =
  'Valid time: what was true at this instant (epoch milliseconds or ISO 8601), as far as it is known';
const asKnownText =
  'What was known then: a generation (integer), or an instant (ISO 8601 text); absent: what is known now';

/** `asOf` in a body; absent or null: now, or the instant of `asKnown`. */
export const asOfField = { asOf: asOfSchema.nullish().describe(asOfText) };

/** `asOf` and `asKnown` in a body. */
export const momentFields = { ...asOfField, asKnown: momentSchema.nullish().describe(asKnownText) };

const wholeNumber = /^-?\d{1,16}$/;

/** A moment of knowledge in a query string: a whole number is a generation. */
export const momentTextSchema = text
  .transform((given) => (wholeNumber.test(given) ? Number(given) : given))
  .pipe(momentSchema);

/** `asOf` and `asKnown` in a query string: a whole number is epoch milliseconds, and a generation. */
export const momentParameters = {
  asOf: text
    .transform((given) => (wholeNumber.test(given) ? Number(given) : given))
    .pipe(asOfSchema)
    .optional()
    .describe(asOfText),
  asKnown: momentTextSchema.optional().describe(asKnownText),
};

/** The query string of an operation that has no other parameters. */
export const momentQuerySchema = z.strictObject(momentParameters);

/** Refuses `asKnown` beside `query`: words are found in what is known now. Use with `.superRefine`. */
export function knownWithoutQuery(
  value: { query: string | null; asKnown?: KnownAt | null | undefined },
  context: z.RefinementCtx,
): void {
  if (value.query === null || (value.asKnown ?? null) === null) return;
  context.addIssue({
    code: 'custom',
    path: ['asKnown'],
    message: 'words are found only in what is known now: leave out query, or use asOf',
  });
}

/** The generation whose knowledge an answer about the past is from. */
export const knowledgeGenerationField = {
  knowledgeGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('With asOf or asKnown: the generation whose knowledge was used'),
};
