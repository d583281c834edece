/**
 * The content of a tool result: answers with proofs, a refusal, or text.
 *
 * The host may have truncated or changed the result, so it is validated by the contract's schema; anything invalid is
 * shown as the text beside it.
 */
import type { McpUiToolResultNotification } from '@modelcontextprotocol/ext-apps';
import { type Answer, answerSchema } from '../../engine/contract/inference.ts';
import { bodySchema } from '../../engine/contract/language-schemas.ts';
import { renderAtom, renderBody } from '../../engine/language/print.ts';

/** `proofs`: the address of the workbench's proof view, without `question`; null if unknown. */
export type ShownResult =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly proofs: URL | null }
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

/** A tool result as the host passes it on. */
type PassedResult = McpUiToolResultNotification['params'];

/** Returns the content of a result. */
export function readResult({ content, structuredContent, isError, _meta }: PassedResult): ShownResult {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  if (isError === true) return { kind: 'refusal', text };
  const read = answerSchema.safeParse(wholeAnswer(structuredContent));
  if (read.success)
    return { kind: 'answer', answer: read.data, proofs: readProofs(_meta?.['corollary/proofs']) };
  return { kind: 'text', text: text === '' ? 'The host passed on nothing of the answer.' : text };
}

/** The content of `ask` with the omitted null and empty fields restored. */
function wholeAnswer(content: unknown): unknown {
  if (!isObject(content)) return content;
  const { results, proof } = content;
  const bindings = Array.isArray(results) ? results.map(() => ({})) : [];
  return {
    bindings,
    elapsedMs: 0,
    total: content['count'],
    ...content,
    ...(isObject(proof) && Array.isArray(proof['steps'])
      ? { proof: { ...proof, steps: proof['steps'].map(wholeStep) } }
      : {}),
  };
}

function wholeStep(step: unknown): unknown {
  if (!isObject(step)) return step;
  const { alternatives } = step;
  return {
    rule: null,
    ruleId: null,
    premises: [],
    scope: null,
    ...step,
    ...(Array.isArray(alternatives)
      ? { alternatives: alternatives.map((way) => (isObject(way) ? { ruleId: '', ...way } : way)) }
      : {}),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readProofs(given: unknown): URL | null {
  if (typeof given !== 'string' || !URL.canParse(given)) return null;
  const address = new URL(given);
  return /^https?:$/.test(address.protocol) ? address : null;
}

/** Returns the address that shows the proof of an answer to the question of `input`. */
export function proofAddressOf(proofs: URL, input: ToolInput | null, answer: string): string {
  const { scope, unscoped } = input ?? {};
  const address = new URL(proofs);
  const [path = '', given = ''] = address.hash.split('?');
  const search = new URLSearchParams(given);
  search.set('question', answer);
  if (typeof scope === 'string' && scope.trim() !== '') search.set('scope', scope);
  else if (unscoped === true) search.set('unscoped', 'true');
  address.hash = `${path}?${search}`;
  return address.href;
}

/** Arguments of the tool call. */
export type ToolInput = Readonly<Record<string, unknown>>;

/** Returns the question as text from the tool's arguments; null if they have no valid form. */
export function questionOf({ predicate, args, negated, body, text }: ToolInput): string | null {
  if (typeof text === 'string' && text.trim() !== '') return text.trim();
  if (typeof predicate === 'string' && predicate !== '' && Array.isArray(args))
    return renderAtom({ predicate, args: args.map(String), negated: negated === true });
  const read = bodySchema.safeParse(body);
  return read.success ? renderBody(read.data) : null;
}

/** Returns the arguments that request the answers after those shown. */
export function argumentsAfter(input: ToolInput, shown: number): Record<string, unknown> {
  const { offset } = input;
  return { ...input, offset: (typeof offset === 'number' ? offset : 0) + shown };
}
