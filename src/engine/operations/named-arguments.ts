/** Arguments by name in requests: every atom that a caller gives gets its positions here, before an operation sees it. */
import type { Caller } from '../base/caller.ts';
import type { OperationName } from '../contract/operations.ts';
import { type ArgumentNames, resolveNames } from '../language/argument-names.ts';
import { parseBody, parseConstraint, parseRule } from '../language/parse.ts';
import { renderBody, renderConstraint, renderRule } from '../language/print.ts';
import type { EngineContext } from './engine-context.ts';

/** The names of arguments as the caller sees them: as declared, with the declarations of its transaction. */
export function argumentNames({ transactions }: EngineContext, caller: Caller): ArgumentNames {
  return transactions.declarations(caller).names;
}

/**
 * Puts the arguments by name in order, in every atom of the request's body and in its texts of questions, rules and
 * constraints. Changes the body in place. Throws a 400 ValidationException with the path, in a text with line and column.
 */
export function resolveRequest(
  engine: EngineContext,
  caller: Caller,
  operation: OperationName,
  body: unknown,
): void {
  if (typeof body !== 'object' || body === null) return;
  const names = (): ArgumentNames => argumentNames(engine, caller);
  resolveNames(body, names);
  const inOrder = texts[operation];
  if (inOrder === undefined) return;
  resolveText(body, '', inOrder, names);
  if (operation !== 'whatIf') return;
  for (const [at, rule] of (body as { readonly rules: readonly object[] }).rules.entries())
    resolveText(rule, `rules.${at}.`, inOrder, names);
}

type TextInOrder = (text: string, path: string, names: ArgumentNames) => string;

const question: TextInOrder = (text, path, names) => renderBody(parseBody(text, path, names));
const rule: TextInOrder = (text, path, names) => renderRule(parseRule(text, path, names));
const constraint: TextInOrder = (text, path, names) => {
  const { literals, reason } = parseConstraint(text, path, names);
  return `${renderConstraint(literals)}${reason === null ? '' : ` ${JSON.stringify(reason)}`}`;
};

/** The operations with texts in their field `text`; of `whatIf`, in its rules. */
const texts: { readonly [Name in OperationName]?: TextInOrder } = {
  ask: question,
  plan: question,
  trace: question,
  assertRule: rule,
  updateRule: rule,
  whatIf: rule,
  addConstraint: constraint,
  updateConstraint: constraint,
};

/** Renders the text anew if it may have arguments by name: a brace right after something else than white space. */
function resolveText(
  fields: { text?: unknown },
  path: string,
  inOrder: TextInOrder,
  names: () => ArgumentNames,
): void {
  const { text } = fields;
  if (typeof text === 'string' && /[^\s]\{/.test(text)) fields.text = inOrder(text, `${path}text`, names());
}
