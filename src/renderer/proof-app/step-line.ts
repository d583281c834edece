/** One line of the outline: depth, statement, kind and rule. */
import { formatAmount } from '../ui/format.ts';
import { wordOf } from '../features/proof/step-words.ts';
import { clipped, code } from './code.ts';
import { element } from './dom.ts';
import { canUnfold, type ForestRow, stepsUnder } from './forest.ts';
import type { ProofStep } from '../../engine/contract/inference.ts';

/** Deeper levels are not indented further; they show their number. */
const maxIndent = 12;

/** Maximum number of characters of a line, which is cut at the edge anyway. */
const maxLineLength = 400;

/** Returns the kind of a step as a coloured word. */
export function kindTag(step: ProofStep): HTMLElement {
  const { word, tone } = wordOf(step);
  return element('span', { class: `tag ${tone}` }, word);
}

/** Returns the content of a line; `isOpen` if its premises are shown. */
export function stepLine(row: ForestRow, isOpen: boolean): Node[] {
  const { step, level } = row;
  const depth = level - 1;
  const indent = element('span', { class: 'indent', 'aria-hidden': 'true' });
  indent.style.setProperty('--depth', String(Math.min(depth, maxIndent)));
  const fold = element('span', {
    class: `fold ${canUnfold(row) ? (isOpen ? 'open' : 'closed') : ''}`.trim(),
    'aria-hidden': 'true',
  });
  const parts: Node[] = [indent];
  if (depth > maxIndent) parts.push(dim(String(depth), 'depth'));
  parts.push(fold, code(step === null ? row.conclusion.text : step.atom, 'atom', maxLineLength));
  if (step === null) return [...parts, dim('without its proof')];
  parts.push(kindTag(step));
  if (row.isReference && step.premises.length > 0) return [...parts, dim('shown above')];
  if (step.scope !== null) parts.push(dim(`in ${step.scope}`));
  const ways = step.alternatives?.length ?? 0;
  if (ways > 0) parts.push(dim(formatAmount(ways, 'other way')));
  if (step.rule !== null) parts.push(dim(`by ${step.rule}`, 'by'));
  if (canUnfold(row) && !isOpen) parts.push(dim(formatAmount(stepsUnder(row), 'step'), 'count'));
  return parts;
}

function dim(text: string, more = ''): HTMLElement {
  return element('span', { class: `dim ${more}`.trim() }, clipped(text, maxLineLength));
}
