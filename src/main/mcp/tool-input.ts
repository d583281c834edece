/**
 * Arguments that tools take beyond the body of their operation: text in place of fields, lists, and fillers for absent
 * values.
 *
 * Clients with strict schemas fill in every field of a form. So in an optional field `null`, a blank text, an empty
 * list and a meaningless zero count as absent.
 */
import { factsInputSchema } from '../../engine/contract/facts.ts';
import { operations, type ToolOperation } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { validate } from '../../engine/contract/validation.ts';

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The schema that validates a call of the tool; undefined: it takes no arguments. */
export function toolBodyOf(operation: ToolOperation): OperationSpec['body'] {
  const { body, tool }: OperationSpec = operations[operation];
  return tool?.input ?? body;
}

/** Whether the tool takes the arguments; of a text it checks only the type. */
export function takesArguments(operation: ToolOperation, given: ToolArguments): boolean {
  const body = toolBodyOf(operation);
  if (body === undefined) return Object.keys(given).length === 0;
  if (!validate(body, given).ok) return false;
  return given['facts'] === undefined || validate(factsInputSchema, { facts: given['facts'] }).ok;
}

/** Fields in which zero is meaningful. */
const canBeZero: ReadonlySet<string> = new Set(['offset', 'threshold', 'minSalience', 'ifGeneration']);

/** The arguments without fillers in optional fields. */
export function withoutFillers(optionalFields: ReadonlySet<string>, given: ToolArguments): ToolArguments {
  const isNamed = typeof given['predicate'] === 'string' && given['predicate'].trim() !== '';
  const saysNothing = (field: string, value: unknown): boolean => {
    if (value === null) return true;
    if (typeof value === 'string') return value.trim() === '';
    if (value === 0) return !canBeZero.has(field);
    // A predicate may have no arguments; without a predicate an empty list is a filler.
    return Array.isArray(value) && value.length === 0 && (field !== 'args' || !isNamed);
  };
  return Object.fromEntries(
    Object.entries(given).filter(
      ([field, value]) => !(optionalFields.has(field) && saysNothing(field, value)),
    ),
  );
}
