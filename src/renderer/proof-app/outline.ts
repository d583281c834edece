import type { ProofStep } from '../../engine/contract/inference.ts';
import { activeRow, afterKey, afterOpening, type FoldState } from '../../proof/folds.ts';
import { cutText } from '../../proof/proof-text.ts';
import {
  isFoldable,
  isPointer,
  isProved,
  type OutlineRow,
  type ProofTree,
  visibleRows,
} from '../../proof/proof-tree.ts';
import { elsewhere, stepWords } from '../../proof/step-words.ts';
import { formatAmount } from '../ui/format.ts';
import { code, element } from './dom.ts';

/** In pixels; must match the style sheet. */
const rowHeight = 26;
/** Minimum number of visible lines. */
const minRows = 3;
/** Lines rendered beyond the edges. */
const overscan = 10;

/** Deeper levels are not indented further; they show their number. */
const maxIndent = 12;

/** Maximum number of characters of a line, which is cut at the edge anyway. */
const maxLineLength = 400;

/** Returns the kind of a step as a coloured word. */
export function kindTag(step: ProofStep): HTMLElement {
  const { word, tone } = stepWords[step.kind];
  const tag = element('span', { class: 'tag' }, word);
  tag.style.color = `var(--${tone})`;
  tag.style.background = `var(--${tone}-surface)`;
  return tag;
}

/** The content of a line: depth, statement, kind and rule; `isOpen` if its premises are shown. */
function stepLine(row: OutlineRow, isOpen: boolean): Node[] {
  const { tree, step, level } = row;
  const depth = level - 1;
  const indent = element('span', { class: 'indent', 'aria-hidden': 'true' });
  indent.style.setProperty('--depth', String(Math.min(depth, maxIndent)));
  const fold = element('span', {
    class: `fold ${isFoldable(row) ? (isOpen ? 'open' : 'closed') : ''}`.trim(),
    'aria-hidden': 'true',
  });
  const parts: Node[] = [indent];
  if (depth > maxIndent) parts.push(dim(String(depth), 'depth'));
  parts.push(fold, code(step.atom, 'atom', maxLineLength));
  if (!isProved(tree)) return [...parts, dim('without its proof')];
  parts.push(kindTag(step));
  if (isPointer(row)) return [...parts, dim(elsewhere(row.isCircle))];
  if (step.scope !== null) parts.push(dim(`in ${step.scope}`));
  const ways = step.alternatives?.length ?? 0;
  if (ways > 0) parts.push(dim(formatAmount(ways, 'other way')));
  if (step.rule !== null) parts.push(dim(`by ${step.rule}`, 'by'));
  if (isFoldable(row) && !isOpen) parts.push(dim(formatAmount(tree.sizeOf(step.id) - 1, 'step'), 'count'));
  return parts;
}

function dim(text: string, more = ''): HTMLElement {
  return element('span', { class: `dim ${more}`.trim() }, cutText(text, maxLineLength));
}

/**
 * The outline on the page: an ARIA tree that renders only visible lines.
 *
 * One tab stop; keys (folds.ts) and the pointer move the cursor. The owner holds the unfolded steps and the
 * cursor: it shows a state and receives the next one.
 */
export class Outline {
  readonly element = element('div', { role: 'tree', tabindex: 0, class: 'outline', 'aria-label': 'Proof' });
  readonly #body = element('div', { role: 'presentation', class: 'lines' });
  readonly #onState: (state: FoldState) => void;
  #trees: readonly ProofTree[] = [];
  #state: FoldState = { active: '', unfolded: new Set() };
  #rows: readonly OutlineRow[] = [];
  #isDrawing = false;

  constructor(onState: (state: FoldState) => void) {
    this.#onState = onState;
    this.element.append(this.#body);
    this.element.addEventListener('keydown', (event) => this.#pressed(event));
    this.element.addEventListener('click', (event) => this.#clicked(event));
    this.element.addEventListener('scroll', () => this.#drawSoon(), { passive: true });
    new ResizeObserver(() => this.#drawSoon()).observe(this.element);
  }

  /** The line under the cursor. */
  get active(): OutlineRow | null {
    return this.#rows[this.#activeIndex] ?? null;
  }

  /** Shows the answers in this state and scrolls to the cursor. */
  show(trees: readonly ProofTree[], state: FoldState): void {
    const isSame = trees === this.#trees && state.unfolded === this.#state.unfolded;
    if (!isSame) this.#rows = visibleRows(trees, state.unfolded);
    this.#trees = trees;
    this.#state = state;
    const least = Math.min(this.#rows.length, minRows);
    this.element.style.minHeight = `${least * rowHeight}px`;
    this.#body.style.height = `${this.#rows.length * rowHeight}px`;
    this.#showActive();
    this.#draw();
  }

  get #activeIndex(): number {
    return this.#rows.findIndex(({ key }) => key === this.#state.active);
  }

  #showActive(): void {
    const top = Math.max(0, this.#activeIndex) * rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight)
      this.element.scrollTop = top + rowHeight - clientHeight;
  }

  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - overscan);
    const last = Math.min(this.#rows.length, Math.ceil((scrollTop + clientHeight) / rowHeight) + overscan);
    const activeIndex = this.#activeIndex;
    const lines = this.#rows
      .slice(first, last)
      .map((row, place) => this.#line(row, first + place, first + place === activeIndex));
    this.#body.replaceChildren(...lines);
    if (activeIndex >= first && activeIndex < last)
      this.element.setAttribute('aria-activedescendant', `line-${activeIndex}`);
    else this.element.removeAttribute('aria-activedescendant');
  }

  #line(row: OutlineRow, index: number, isActive: boolean): HTMLElement {
    const isOpen = this.#state.unfolded.has(row.key);
    const line = element(
      'div',
      {
        id: `line-${index}`,
        role: 'treeitem',
        class: 'line',
        'data-index': index,
        'aria-level': row.level,
        'aria-posinset': row.position,
        'aria-setsize': row.siblings,
        'aria-selected': isActive ? 'true' : 'false',
        'aria-expanded': isFoldable(row) ? String(isOpen) : undefined,
      },
      ...stepLine(row, isOpen),
    );
    line.style.transform = `translateY(${index * rowHeight}px)`;
    return line;
  }

  #pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 1);
    const row = activeRow(this.#rows, this.#state.active);
    const isOpening = row !== undefined && (event.key === 'Enter' || event.key === ' ');
    const next = isOpening
      ? afterOpening(row, this.#state)
      : afterKey(event.key, this.#rows, this.#state, page);
    if (next === null) return;
    event.preventDefault();
    this.#onState(next);
  }

  /** A click moves the cursor; a click on the marker or a double click folds and unfolds. */
  #clicked(event: MouseEvent): void {
    if (!(event.target instanceof Element)) return;
    const row = this.#rows[Number(event.target.closest('.line')?.getAttribute('data-index') ?? -1)];
    if (row === undefined) return;
    const isOpening = event.detail === 2 || event.target.closest('.fold.open, .fold.closed') !== null;
    const { unfolded } = this.#state;
    this.#onState(isOpening ? afterOpening(row, this.#state) : { active: row.key, unfolded });
  }
}
