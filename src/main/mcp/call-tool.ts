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
  SlimRecalled,
  SlimWindow,
} from '../../engine/contract/tool-contents.ts';
import { validate } from '../../engine/contract/validation.ts';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';
import { requireFits } from './answer-size.ts';
import { askTool } from './ask-tool.ts';
import { oneLine } from './client.ts';
import { forgetTool } from './forget-tool.ts';
import { mend } from './mend.ts';
import { editDistance } from './nearest.ts';
import { proofAppResult } from './proof-app.ts';
import { refusalText } from './refusal-text.ts';
import { tellTool } from './tell-tool.ts';
import { projections } from './tool-content.ts';
import { takesArguments, type ToolArguments, withoutFillers } from './tool-input.ts';
import { invalidCall, perform, type ToolContext } from './tool-run.ts';
import { toolTexts } from './tool-text.ts';
import { type Tool, tools } from './tools.ts';
import { callForWords, soughtWords } from './word-advice.ts';

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
  const asked = withoutFillers(tool.optionalFields, given);
  try {
    // A caller without permission is told so, whatever else is wrong.
    host.requireAllowed(tool.operation, caller, { body: asked });
    requireTaken(tool, asked);
    const answer = await answerOf(run, tool.operation, asked);
    const content = await withHintsOfNothing(run, tool.operation, asked, answer);
    return {
      text: textOf(tool.operation, content, asked),
      content,
      contentChars: charactersOf(tool, content),
    };
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
    default: {
      const project = projections[operation] as (output: unknown) => object;
      return project(await perform(run, operation, { body: given }));
    }
  }
}

function charactersOf({ operation, listing }: Tool, content: object): number {
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

const maxHints = 5;
/** Predicates and goals that are looked up. */
const maxLookedAt = 5;
const maxScopesNamed = 5;

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
      return !(content as SlimWindow).entries.some(({ category }) => category === 'goal_relevant');
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
  return [`there is no scope ${scope}: ${others}; without scope everything is looked at`];
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

/** Names of tools of other memories and knowledge bases, and names that models make up. */

const namesOf = {
  ask: 'query question prove infer check lookup verify deduce solve explain why get get_fact answer why_not',
  tell: 'remember store save add assert add_fact store_fact save_fact insert note record create write put set add_facts store_facts tell_facts create_entities create_relations add_observations add_memory store_memory save_memory memorize learn_fact',
  teach: 'add_rule rule define learn assert_rule store_rule create_rule new_rule infer_rule teach_rule',
  forget:
    'delete remove retract erase delete_fact remove_fact delete_rule remove_rule forget_rule unlearn delete_entities delete_relations delete_observations delete_memory drop clear',
  recall: 'memory memories get_memories read_graph list_facts facts list retrieve read get_all list_memories',
  context: 'get_context context_window optimize_context window',
  predicates: 'schema vocabulary list_predicates describe ontology relations help list_relations get_schema',
  compress: 'consolidate summarize compact',
  cleanup: 'decay prune evict gc garbage_collect',
} as const;

const searches: ReadonlySet<string> = new Set(
  'search search_nodes search_memory search_memories find find_facts open_nodes search_facts semantic_search query_memory'.split(
    ' ',
  ),
);
const updates: ReadonlySet<string> = new Set(
  'update modify change replace edit upsert update_fact change_fact update_memory set_fact'.split(' '),
);

const otherNames: ReadonlyMap<string, string> = new Map(
  Object.entries(namesOf).flatMap(([tool, names]) => names.split(' ').map((name) => [name, tool])),
);

/** The error for an unknown tool: lists the tools and ends with the call to make instead, with its arguments. */
async function unknownToolText(run: ToolContext, name: string, given: ToolArguments): Promise<string> {
  const lines = [`There is no tool ${JSON.stringify(name)}. Tools: ${[...tools.keys()].join(', ')}.`];
  const plain = name
    .toLowerCase()
    .replaceAll(/[-\s.]/g, '_')
    .replace(/^(?:corollary|kb|mcp)_+/, '');
  if (updates.has(plain)) return [...lines, ...(await insteadOfUpdate(run, given))].join('\n');
  const words = soughtWords(given);
  if (searches.has(plain) && words !== null) {
    const { tool, call } = await callForWords(run, words);
    return [...lines, callLine(tool, call)].join('\n');
  }
  const meant = tools.get(otherNames.get(plain) ?? nearestTool(plain) ?? '');
  if (meant === undefined) return lines.join('\n');
  return [...lines, await insteadOf(run, plain, meant, given)].join('\n');
}

function nearestTool(name: string): string | undefined {
  return [...tools.keys()].find((tool) => editDistance(tool, name.slice(0, 20)) <= 2);
}

function callLine(tool: string, call: ToolArguments): string {
  return `Call ${tool} with ${JSON.stringify(call)}`;
}

async function insteadOf(run: ToolContext, name: string, tool: Tool, given: ToolArguments): Promise<string> {
  const asked = withoutFillers(tool.optionalFields, given);
  const more = name === 'why_not' ? { whyNot: true } : {};
  const own = { ...asked, ...more };
  if (Object.keys(asked).length > 0 && takesArguments(tool.operation, own))
    return callLine(tool.listing.name, own);
  const { call } = mend(tool, asked);
  if (call !== null) return callLine(tool.listing.name, { ...call, ...more });
  const words = soughtWords(given);
  if (words !== null && (tool.operation === 'recall' || tool.operation === 'optimizeContext')) {
    const found = await callForWords(run, words);
    return callLine(found.tool, found.call);
  }
  if (takesArguments(tool.operation, {})) return callLine(tool.listing.name, {});
  return `Call ${tool.listing.name}, such as with ${JSON.stringify(tool.example)}`;
}

/** Facts are never updated: the old one is forgotten, the new one told. */
async function insteadOfUpdate(run: ToolContext, given: ToolArguments): Promise<string[]> {
  const tell = tools.get('tell');
  const forget = tools.get('forget');
  const said = 'A fact is not changed: forget the old one, then tell the new one.';
  if (tell === undefined || forget === undefined) return [said];
  const [old, next] = [
    given['old'] ?? given['from'] ?? given['old_fact'] ?? given['oldFact'],
    given['new'] ?? given['to'] ?? given['new_fact'] ?? given['newFact'],
  ];
  if (typeof old === 'string' && typeof next === 'string')
    return [said, callLine('forget', { text: old }), callLine('tell', { text: next })];
  const fact = takesArguments('assertFact', given) ? given : mend(tell, given).call;
  if (fact === null) return [said, `Call tell, such as with ${JSON.stringify(tell.example)}`];
  const { predicate, args } = fact;
  const stored =
    Array.isArray(args) && args.length > 1 ? await storedLike(run, String(predicate), args.map(String)) : [];
  const olds = stored.map((old) => callLine('forget', { predicate, args: old }));
  return [said, ...olds, callLine('tell', fact)];
}

const maxOld = 5;

/** Stored facts of the predicate that differ from this one only in the last argument. */
async function storedLike(run: ToolContext, predicate: string, args: readonly string[]): Promise<string[][]> {
  const pattern = args.map((arg, index) => (index === args.length - 1 ? '?old' : arg));
  const facts = await perform(run, 'query', { body: { predicate, args: pattern, limit: maxOld } });
  return facts.map((fact) => fact.args).filter((old) => old.at(-1) !== args.at(-1));
}
