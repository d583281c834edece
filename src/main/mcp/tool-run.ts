/**
 * What tools share: operations run as the caller, one after the other or several as one transaction, and the text of
 * `tell` and `forget`, statements in the grammar that are all parsed before any is carried out.
 */
import type { OperationName, OperationOutput } from '../../engine/contract/operations.ts';
import type { ProblemDetail } from '../../engine/contract/problems.ts';
import type { Pending } from '../../engine/contract/transactions.ts';
import {
  type ArgumentNames,
  argsInOrder,
  type Caller,
  EngineError,
  programSteps,
  serving,
  Slices,
} from '../../engine/index.ts';
import type { McpHost, OperationParts } from '../base/agent-host.ts';
import type { Atom, Rule } from '../../engine/contract/language.ts';
import { constantsSchema, termsSchema } from '../../engine/contract/language-schemas.ts';
import type { ToolArguments } from './tools.ts';

export interface ToolContext {
  readonly host: McpHost;
  readonly caller: Caller;
}

/** The host's `perform`, typed by the table, whose schemas its answers satisfy. Not for calls within a transaction. */
export async function perform<Name extends OperationName>(
  { host, caller }: ToolContext,
  operation: Name,
  parts: OperationParts = {},
): Promise<OperationOutput<Name>> {
  return (await host.perform(operation, caller, parts)) as OperationOutput<Name>;
}

/**
 * The arguments of a call with its atoms' arguments in order, where they are given by name. What no schema takes is left as
 * it is, to be refused. `needsAll`: the atoms are facts. Throws a 400 ValidationException for names that fit no declaration.
 */
export function inOrder(run: ToolContext, given: ToolArguments, needsAll: boolean): ToolArguments {
  let names: ArgumentNames | null = null;
  const ordered = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) return value.map((each, at) => ordered(each, `${path}${at}.`));
    if (typeof value !== 'object' || value === null) return value;
    const { predicate, args } = value as Readonly<Record<string, unknown>>;
    const isNamed = typeof args === 'object' && args !== null && !Array.isArray(args);
    const taken = isNamed ? (needsAll ? constantsSchema : termsSchema).safeParse(args) : null;
    if (typeof predicate !== 'string' || taken?.success !== true) return value;
    names ??= run.host.argumentNames(run.caller);
    return { ...value, args: argsInOrder(predicate, taken.data, names, path) };
  };
  const own = ordered(given, '') as ToolArguments;
  const lists = ['facts', 'goals', 'body'].filter((field) => Array.isArray(own[field]));
  if (lists.length === 0) return own;
  return { ...own, ...Object.fromEntries(lists.map((field) => [field, ordered(own[field], `${field}.`)])) };
}

type Write = 'assertFacts' | 'assertRule' | 'retractPattern' | 'deleteRule';

/** Makes one write part of the transaction. */
type WriteWithin = (operation: Write, parts: OperationParts) => Promise<Pending>;

interface CommittedWork<Result> {
  readonly result: Result;
  readonly generation: number;
  /** Known conclusions that no longer follow. */
  readonly lost: number;
}

/** Commits everything that `work` writes or, if anything is refused, nothing. */
export async function inTransaction<Result>(
  run: ToolContext,
  work: (write: WriteWithin) => Promise<Result>,
): Promise<CommittedWork<Result>> {
  const { id } = await perform(run, 'beginTransaction');
  const caller = { ...run.caller, transaction: id };
  let isCommitted = false;
  try {
    const result = await work(
      async (operation, parts) => (await run.host.perform(operation, caller, parts)) as Pending,
    );
    const tried = await perform(run, 'commitTransaction', { params: { id }, body: { dryRun: true } });
    const { generation } = await perform(run, 'commitTransaction', { params: { id }, body: {} });
    isCommitted = true;
    return { result, generation, lost: tried.lost ?? 0 };
  } finally {
    if (!isCommitted) await rollBack(run, id);
  }
}

async function rollBack(run: ToolContext, id: string): Promise<void> {
  try {
    await perform(run, 'rollbackTransaction', { params: { id } });
  } catch (error) {
    // The refusal has already ended the transaction; the agent gets its reason.
    if (!(error instanceof EngineError)) throw error;
  }
}

/** Refuses the call because of these fields. */
export function invalidCall(errors: readonly ProblemDetail[]): EngineError {
  const [first] = errors;
  return new EngineError('ValidationException', `${first?.path ?? ''}: ${first?.message ?? ''}`, {
    errors: [...errors],
  });
}

export type ToolStatement =
  | { readonly kind: 'fact'; readonly atom: Atom }
  /** `text`: the rule as written, without its full stop. */
  | { readonly kind: 'rule'; readonly rule: Rule; readonly text: string };

/** Maximum number of statements in one call. */
const maxStatements = 100_000;

const maxErrors = 20;

/**
 * The statements in the order of the text, at least one. `allowsPatterns`: atoms may have variables. A statement that
 * ends with its line needs no full stop. A name alone is not a fact here, or a sentence of one word would be one.
 */
export async function readStatements(
  { host, caller }: ToolContext,
  text: string,
  allowsPatterns: boolean,
): Promise<ToolStatement[]> {
  const slices = new Slices(serving.pauseOf(caller, 'read statements'));
  const steps = programSteps(text, {
    maxErrors,
    allowsPatterns,
    lineEndsStatement: true,
    names: host.argumentNames(caller),
  });
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await slices.breathe();
  const { statements, errors, lines } = step.value;
  const problems = errors.map(
    ({ message, range }) => `line ${range.startLine}, column ${range.startColumn}: ${message}`,
  );
  for (const statement of statements) {
    if (problems.length >= maxErrors) break;
    const { span, head } = statement;
    if (statement.kind === 'rule' || /[({]/.test(text[head.name.end] ?? '')) continue;
    const { startLine, startColumn } = lines.range(span);
    problems.push(
      `line ${startLine}, column ${startColumn}: a fact has parentheses: write ${text.slice(head.span.start, head.name.end)}()`,
    );
  }
  if (problems.length === 0 && statements.length === 0) problems.push('it contains no statement');
  if (statements.length > maxStatements)
    problems.push(`it has ${statements.length} statements: give at most ${maxStatements} in one call`);
  if (problems.length > 0) throw unreadable(problems);
  return statements.map((statement) =>
    statement.kind === 'fact'
      ? { kind: 'fact', atom: statement.atom }
      : {
          kind: 'rule',
          rule: statement.rule,
          text: text.slice(statement.span.start, statement.span.end).replace(/\.\s*$/, ''),
        },
  );
}

function unreadable(problems: readonly string[]): EngineError {
  return new EngineError('ValidationException', `text: ${problems[0]}`, {
    errors: problems.map((message) => ({ path: 'text', message })),
  });
}
