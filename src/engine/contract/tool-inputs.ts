/** What MCP tools accept beyond the body of their operation: text instead of fields, and lists. */
import { z } from 'zod';
import { factInputFields, maxFactsPerRequest, retractPatternFields } from './facts.ts';
import { defaulted, oneScopeChoice, optional } from './fields.ts';
import { askFields, oneForm as oneQuestion } from './inference.ts';
import { predicateSchema, termsSchema } from './language-schemas.ts';
import { recallFields } from './memory.ts';
import { asOfSchema, knownWithoutQuery } from './moments.ts';
import { maxRuleTextCharacters } from './rules.ts';
import { takingNegated, takingTruthVal } from './same-said.ts';

const textSchema = optional(z.string().min(1).max(maxRuleTextCharacters));

/** Exactly one of the forms, each named by its first field. */
function oneOf(...forms: readonly string[]) {
  return (value: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void => {
    const given = forms.filter((form) => value[form] !== null);
    const refuse = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    const all = forms.map((form) => (form === 'predicate' ? 'predicate and args' : form)).join(', or ');
    if (given.length === 0) refuse('predicate', `is required: give ${all}`);
    else if (given.length > 1) refuse(given[1] ?? '', `give only one of ${all}`);
    else if (given[0] === 'predicate' && value['args'] === null)
      refuse('args', 'is required beside predicate');
    else if (given[0] !== 'predicate' && value['args'] !== null)
      refuse('args', 'give args only with predicate');
  };
}

const { predicate, args, ...factOptions } = factInputFields;

export const tellInputSchema = takingNegated(
  z
    .strictObject({
      text: textSchema.describe('Statements: facts, and rules in the syntax of teach'),
      predicate: optional(predicate),
      args: optional(args),
      facts: optional(
        z
          .array(z.record(z.string(), z.unknown()))
          .max(maxFactsPerRequest, `give 1 to ${maxFactsPerRequest.toLocaleString('en')} facts in one call`),
      ).describe('Facts with predicate, args and the other fields; all or nothing'),
      ...factOptions,
    })
    .superRefine(oneOf('text', 'facts', 'predicate'))
    .superRefine(oneScopeChoice),
);

const { predicate: pattern, args: terms, ...retractOptions } = retractPatternFields;

export const forgetInputSchema = takingNegated(
  z
    .strictObject({
      text: textSchema.describe('Facts, patterns or rules, as text'),
      predicate: optional(pattern),
      args: optional(terms),
      ruleId: optional(z.string().min(1).max(256)).describe('Id of the rule'),
      ...retractOptions,
    })
    .superRefine(oneOf('text', 'ruleId', 'predicate'))
    .superRefine(oneScopeChoice),
);

export const askToolInputSchema = takingTruthVal(
  z
    .strictObject({
      ...askFields,
      whyNot: defaulted(z.boolean(), false).describe('If it does not follow: what is missing'),
    })
    .superRefine(oneScopeChoice)
    .superRefine(oneQuestion),
);

/** `recall` also takes a pattern, which is answered as of `timestamp`. */
export const recallToolInputSchema = takingTruthVal(
  z
    .strictObject({
      ...recallFields,
      predicate: optional(predicateSchema).describe('With args: what was true of them, instead of a query'),
      args: optional(termsSchema),
      negated: defaulted(z.boolean(), false).describe('With predicate: ask for explicit negation'),
      timestamp: optional(asOfSchema).describe('What was true at this instant, as far as it is known now'),
    })
    .superRefine(oneScopeChoice)
    .superRefine(knownWithoutQuery)
    .superRefine(({ predicate: name, args: terms, predicates, query, timestamp, asOf }, context) => {
      const refuse = (path: string, message: string): void =>
        context.addIssue({ code: 'custom', path: [path], message });
      if (name !== null && terms === null && predicates !== null)
        refuse('predicates', 'give either predicate or predicates');
      if (name === null && terms !== null) refuse('predicate', 'is required beside args');
      if (terms !== null && query !== null) refuse('query', 'give either query, or predicate and args');
      if (timestamp !== null && (asOf ?? null) !== null)
        refuse('asOf', 'says the same as timestamp: give only one of them');
    }),
);
