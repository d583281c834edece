/**
 * One tool call: takes arguments and returns a result for the agent.
 *
 * Every failure becomes a tool error, so that the agent can correct its call: never a protocol error, and never a
 * detail of the internals. The host runs the operation itself (role, validation, handler).
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { operations, type ToolOperation } from '../../engine/contract/operations.ts';
import type {
  Answered,
  Forgotten,
  SlimConsolidated,
  SlimEntry,
  SlimRecalled,
  SlimWhyNot,
  SlimWindow,
} from '../../engine/contract/tool-contents.ts';
import { validate } from '../../engine/contract/validation.ts';
import { type Caller, EngineError, parseBody, renderAtom } from '../../engine/index.ts';
import type { McpHost } from '../base/agent-host.ts';
import { fitAnswer, pauseIfLong, projections, requireFits, slimWhyNot } from './tool-content.ts';
import { oneLine } from './client.ts';
import { forgetTool } from './forget-tool.ts';
import { proofAppResult } from './proof-app.ts';
import { refusalText } from './refusal-text.ts';
import { tellTool } from './tell-tool.ts';
import { type Tool, type ToolArguments, tools, withoutFillers } from './tools.ts';
import { inOrder, invalidCall, perform, type ToolContext } from './tool-run.ts';
import { toolTexts } from './tool-text.ts';
import { unknownToolText } from './call-advice.ts';
import { type Atom, isBuiltinName, type Literal } from '../../engine/contract/language.ts';

/** Runs the tool `name`. Always resolves: a refusal is a result with `isError`. */
export async function runToolCall(
  host: McpHost,
  caller: Caller,
  name: string,
  given: ToolArguments,
): Promise<CallToolResult> {
  const started = performance.now();
  const tool = tools.get(name);
  const { text, content, contentChars } =
    tool === undefined
      ? errorOutcome(await unknownToolText({ host, caller }, name.slice(0, maxToolName), given))
      : await attempt(host, caller, tool, given);
  host.onToolCall({
    caller,
    tool: oneLine(name, maxToolName) ?? '',
    isKnown: tool !== undefined,
    arguments: given,
    outcome: content === null ? 'error' : 'ok',
    elapsedMs: performance.now() - started,
    text,
    resultChars: text.length + contentChars,
  });
  const said = [{ type: 'text' as const, text }];
  if (content === null) return { content: said, isError: true };
  return {
    content: said,
    structuredContent: content as Record<string, unknown>,
    ...(tool?.operation === 'ask' ? proofAppResult(host, caller) : {}),
  };
}

/** Maximum length of a tool name that is repeated. */
const maxToolName = 100;

/** What the agent receives; without structured content it is an error. */
interface Outcome {
  readonly text: string;
  readonly content: unknown;
  /** UTF-16 code units of the content, as JSON. */
  readonly contentChars: number;
}

async function attempt(host: McpHost, caller: Caller, tool: Tool, given: ToolArguments): Promise<Outcome> {
  const run = { host, caller };
  let asked = withoutFillers(tool.optionalFields, given);
  try {
    // A caller without permission is told so, whatever else is wrong.
    host.requireAllowed(tool.operation, caller, { body: asked });
    requireTaken(tool, asked);
    asked = inOrder(run, asked, tool.operation === 'assertFact');
    const answer = await answerOf(run, tool.operation, asked);
    const content = await withHintsOfNothing(run, tool.operation, asked, answer);
    const contentChars = await charactersOf(tool, content);
    await pauseIfLong(content);
    const text = textOf(tool.operation, content, asked);
    await pauseIfLong(content);
    return { text, content, contentChars };
  } catch (error) {
    if (error instanceof EngineError) return errorOutcome(await refusalText(run, tool, asked, error));
    if (caller.signal.aborted) return errorOutcome('The call was cancelled.');
    host.logger.error(
      { err: error, requestId: caller.requestId, tool: tool.listing.name },
      'tool call failed',
    );
    return errorOutcome(`Internal error. The service's log has more under request id ${caller.requestId}.`);
  }
}

/** Refuses arguments that the tool does not take, for tools that take more than their operation. */
function requireTaken({ body, operation }: Tool, given: ToolArguments): void {
  const { body: own }: OperationSpec = operations[operation];
  if (body === undefined || body === own) return;
  const checked = validate(body, given);
  if (!checked.ok) throw invalidCall(checked.errors);
}

/** Runs the tool. */
async function answerOf(run: ToolContext, operation: ToolOperation, given: ToolArguments): Promise<object> {
  switch (operation) {
    case 'assertFact':
      return tellTool(run, given);
    case 'retractPattern':
      return forgetTool(run, given);
    case 'ask':
      return askTool(run, given);
    case 'recall':
      return recallTool(run, given);
    default: {
      const project = projections[operation] as (output: unknown) => object;
      return project(await perform(run, operation, { body: given }));
    }
  }
}

function charactersOf({ operation, listing }: Tool, content: object): Promise<number> {
  const isTried = 'dryRun' in content;
  return requireFits(listing.name, content, operations[operation].kind === 'write' && !isTried);
}

/** The types of the table tie each text to its tool's content; a look-up by a variable name loses that tie. */
function textOf(operation: ToolOperation, content: object, fields: ToolArguments): string {
  const text = toolTexts[operation] as (content: object, fields: ToolArguments) => string;
  return text(content, fields);
}

function errorOutcome(text: string): Outcome {
  return { text, content: null, contentChars: 0 };
}

/** Whether a window has anything of an answer to one of its goals. */
function hasAnswer({ entries, goals = [] }: SlimWindow): boolean {
  return entries === undefined
    ? goals.some(({ status }) => status === 'proved' || status === 'premises')
    : entries.some(({ category }) => category === 'goal_relevant');
}

/** Whether content lists no fact at all: a window without an answer to its goals may still have facts with the words. */
function isBare(content: object): boolean {
  return !('totalFactsIncluded' in content) || content.totalFactsIncluded === 0;
}

const maxHints = 5;
/** Predicates and goals that are looked up. */
const maxLookedAt = 5;
const maxScopesNamed = 5;
const maxPredicatesNamed = 10;

/**
 * Adds hints to content that found nothing, besides those of the operation: an unknown scope, a misspelt predicate, a
 * goal without an answer. It only reads, and does not count as a use of any fact.
 */
async function withHintsOfNothing<Content extends object>(
  run: ToolContext,
  operation: ToolOperation,
  given: ToolArguments,
  content: Content,
): Promise<Content & { hints?: string[] }> {
  if (!isEmpty(operation, content)) return content;
  const own = 'hints' in content && Array.isArray(content.hints) ? (content.hints as string[]) : [];
  const hints = [
    ...(await scopeHints(run, given)),
    ...own,
    ...(await predicateHints(run, given)),
    ...(isBare(content) ? await queryHints(run, given) : []),
    ...(await goalHints(run, given)),
  ];
  if (hints.length === 0) return content;
  return { ...content, hints: [...new Set(hints)].slice(0, maxHints) };
}

function isEmpty(operation: ToolOperation, content: object): boolean {
  switch (operation) {
    case 'ask':
      return (content as Answered).count === 0;
    case 'retractPattern':
      return (content as Forgotten).status === 'absent';
    case 'recall':
      return (content as SlimRecalled).returned === 0;
    case 'optimizeContext':
      return !hasAnswer(content as SlimWindow);
    case 'consolidate':
      return (content as SlimConsolidated).patternsFound === 0;
    default:
      return false;
  }
}

async function scopeHints(run: ToolContext, { scope }: ToolArguments): Promise<string[]> {
  if (typeof scope !== 'string') return [];
  const { scopes } = await perform(run, 'listScopes');
  if (scopes.some(({ name }) => name === scope)) return [];
  const names = scopes.slice(0, maxScopesNamed).map(({ name }) => name);
  const others = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
  return [`there is no scope ${scope}: ${others}; leave out scope to search everything`];
}

async function predicateHints(run: ToolContext, { predicates }: ToolArguments): Promise<string[]> {
  const names = Array.isArray(predicates) ? predicates.filter((name) => typeof name === 'string') : [];
  const hints: string[] = [];
  for (const predicate of names.slice(0, maxLookedAt)) {
    const listed = await perform(run, 'listFacts', { query: { predicate, limit: '1' } });
    if (listed.total === 0) hints.push(...(listed.hints ?? []));
  }
  return hints;
}

/** What is known at all, for a query that matches nothing. */
async function queryHints(run: ToolContext, { query }: ToolArguments): Promise<string[]> {
  if (typeof query !== 'string') return [];
  const { predicates } = await perform(run, 'listPredicates');
  if (predicates.length === 0) return ['nothing is stored yet: tell facts first'];
  const named = predicates.slice(0, maxPredicatesNamed).map(({ name, arity }) => `${name}/${arity}`);
  const more = predicates.length - named.length;
  const rest = more > 0 ? ` and ${more} more, which the tool predicates lists` : '';
  return [`nothing matches these words; there is knowledge of ${named.join(', ')}${rest}`];
}

async function goalHints(run: ToolContext, { goals, scope }: ToolArguments): Promise<string[]> {
  if (!Array.isArray(goals)) return [];
  const hints: string[] = [];
  for (const goal of (goals as object[]).slice(0, maxLookedAt)) {
    const body = { ...goal, ...(scope === undefined ? {} : { scope }), limit: 1 };
    const answer = await perform(run, 'ask', { body });
    if (answer.count === 0) hints.push(...(answer.hints ?? []));
  }
  return hints;
}

/** Maximum number of conditions that are explained. */
const maxExplained = 8;

/**
 * The answer of `ask`, always with the proof. A question may end in a question mark, and without an answer the tool can
 * say why not. The arguments have been checked.
 */
/** What is most present, or with a predicate the answers to a pattern, at the instant that is given. */
async function recallTool(run: ToolContext, given: ToolArguments): Promise<SlimRecalled> {
  const { timestamp, ...others } = given;
  const body = timestamp === undefined ? others : { ...others, asOf: timestamp };
  const { predicate, args, negated, truthVal, scope, unscoped, asOf, asKnown, timeoutMs } = body;
  if (args === undefined) {
    const { predicate: only, negated: _sign, truthVal: _truth, ...fields } = body;
    const named = only === undefined ? {} : { predicates: [only] };
    return projections.recall(await perform(run, 'recall', { body: { ...fields, ...named } }));
  }
  const asked = { predicate, args, negated, truthVal, scope, unscoped, asOf, asKnown, timeoutMs };
  const limit = body['maxFacts'] ?? maxRecalled;
  const output = await perform(run, 'ask', { body: { ...asked, limit, withProof: true } });
  const { results, total, proof, hints } = output;
  await pauseIfLong(results);
  const facts = results.map((atom, at): SlimEntry => {
    const step = proof?.steps[proof.roots[at] ?? -1];
    const premises = step?.premises.map((id) => proof?.steps[id]?.atom ?? '') ?? [];
    return {
      atom,
      ...(typeof step?.scope === 'string' ? { scope: step.scope } : {}),
      ...(typeof step?.rule === 'string' ? { rule: step.rule, premises } : {}),
    };
  });
  return { facts, returned: facts.length, totalFacts: total, ...(hints === undefined ? {} : { hints }) };
}

/** The default of `maxFacts`. */
const maxRecalled = 100;

async function askTool(run: ToolContext, given: ToolArguments): Promise<Answered> {
  const { whyNot, text, ...others } = given;
  const question = typeof text === 'string' ? { ...others, text: withoutMark(text) } : others;
  const output = await perform(run, 'ask', { body: { ...question, withProof: true } });
  const slim = projections.ask(output);
  await pauseIfLong(output.results);
  const answer = await fitAnswer(slim);
  if (whyNot !== true || answer.count > 0) return answer;
  const atoms = atomsOf(run, question);
  const ground = atoms.filter(({ args }) => !args.some((arg) => arg.startsWith('?')));
  const explained: SlimWhyNot[] = [];
  for (const atom of ground.slice(0, maxExplained)) {
    const why = await perform(run, 'explain', { body: { ...atom, ...placeOf(given), mode: 'whyNot' } });
    if (!why.holds) explained.push(slimWhyNot(why));
  }
  const open = atoms.filter((atom) => !ground.includes(atom)).map((atom) => renderAtom(atom));
  const hint =
    explained.length > 0 || open.length === 0
      ? []
      : [`whyNot explains atoms without variables: put constants into ${open.slice(0, 3).join(', ')}`];
  const hints = [...(answer.hints ?? []), ...hint];
  return {
    ...answer,
    ...(explained.length === 0 ? {} : { whyNot: explained }),
    ...(hints.length === 0 ? {} : { hints }),
  };
}

/** The question without its final question mark, which is not a variable. */
function withoutMark(text: string): string {
  return text.replace(/([\s)"}\w])\s*\?\s*$/u, '$1');
}

/** The atoms of a question that would have to be derivable. The question has been answered, so it is valid. */
function atomsOf(
  { host, caller }: ToolContext,
  { predicate, args, negated, text, body }: ToolArguments,
): Atom[] {
  if (typeof predicate === 'string' && Array.isArray(args))
    return [{ predicate, args: args.map(String), negated: negated === true }];
  const literals =
    typeof text === 'string'
      ? parseBody(text, 'text', host.argumentNames(caller))
      : Array.isArray(body)
        ? (body as Literal[])
        : [];
  return literals.flatMap((literal) =>
    'aggregate' in literal || literal.naf || isBuiltinName(literal.predicate)
      ? []
      : [{ predicate: literal.predicate, args: literal.args.map(String), negated: literal.negated }],
  );
}

function placeOf({ scope, unscoped }: ToolArguments): ToolArguments {
  return { ...(scope === undefined ? {} : { scope }), ...(unscoped === undefined ? {} : { unscoped }) };
}
