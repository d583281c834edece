/**
 * A call of `ask` as a question for the Ask view: the same question in the grammar, in the space and scope of the call. So is
 * a pattern of `recall`, and each goal of `context`; and a call with plain words (`search`, or `recall` and `context` with
 * `query`) as these words. A call that cannot be written so (its arguments were cut, or the service refused them) has a
 * reason instead.
 */
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { type AskInput, askInputSchema } from '../../../engine/contract/inference.ts';
import { searchInputSchema } from '../../../engine/contract/search.ts';
import { parseTime } from '../../../engine/contract/time-text.ts';
import { readAs } from '../../../engine/contract/validation.ts';
import { renderAtom, renderBody } from '../../../engine/language/print.ts';
import { type MomentSearch, presentSearch } from '../../api/moment.ts';
import { type SpaceSearch, searchOf } from '../../api/space.ts';

/** The first question of a call and all of them, or its plain words, or why it has none. */
export type Replay =
  | {
      readonly kind: 'question';
      readonly question: string;
      readonly questions: readonly string[];
      readonly space: SpaceSearch;
    }
  | { readonly kind: 'words'; readonly question: string; readonly space: SpaceSearch }
  | { readonly kind: 'none'; readonly reason: string };

function questionOf({ predicate, args, negated, body, text }: AskInput): string {
  if (predicate !== null) return renderAtom({ predicate, args: args ?? [], negated });
  // The tool takes a question mark after a question; the grammar does not.
  return body === null ? (text ?? '').trim().replace(/\?$/, '').trimEnd() : renderBody(body);
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

/** The patterns that a call of `recall` or `context` asks about; null: one of them is not valid. */
function patternsIn({ tool, arguments: given }: AskedCall): string[] | null {
  const { predicate, args, truthVal, negated, goals } = withoutBlanks(given);
  const asked = tool === 'context' ? goals : tool === 'recall' && predicate !== undefined ? [given] : [];
  if (!Array.isArray(asked)) return [];
  const patterns = tool === 'recall' && asked.length > 0 ? [{ predicate, args, truthVal, negated }] : asked;
  const read = patterns.map((pattern: unknown) => readAs(askInputSchema, pattern));
  return read.every((each) => each.success) ? [...new Set(read.map(({ data }) => questionOf(data)))] : null;
}

const cut = { kind: 'none', reason: 'Its arguments were too long for the log, which cut them.' } as const;
const invalid = { kind: 'none', reason: 'Its arguments are not a valid question.' } as const;

function spaceOf({ arguments: given }: AskedCall): Pick<AskInput, 'scope' | 'unscoped'> {
  const { scope, unscoped } = withoutBlanks(given);
  return { scope: typeof scope === 'string' ? scope : null, unscoped: unscoped === true };
}

/** The question of an `ask` call, or the words of one that has some; null for any other call. */
export function replayOf(call: AskedCall): Replay | null {
  if (call.tool !== 'ask') {
    const words = wordsIn(call);
    const patterns = words === null ? patternsIn(call) : [];
    if (words === null) {
      if (patterns === null) return call.argumentsCut ? cut : invalid;
      const [question] = patterns;
      if (question === undefined) return null;
      if (call.argumentsCut) return cut;
      return { kind: 'question', question, questions: patterns, space: spaceWith(call, spaceOf(call)) };
    }
    if (call.argumentsCut) return cut;
    if (!words.success) return { kind: 'none', reason: 'Its arguments are not valid words.' };
    return { kind: 'words', question: words.data.text, space: spaceWith(call, words.data) };
  }
  if (call.argumentsCut) return cut;
  const asked = readAs(askInputSchema, withoutBlanks(call.arguments));
  if (!asked.success) return invalid;
  const question = questionOf(asked.data);
  return { kind: 'question', question, questions: [question], space: spaceWith(call, asked.data) };
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
 * The moment of a call, as search parameters: what was known when it began, as far as its time says so, of the instant that
 * it asked about, if any. The time of the log is the end of the call, in whole milliseconds.
 */
export function momentOfCall({
  time,
  elapsedMs,
  arguments: given = {},
}: Pick<ToolCallRecord, 'time' | 'elapsedMs'> & Partial<Pick<ToolCallRecord, 'arguments'>>): MomentSearch {
  const asKnown = new Date(time - Math.floor(elapsedMs)).toISOString();
  return { asOf: instantOf(given['timestamp']), asKnown };
}

/** The `timestamp` of a call of `recall` as an instant; undefined: it has none. */
function instantOf(timestamp: unknown): string | undefined {
  const time = typeof timestamp === 'string' ? parseTime(timestamp) : timestamp;
  return typeof time === 'number' && Number.isFinite(new Date(time).getTime())
    ? new Date(time).toISOString()
    : undefined;
}

/** The space of a call, instead of the workbench's own. */
export function spaceOfCall({ database, tenant }: Pick<ToolCallRecord, 'database' | 'tenant'>): SpaceSearch {
  return { ...nowhere, ...searchOf({ database, tenant, scope: { kind: 'all' } }) };
}
