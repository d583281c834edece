/**
 * Keeps a tool's structured content within a size that clients can take.
 *
 * An answer that is too large is cut to a page: the first results that fit, each with its whole proof, and `truncated:
 * true`, which in the contract says that there is more. Nothing is cut in the middle. Other outputs are refused with
 * advice on how to get less.
 */
import { EngineError } from '../../engine/index.ts';
import type { Answered } from '../../engine/contract/tool-contents.ts';
import { maxPremiseCharacters } from '../../proof/proof-text.ts';
import { partOf } from '../../proof/proof-tree.ts';

/** Characters of JSON; the SDK's default maximum of one message. */
export const maxContentCharacters = 4 * 1024 * 1024;

/** The answer, or the longest page of it found to fit. A proof that does not fit alone is left out. */
export function fitAnswer(answer: Answered, limit = maxContentCharacters): Answered {
  let size = sizeOf(answer) + premisesIn(answer);
  let page = answer;
  while (size > limit && page.count > 1) {
    const share = Math.floor((page.count * limit) / size);
    page = firstResults(answer, Math.max(1, Math.min(share, Math.floor(page.count / 2))));
    size = sizeOf(page) + premisesIn(page);
  }
  if (size <= limit) return page;
  const { proof: _, ...rest } = page;
  return rest;
}

/**
 * The size of the content. Refuses content that is too large and has no pages; if it is of a write, the refusal says
 * that the write was made.
 */
export function requireFits(
  tool: string,
  content: unknown,
  isWritten: boolean,
  limit = maxContentCharacters,
): number {
  const size = sizeOf(content);
  if (size <= limit) return size;
  const done = isWritten ? 'the write was made, and is not to be repeated: ' : '';
  throw new EngineError(
    'PayloadTooLarge',
    `${done}the answer of ${tool} has ${size} characters, more than the ${limit} a tool answers: use the HTTP API for it`,
  );
}

/** Characters that premises take in the text, which writes each one out instead of its id. */
function premisesIn({ proof }: Answered): number {
  const lengths = new Map(proof?.steps.map(({ id, atom }) => [id, atom.length]));
  let characters = 0;
  for (const { premises = [] } of proof?.steps ?? [])
    for (const id of premises) characters += Math.min(lengths.get(id) ?? 0, maxPremiseCharacters);
  return characters;
}

/** Sizes already measured: an answer is measured when it is cut and again when it is checked. */
const sizes = new WeakMap<object, number>();

/** Characters of JSON. Content must not change after it was measured. */
function sizeOf(content: unknown): number {
  if (typeof content !== 'object' || content === null) return JSON.stringify(content).length;
  let size = sizes.get(content);
  if (size === undefined) sizes.set(content, (size = JSON.stringify(content).length));
  return size;
}

function firstResults(answer: Answered, count: number): Answered {
  const { proof, bindings, ...rest } = answer;
  return {
    ...rest,
    results: answer.results.slice(0, count),
    ...(bindings === undefined ? {} : { bindings: bindings.slice(0, count) }),
    count,
    truncated: true,
    ...(proof === undefined ? {} : { proof: partOf(proof, proof.roots.slice(0, count)) }),
  };
}
