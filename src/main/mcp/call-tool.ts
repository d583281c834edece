/**
 * One tool call: arguments in, a result for the agent out.
 *
 * Whatever goes wrong with a call comes back as a tool error, so that the agent can mend it: never as a protocol
 * error and never with a word about the inside. The operation itself (role, validation, handler) is the host's.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { validate } from '../../engine/contract/validation.ts';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';
import { requireFits } from './answer-size.ts';
import { ask } from './ask-tool.ts';
import { oneLine } from './client.ts';
import { withHintsOfNothing } from './empty-answer.ts';
import { forget } from './forget-tool.ts';
import { proofAppResult } from './proof-app.ts';
import { refusalText } from './refusal-text.ts';
import { tell } from './tell-tool.ts';
import { projections } from './tool-content.ts';
import { type ToolArguments, withoutFillers } from './tool-input.ts';
import { invalidCall, perform, type ToolRun } from './tool-run.ts';
import { toolTexts } from './tool-text.ts';
import type { ToolOperation } from './tool-operation.ts';
import { type Tool, tools } from './tools.ts';
import { unknownToolText } from './unknown-tool.ts';

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

/** Longest name of a tool that is repeated. */
const maxToolName = 100;

/** What the agent is given; without structured content it is an error. */
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
    // Who may not call is told so, whatever else is wrong.
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

/** Refuses what the tool does not take, for tools that take more than their operation does. */
function requireTaken({ body, operation }: Tool, given: ToolArguments): void {
  const { body: own }: OperationSpec = operations[operation];
  if (body === undefined || body === own) return;
  const checked = validate(body, given);
  if (!checked.ok) throw invalidCall(checked.errors);
}

/** What the tool does. */
async function answerOf(run: ToolRun, operation: ToolOperation, given: ToolArguments): Promise<object> {
  switch (operation) {
    case 'assertFact':
      return tell(run, given);
    case 'retractPattern':
      return forget(run, given);
    case 'ask':
      return ask(run, given);
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

/** The table's types tie each text to its tool's content; a lookup by a variable name loses that tie. */
function textOf(operation: ToolOperation, content: object, fields: ToolArguments): string {
  const text = toolTexts[operation] as (content: object, fields: ToolArguments) => string;
  return text(content, fields);
}

function errorOutcome(text: string): Outcome {
  return { text, content: null, contentChars: 0 };
}
