/**
 * A call of `ask` as a question for the Ask view: the same question in the grammar, in the space and scope of the call; and a
 * call with plain words (`search`, or `recall` and `context` with `query`) as these words. A call that cannot be written so (its arguments were cut, or the service refused them) has a
 * reason instead.
 */
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { type AskInput, askInputSchema } from '../../../engine/contract/inference.ts';
import { searchInputSchema } from '../../../engine/contract/search.ts';
import { readAs } from '../../../engine/contract/validation.ts';
import { renderAtom, renderBody } from '../../../engine/language/print.ts';
import { type MomentSearch, presentSearch } from '../../api/moment.ts';
import { type SpaceSearch, searchOf } from '../../api/space.ts';

/** The question of a call, or its plain words, or why it has none. */
export type Replay =
  | { readonly kind: 'question' | 'words'; readonly question: string; readonly space: SpaceSearch }
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

/** The argument with the words of a tool that takes any. */
const wordsOf: Readonly<Record<string, string>> = { search: 'text', recall: 'query', context: 'query' };

/** The words of a call and where they are looked for; null: it has none. */
function wordsIn({ tool, arguments: given }: AskedCall) {
  const { [wordsOf[tool] ?? '']: text, scope, unscoped } = withoutBlanks(given);
  return text === undefined ? null : readAs(searchInputSchema, { text, scope, unscoped });
}

const cut = { kind: 'none', reason: 'Its arguments were too long for the log, which cut them.' } as const;

/** The question of an `ask` call, or the words of one that has some; null for any other call. */
export function replayOf(call: AskedCall): Replay | null {
  if (call.tool !== 'ask') {
    const words = wordsIn(call);
    if (words === null) return null;
    if (call.argumentsCut) return cut;
    if (!words.success) return { kind: 'none', reason: 'Its arguments are not valid words.' };
    return { kind: 'words', question: words.data.text, space: spaceWith(call, words.data) };
  }
  if (call.argumentsCut) return cut;
  const asked = readAs(askInputSchema, withoutBlanks(call.arguments));
  if (!asked.success) return { kind: 'none', reason: 'Its arguments are not a valid question.' };
  return { kind: 'question', question: questionOf(asked.data), space: spaceWith(call, asked.data) };
}

function spaceWith(
  { database, tenant }: AskedCall,
  { scope, unscoped }: Pick<AskInput, 'scope' | 'unscoped'>,
): SpaceSearch {
  const chosen =
    scope === null
      ? ({ kind: unscoped ? 'unscoped' : 'all' } as const)
      : ({ kind: 'named', name: scope } as const);
  return { ...nowhere, ...searchOf({ database, tenant, scope: chosen }) };
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
