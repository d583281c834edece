/**
 * A call of `ask` as a question for the Ask view: the same question in the grammar, in the space and scope of
 * the call. A call that cannot be written so (its arguments were cut, or the service refused them) has a
 * reason instead.
 */
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { type AskInput, askInputSchema } from '../../../engine/contract/inference.ts';
import { readAs } from '../../../engine/contract/validation.ts';
import { renderAtom, renderBody } from '../../../engine/language/print.ts';
import { type MomentSearch, presentSearch } from '../../api/moment.ts';
import { type SpaceSearch, searchOf } from '../../api/space.ts';

/** The question of a call, or why it has none. */
export type Replay =
  | { readonly kind: 'question'; readonly question: string; readonly space: SpaceSearch }
  | { readonly kind: 'none'; readonly reason: string };

function questionOf({ predicate, args, negated, body, text }: AskInput): string {
  if (predicate !== null) return renderAtom({ predicate, args: args ?? [], negated });
  return body === null ? (text ?? '') : renderBody(body);
}

/** Blank texts count as absent, as in the tool itself. */
function withoutBlanks(given: ToolCallRecord['arguments']): Record<string, unknown> {
  const isBlank = (value: unknown) => value === null || (typeof value === 'string' && value.trim() === '');
  return Object.fromEntries(Object.entries(given).filter(([, value]) => !isBlank(value)));
}

/** The fields of a call that contain its question. */
export type AskedCall = Pick<ToolCallRecord, 'tool' | 'arguments' | 'argumentsCut' | 'database' | 'tenant'>;

/** The question of an `ask` call; null for any other tool. */
export function replayOf(call: AskedCall): Replay | null {
  if (call.tool !== 'ask') return null;
  if (call.argumentsCut)
    return { kind: 'none', reason: 'Its arguments were too long for the log, which cut them.' };
  const asked = readAs(askInputSchema, withoutBlanks(call.arguments));
  if (!asked.success) return { kind: 'none', reason: 'Its arguments are not a valid question.' };
  const { scope, unscoped } = asked.data;
  const space = searchOf({
    database: call.database,
    tenant: call.tenant,
    scope:
      scope === null ? (unscoped ? { kind: 'unscoped' } : { kind: 'all' }) : { kind: 'named', name: scope },
  });
  return { kind: 'question', question: questionOf(asked.data), space: { ...nowhere, ...space } };
}

/** Clears the space and the moment that the address carries from view to view. */
const nowhere = {
  database: undefined,
  tenant: undefined,
  scope: undefined,
  unscoped: undefined,
  ...presentSearch,
} as const;

/**
 * The moment of a call, as search parameters: what was known when it began, as far as its time says so. That of the log is
 * the end of the call, in whole milliseconds.
 */
export function momentOfCall({ time, elapsedMs }: Pick<ToolCallRecord, 'time' | 'elapsedMs'>): MomentSearch {
  return { asOf: undefined, asKnown: new Date(time - Math.floor(elapsedMs)).toISOString() };
}

/** The space of a call, instead of the workbench's own. */
export function spaceOfCall({ database, tenant }: Pick<ToolCallRecord, 'database' | 'tenant'>): SpaceSearch {
  return { ...nowhere, ...searchOf({ database, tenant, scope: { kind: 'all' } }) };
}
