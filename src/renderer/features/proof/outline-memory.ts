/** What was unfolded in the proofs looked at in this window, so that going away and back finds them as they were. */
import type { OutlineState } from './outline-keys.ts';
import type { ProofTree } from './proof-tree.ts';

const greatestCount = 50;
const remembered = new Map<string, OutlineState>();

export function rememberOutline(question: string, state: OutlineState): void {
  remembered.delete(question);
  remembered.set(question, state);
  for (const oldest of remembered.keys()) {
    if (remembered.size <= greatestCount) return;
    remembered.delete(oldest);
  }
}

/** What was unfolded in the proof of a question, where the proof still has those steps. */
export function recallOutline(question: string, tree: ProofTree): OutlineState | null {
  const state = remembered.get(question);
  if (state === undefined) return null;
  return [...state.unfolded].every((id) => tree.sizeOf.has(id)) ? state : null;
}
