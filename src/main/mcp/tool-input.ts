/**
 * What tools take that is not the body of their operation alone: text in place of fields, lists, and what clients send
 * in the place of nothing.
 *
 * Clients with strict schemas fill in every field of a form. So in an optional field `null`, a blank text, an empty list
 * and a zero that no one can mean count as absent.
 */
import { z } from 'zod';
import { factInputSchema, factsInputSchema, maxFactsPerRequest } from '../../engine/contract/facts.ts';
import { oneScopeChoice, optional, defaulted } from '../../engine/contract/fields.ts';
import { retractPatternInputSchema } from '../../engine/contract/facts.ts';
import { askInputSchema, oneForm as oneQuestion } from '../../engine/contract/inference.ts';
import { maxRuleTextCharacters } from '../../engine/contract/rules.ts';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { validate } from '../../engine/contract/validation.ts';
import type { ToolOperation } from './tools.ts';

export type ToolArguments = Readonly<Record<string, unknown>>;

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
      refuse('args', 'stands beside predicate only');
  };
}

const { predicate, args, ...factOptions } = factInputSchema.shape;

export const tellInputSchema = z
  .strictObject({
    text: textSchema.describe('Statements: facts, and rules as teach takes them'),
    predicate: optional(predicate),
    args: optional(args),
    facts: optional(
      z
        .array(z.record(z.string(), z.unknown()))
        .max(maxFactsPerRequest, `give 1 to ${maxFactsPerRequest.toLocaleString('en')} facts in one call`),
    ).describe('Facts of predicate, args and the other fields, stored all or none'),
    ...factOptions,
  })
  .superRefine(oneOf('text', 'facts', 'predicate'))
  .superRefine(oneScopeChoice);
export type TellInput = z.output<typeof tellInputSchema>;

const { predicate: pattern, args: terms, ...retractOptions } = retractPatternInputSchema.shape;

export const forgetInputSchema = z
  .strictObject({
    text: textSchema.describe('Facts, patterns or rules, as they are written'),
    predicate: optional(pattern),
    args: optional(terms),
    ruleId: optional(z.string().min(1).max(256)).describe('The rule of this id'),
    ...retractOptions,
  })
  .superRefine(oneOf('text', 'ruleId', 'predicate'))
  .superRefine(oneScopeChoice);
export type ForgetInput = z.output<typeof forgetInputSchema>;

export const askToolInputSchema = z
  .strictObject({
    ...askInputSchema.shape,
    whyNot: defaulted(z.boolean(), false).describe('Where it does not follow: what is missing'),
  })
  .superRefine(oneScopeChoice)
  .superRefine(oneQuestion);
export type AskToolInput = z.output<typeof askToolInputSchema>;

const ownBodies: Partial<Record<ToolOperation, z.ZodType>> = {
  assertFact: tellInputSchema,
  retractPattern: forgetInputSchema,
  ask: askToolInputSchema,
};

/** What a call of the tool is checked against; undefined: it takes no arguments. */
export function bodyOf(operation: ToolOperation): z.ZodType | undefined {
  const { body }: OperationSpec = operations[operation];
  return ownBodies[operation] ?? body;
}

/** Whether the tool takes the arguments; of a text only that it is one. */
export function takes(operation: ToolOperation, given: ToolArguments): boolean {
  const body = bodyOf(operation);
  if (body === undefined) return Object.keys(given).length === 0;
  if (!validate(body, given).ok) return false;
  return given['facts'] === undefined || validate(factsInputSchema, { facts: given['facts'] }).ok;
}

/** Fields in which a zero is a number that one can mean. */
const canBeZero: ReadonlySet<string> = new Set(['offset', 'threshold', 'minSalience', 'ifGeneration']);

/** The arguments without optional ones that say nothing. */
export function withoutFillers(optionalFields: ReadonlySet<string>, given: ToolArguments): ToolArguments {
  const isNamed = typeof given['predicate'] === 'string' && given['predicate'].trim() !== '';
  const saysNothing = (field: string, value: unknown): boolean => {
    if (value === null) return true;
    if (typeof value === 'string') return value.trim() === '';
    if (value === 0) return !canBeZero.has(field);
    // A predicate may have no arguments; without a predicate an empty list is none.
    return Array.isArray(value) && value.length === 0 && (field !== 'args' || !isNamed);
  };
  return Object.fromEntries(
    Object.entries(given).filter(
      ([field, value]) => !(optionalFields.has(field) && saysNothing(field, value)),
    ),
  );
}
