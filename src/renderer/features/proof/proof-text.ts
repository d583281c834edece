/** A proof as indented text, for letters and tickets. Shared sub-proofs stand once; later ones point back. */
import { isFoldable, type ProofTree, stepsBelow, visibleRows } from './proof-tree.ts';
import { wordOf } from './step-words.ts';

const nothingHidden: ReadonlyMap<number, number> = new Map();

/** The whole proof, folded or not; a step a line, two spaces a level. `hiddenUnder`: premises left out under a step. */
export function proofAsText(tree: ProofTree, hiddenUnder = nothingHidden): string {
  const lines = visibleRows(tree, stepsBelow(tree, tree.root)).map((row) => {
    const { step } = row;
    const indent = '  '.repeat(row.level - 1);
    if (row.isReference && step.premises.length > 0)
      return `${indent}${step.atom}  [${wordOf(step).word}, ${row.isCircle ? 'in a circle' : 'shown above'}]`;
    const by = isFoldable(row) && step.rule !== null ? ` by ${step.rule}` : '';
    const scope = step.scope === null ? '' : ` in scope ${step.scope}`;
    const hidden = hiddenUnder.get(step.id) ?? 0;
    const note = hidden === 0 ? '' : `, ${hidden} known hidden`;
    return `${indent}${step.atom}  [${wordOf(step).word}${scope}${by}${note}]`;
  });
  return `${lines.join('\n')}\n`;
}
