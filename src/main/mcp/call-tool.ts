/**
 * One tool call: arguments in, a result for the agent out.
 *
 * Whatever goes wrong with a call comes back as a tool error, so that the agent can mend it: never as a protocol
 * error and never with a word about the inside. The operation itself (role, validation, handler) is the host's.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { factInputSchema, type Metadata } from '../../engine/contract/facts.ts';
import { type OperationOutput, operations } from '../../engine/contract/operations.ts';
import { validate } from '../../engine/contract/validation.ts';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { McpHost } from '../mcp-host.ts';
import { fitAnswer, requireFits } from './answer-size.ts';
import { oneLine } from './client.ts';
import { toolTexts } from './tool-text.ts';
import { type Tool, type ToolOperation, tools } from './tools.ts';

export type ToolArguments = Readonly<Record<string, unknown>>;

/** Runs the tool `name`. Resolves always: a refusal is a result with `isError`. */
export async function callTool(
  host: McpHost,
  caller: Caller,
  name: string,
  given: ToolArguments,
): Promise<CallToolResult> {
  const started = performance.now();
  const tool = tools.get(name);
  const { text, content, contentChars } =
    tool === undefined ? unknownTool(name) : await attempt(host, caller, tool, given);
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
  return content === null ? { content: said, isError: true } : { content: said, structuredContent: content };
}

/** Longest name of a tool that is repeated. */
const maxToolName = 100;

/** What the agent is given; without structured content it is an error. */
interface Outcome {
  readonly text: string;
  readonly content: unknown;
  /** UTF-16 code units of the content, as JSON. */
  readonly contentChars: number;
}

function unknownTool(name: string): Outcome {
  return errorOutcome(
    `There is no tool ${JSON.stringify(name.slice(0, maxToolName))}. Tools: ${[...tools.keys()].join(', ')}.`,
  );
}

async function attempt(host: McpHost, caller: Caller, tool: Tool, given: ToolArguments): Promise<Outcome> {
  try {
    const fields = await settle(host, caller, tool, withoutBlanks(tool, given));
    return successOutcome(tool, await perform(host, caller, tool.operation, fields));
  } catch (error) {
    if (error instanceof EngineError) return errorOutcome(refusalText(tool, error));
    if (caller.signal.aborted) return errorOutcome('The call was cancelled.');
    host.logger.error(
      { err: error, requestId: caller.requestId, tool: tool.listing.name },
      'tool call failed',
    );
    return errorOutcome(`Internal error. The service's log has more under request id ${caller.requestId}.`);
  }
}

/** The arguments without optional ones that are null or blank: many clients fill in every field of a form. */
function withoutBlanks(tool: Tool, given: ToolArguments): ToolArguments {
  const isBlank = (value: unknown) => value === null || (typeof value === 'string' && value.trim() === '');
  return Object.fromEntries(
    Object.entries(given).filter(([field, value]) => !(tool.optionalFields.has(field) && isBlank(value))),
  );
}

/** What a tool settles by itself: an answer has its proof, a fact says who told it. */
async function settle(
  host: McpHost,
  caller: Caller,
  tool: Tool,
  fields: ToolArguments,
): Promise<ToolArguments> {
  switch (tool.operation) {
    case 'ask':
      return { ...fields, withProof: true };
    case 'assertFact':
      return { ...fields, ...(await metadataWithSource(host, caller, fields)) };
    default:
      return fields;
  }
}

/**
 * `metadata` with the client's name as its source where the caller gave none. A fact that is already stored
 * keeps its metadata when told again without any: metadata is replaced whole, and would be lost.
 */
async function metadataWithSource(
  host: McpHost,
  caller: Caller,
  fields: ToolArguments,
): Promise<{ metadata?: Metadata }> {
  if (caller.client === null) return {};
  const fact = validate(factInputSchema, fields);
  // The operation's own validation will say what is wrong with it.
  if (!fact.ok) return {};
  const { metadata, predicate, args, truthVal, scope } = fact.value;
  if (metadata !== null)
    return 'source' in metadata ? {} : { metadata: { ...metadata, source: caller.client } };
  // A retraction that is only tried finds exactly this fact, and unlike a question it is no use of it.
  const tried = await perform(host, caller, 'retract', {
    predicate,
    args,
    truthVal,
    ...(scope === null ? { unscoped: true } : { scope }),
    dryRun: true,
    timeoutMs: 1,
  });
  return tried.retracted > 0 ? {} : { metadata: { source: caller.client } };
}

/** The host's `perform`, typed by the table, which its answers are of. */
async function perform<Name extends ToolOperation | 'retract'>(
  host: McpHost,
  caller: Caller,
  operation: Name,
  fields: ToolArguments,
): Promise<OperationOutput<Name>> {
  return (await host.perform(operation, caller, { body: fields })) as OperationOutput<Name>;
}

function successOutcome(tool: Tool, output: unknown): Outcome {
  const { operation } = tool;
  const content = operation === 'ask' ? fitAnswer(output as OperationOutput<'ask'>) : output;
  const isTried = typeof output === 'object' && output !== null && 'dryRun' in output;
  const isWritten = operations[operation].kind === 'write' && !isTried;
  const contentChars = requireFits(tool.listing.name, content, isWritten);
  return { text: textOf(operation, content), content, contentChars };
}

/** The table's types tie each text to its operation's output; a lookup by a variable name loses that tie. */
function textOf(operation: ToolOperation, output: unknown): string {
  const text = toolTexts[operation] as (output: unknown) => string;
  return text(output);
}

function errorOutcome(text: string): Outcome {
  return { text, content: null, contentChars: 0 };
}

/** What was refused and why, place by place, and which fields the tool takes where one was wrong. */
function refusalText(tool: Tool, error: EngineError): string {
  const places = (error.members.errors ?? [])
    .slice(0, maxPlaces)
    .map(({ path, message }) => `- ${path === '' ? 'arguments' : path}: ${message}`);
  const lines = [`${error.code}: ${error.message}`, ...places];
  if (error.code === 'ValidationException') lines.push(usage(tool));
  return lines.join('\n');
}

const maxPlaces = 20;

function usage({ listing: { name, inputSchema } }: Tool): string {
  const required = new Set(Array.isArray(inputSchema['required']) ? inputSchema['required'] : []);
  const fields = Object.keys(inputSchema['properties'] ?? {});
  if (fields.length === 0) return `${name} takes no arguments.`;
  return `Fields of ${name}: ${fields.map((field) => (required.has(field) ? field : `${field}?`)).join(', ')}.`;
}
