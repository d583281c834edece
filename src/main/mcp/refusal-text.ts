/**
 * The text of a refused call for the agent: what is wrong, field by field, and how to correct it.
 *
 * The last lines are the call that was probably meant (`mend.ts`), or else the fields and an example: a model does what
 * it reads last.
 */
import type { ConstraintViolation } from '../../engine/contract/constraints.ts';
import type { ProblemDetail } from '../../engine/contract/problems.ts';
import { EngineError, parseBody, parseProgram, parseRule } from '../../engine/index.ts';
import { cutText, proofOutline, withFoldedText } from '../../proof/proof-text.ts';
import { mend } from './mend.ts';
import { takesArguments, type Tool } from './tools.ts';
import { perform, type ToolContext } from './tool-run.ts';
import { callForWords, soughtWords, withoutWords } from './call-advice.ts';

type Given = Readonly<Record<string, unknown>>;

const maxPlaces = 20;
/** Maximum characters of a field's path, which may be any name that a client made up, and of its message. */
const maxCharacters = 300;

/** The text of a tool error. */
export async function refusalText(
  run: ToolContext,
  tool: Tool,
  given: Given,
  error: EngineError,
): Promise<string> {
  const errors = error.members.errors ?? [];
  if (error.code !== 'ValidationException') {
    // The message has the place already if there is only one.
    const places = errors.length > 1 ? placesOf(errors) : [];
    return [`${error.code}: ${error.message}`, ...places, ...violationLines(error.members)].join('\n');
  }
  const { call, hints } = mend(tool, given);
  const places = placesOf(errors, (path) => hints.get(path) ?? advice(tool, given, path));
  const first = places.length === 0 ? error.message : `${tool.listing.name} was not carried out`;
  const last =
    call === null ? await callInstead(run, tool, given) : `Perhaps you mean: ${JSON.stringify(call)}`;
  return [`${error.code}: ${first}`, ...places, usage(tool), last].join('\n');
}

/** The members of ConstraintViolated. */
interface ViolatedMembers {
  readonly violations: readonly ConstraintViolation[];
  readonly violationCount: number;
}

const maxViolations = 3;
const maxProofLines = 20;

/** What would be violated, each with its proof: which facts and rules the call would complete. */
function violationLines(members: EngineError['members']): string[] {
  if (!('violations' in members)) return [];
  // Only ConstraintViolated has them.
  const { violations, violationCount } = members as unknown as ViolatedMembers;
  const shown = violations.slice(0, maxViolations);
  const lines = shown.flatMap(({ name, scope, proof }) => {
    const outline = proof === null ? [] : proofOutline(withFoldedText(proof));
    const rest = outline.length - maxProofLines;
    return [
      `Violates ${JSON.stringify(name)}${scope === null ? '' : ` in scope ${scope}`}:`,
      ...outline.slice(0, maxProofLines).map((line) => `  ${cutText(line, maxCharacters)}`),
      ...(rest > 0 ? [`  and ${rest} more lines`] : []),
    ];
  });
  if (violationCount > shown.length) lines.push(`and ${violationCount - shown.length} more violations`);
  if (lines.length > 0)
    lines.push('Change what you tell, or first retract or correct a fact above that is no longer true.');
  return lines;
}

/** The call to make if no field is a typing error: one for the words that were searched for, else an example. */
async function callInstead(run: ToolContext, tool: Tool, given: Given): Promise<string> {
  const words = isOverview(tool) || isSentence(tool, given) ? soughtWords(given) : null;
  if (words === null)
    return (await callOfOtherTool(run, tool, given)) ?? `Example: ${JSON.stringify(tool.example)}`;
  const rest = withoutWords(given);
  const others = isOverview(tool)
    ? (mend(tool, rest).call ?? (takesArguments(tool.operation, rest) ? rest : {}))
    : {};
  const isContext = tool.operation === 'optimizeContext';
  const { tool: name, call } = callForWords(words, isContext ? 'context' : 'recall', others);
  const cannot = isOverview(tool) ? 'takes words as query' : 'takes no sentences';
  return `${tool.listing.name} ${cannot}. Call ${name} with ${JSON.stringify(call)}`;
}

/** The call of another tool, or of a looked-up id; null: not known. */
async function callOfOtherTool(
  run: ToolContext,
  { operation, fields, listing: { name } }: Tool,
  given: Given,
): Promise<string | null> {
  if (fields.size === 0) return `Call ${name} with {}`;
  const { text, id, factId = id } = given;
  if (typeof text === 'string') {
    const statements = { text };
    if (operation === 'assertRule' && isTold(text)) return `Call tell with ${JSON.stringify(statements)}`;
    if (operation === 'assertFact' && isAsked(text))
      return `To ask it, call ask with ${JSON.stringify(statements)}`;
    if (operation === 'ask' && isRule(text))
      return `To store it, call teach with ${JSON.stringify(statements)}`;
  }
  if (operation !== 'retractPattern' || typeof factId !== 'string') return null;
  const { rules } = await perform(run, 'listRules');
  if (rules.some((rule) => rule.id === factId))
    return `Call forget with ${JSON.stringify({ ruleId: factId })}`;
  try {
    const { predicate, args, truthVal } = await perform(run, 'getFact', { params: { id: factId } });
    return `Call forget with ${JSON.stringify({ predicate, args, ...(truthVal ? {} : { truthVal }) })}`;
  } catch (error) {
    if (error instanceof EngineError) return null;
    throw error;
  }
}

const maxRead = 10_000;

function isTold(text: string): boolean {
  const { statements, errors } = parseProgram(text.slice(0, maxRead), {
    maxErrors: 1,
    lineEndsStatement: true,
  });
  return errors.length === 0 && statements.length > 0 && text.includes('(');
}

function isAsked(text: string): boolean {
  return text.includes('(') && parses(() => parseBody(text.slice(0, maxRead).replace(/\?\s*$/, '')));
}

function isRule(text: string): boolean {
  return parses(() => parseRule(text.slice(0, maxRead)));
}

function parses(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/** Whether the call asks a question in natural language. */
function isSentence({ operation }: Tool, given: Given): boolean {
  return (
    operation === 'ask' && given['predicate'] === undefined && soughtWords(given)?.includes('(') === false
  );
}

function isOverview({ operation }: Tool): boolean {
  return operation === 'recall' || operation === 'optimizeContext';
}

function placesOf(
  errors: readonly ProblemDetail[],
  hintOf: (path: string) => string | null = () => null,
): string[] {
  return errors.slice(0, maxPlaces).map(({ path, message }) => {
    const hint = hintOf(path);
    return `- ${path === '' ? 'arguments' : clip(path)}: ${clip(message)}${hint === null ? '' : ` (${hint})`}`;
  });
}

/** What to do about a field whose intention is unclear, as the end of a sentence. */
function advice({ listing: { name } }: Tool, given: Given, path: string): string | null {
  const [field = '', place] = path.split('.');
  const value = Object.hasOwn(given, field) ? given[field] : undefined;
  switch (field) {
    case 'args':
      return argsAdvice(name, value, place);
    case 'predicate':
      return typeof value === 'string' && value.startsWith('?')
        ? 'a predicate cannot be a variable: the tool predicates lists the existing ones'
        : null;
    case 'validFrom':
    case 'validUntil':
      return 'such as "2030-12-31" or "2030-12-31T18:00:00Z"';
    case 'text':
    case 'question':
    case 'query':
    case 'topic':
    case 'search':
      return textAdvice(name);
    case 'id':
      return name === 'forget' ? 'identify a fact by predicate and args, a rule by ruleId' : null;
    default:
      return null;
  }
}

function argsAdvice(name: string, args: unknown, place: string | undefined): string | null {
  const value: unknown = Array.isArray(args) && place !== undefined ? args[Number(place)] : undefined;
  if (typeof value === 'string' && value.startsWith('?'))
    return name === 'tell'
      ? 'tell states facts about named things; use teach for a rule about everything'
      : null;
  if (Array.isArray(value) || (typeof value === 'object' && value !== null))
    return 'make each part a separate argument or a separate fact';
  if (place !== undefined && value === null)
    return name === 'tell'
      ? 'what is not known is not told'
      : 'use a variable such as ?x for what is not known';
  return name === 'forget' && args === undefined
    ? 'a variable for each argument forgets all facts of the predicate: ["?a", "?b"]'
    : null;
}

function textAdvice(name: string): string | null {
  switch (name) {
    case 'teach':
      return 'give one rule, head :- body, with commas for and; use tell for facts or several statements';
    case 'ask':
      return 'text consists of atoms, with commas for and, such as parent(alice, ?x); it cannot be a sentence';
    default:
      return null;
  }
}

function usage({ listing: { name }, fields }: Tool): string {
  if (fields.size === 0) return `${name} takes no arguments.`;
  return `Fields of ${name}: ${[...fields.keys()].filter((field) => field !== 'withProof').join(', ')}.`;
}

function clip(text: string): string {
  return cutText(text, maxCharacters);
}
