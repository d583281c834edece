/**
 * A call of `ask` as a question that the Ask view takes: the same question in the grammar, in the place and scope where it
 * was asked. What cannot be written so (arguments that were cut, or that the service refused) has a reason instead.
 */
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { type AskInput, askInputSchema } from '../../../engine/contract/inference.ts';
import { readAs } from '../../../engine/contract/validation.ts';
import { renderAtom, renderBody } from '../../../engine/language/print.ts';
import { type SpaceSearch, searchOf } from '../../api/space.ts';

export type Replay =
  | { readonly kind: 'question'; readonly question: string; readonly space: SpaceSearch }
  | { readonly kind: 'none'; readonly reason: string };

function questionOf({ predicate, args, negated, body, text }: AskInput): string {
  if (predicate !== null) return renderAtom({ predicate, args: args ?? [], negated });
  return body === null ? (text ?? '') : renderBody(body);
}

/** Blank texts count as absent, as they do for the tool. */
function withoutBlanks(given: ToolCallRecord['arguments']): Record<string, unknown> {
  const isBlank = (value: unknown) => value === null || (typeof value === 'string' && value.trim() === '');
  return Object.fromEntries(Object.entries(given).filter(([, value]) => !isBlank(value)));
}

/** What of a call says what it asked. */
export type AskedCall = Pick<ToolCallRecord, 'tool' | 'arguments' | 'argumentsCut' | 'database' | 'tenant'>;

/** The question of a call of `ask`; null for any other tool. */
export function replayOf(call: AskedCall): Replay | null {
  if (call.tool !== 'ask') return null;
  if (call.argumentsCut)
    return { kind: 'none', reason: 'Its arguments were too long to be kept whole in the log.' };
  const asked = readAs(askInputSchema, withoutBlanks(call.arguments));
  if (!asked.success) return { kind: 'none', reason: 'Its arguments are no question that can be asked.' };
  const { scope, unscoped } = asked.data;
  const space = searchOf({
    database: call.database,
    tenant: call.tenant,
    scope:
      scope === null ? (unscoped ? { kind: 'unscoped' } : { kind: 'all' }) : { kind: 'named', name: scope },
  });
  return { kind: 'question', question: questionOf(asked.data), space: { ...nowhere, ...space } };
}

/** Takes the place of what the address keeps from view to view. */
const nowhere = { database: undefined, tenant: undefined, scope: undefined, unscoped: undefined } as const;

/** The place of a call, in place of where the workbench is. */
export function placeOf({ database, tenant }: Pick<ToolCallRecord, 'database' | 'tenant'>): SpaceSearch {
  return { ...nowhere, ...searchOf({ database, tenant, scope: { kind: 'all' } }) };
}
