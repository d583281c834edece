/**
 * Keeps a tool's structured content within a size that clients can take.
 *
 * An answer that is too large becomes a page of itself: the first results that fit, each with its proof whole,
 * and `truncated: true`, which in the contract says that there is more. Nothing is cut in the middle. Other
 * outputs are refused with words on how to get less.
 */
import { EngineError } from '../../engine/index.ts';
import type { Answered } from '../../engine/contract/tool-contents.ts';

type Proof = NonNullable<Answered['proof']>;

/** Characters of JSON; what the SDK takes as one message by default. */
export const maxContentCharacters = 4 * 1024 * 1024;

/** The answer, or the longest page of it that was found to fit. A proof that does not fit alone is left out. */
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

/** The size of the content. Refuses what is too large and has no pages; where it tells of a write, saying that this was made. */
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

/** Characters of an atom where it is named as a premise. */
export const maxPremiseCharacters = 240;

/** Characters that premises take in the text, where each is written out and not named by its id. */
function premisesIn({ proof }: Answered): number {
  const lengths = new Map(proof?.steps.map(({ id, atom }) => [id, atom.length]));
  let characters = 0;
  for (const { premises = [] } of proof?.steps ?? [])
    for (const id of premises) characters += Math.min(lengths.get(id) ?? 0, maxPremiseCharacters);
  return characters;
}

/** Sizes of contents that were measured: an answer is looked at when it is made to fit and when it has to. */
const sizes = new WeakMap<object, number>();

/** Characters of JSON. A content is not changed once it was measured. */
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
    ...(proof === undefined ? {} : { proof: firstProofs(proof, count) }),
  };
}

/** The proof of the first `count` results: their steps and all that these stand on, ids kept. */
function firstProofs(proof: Proof, count: number): Proof {
  const roots = proof.roots.slice(0, count);
  const byId = new Map(proof.steps.map((step) => [step.id, step]));
  const needed = new Set<number>();
  const open = [...roots];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    const step = byId.get(id);
    for (const premise of step?.premises ?? []) open.push(premise);
    open.push(...(step?.alternatives ?? []).flatMap((other) => other.premises));
  }
  return { ...proof, roots, steps: proof.steps.filter((step) => needed.has(step.id)) };
}
