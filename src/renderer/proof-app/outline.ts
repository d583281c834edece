import { element } from './dom.ts';
import { type ProvedAnswer, canUnfold, type ForestRow, forestRows, isUnfolded } from './forest.ts';
import { forestAfterKey, afterOpening, type ForestState } from './forest-keys.ts';
import { stepLine } from './step-line.ts';

/** In pixels; must match the style sheet. */
const rowHeight = 26;
/** Minimum number of visible lines. */
const minRows = 3;
/** Lines rendered beyond the edges. */
const overscan = 10;

/**
 * The outline on the page: an ARIA tree that renders only visible lines.
 *
 * One tab stop; keys (forest-keys.ts) and the pointer move the cursor. The owner holds the unfolded steps and the
 * cursor: it shows a state and receives the next one.
 */
export class Outline {
  readonly element = element('div', { role: 'tree', tabindex: 0, class: 'outline', 'aria-label': 'Proof' });
  readonly #body = element('div', { role: 'presentation', class: 'lines' });
  readonly #onState: (state: ForestState) => void;
  #conclusions: readonly ProvedAnswer[] = [];
  #state: ForestState = { active: '', unfolded: new Map() };
  #rows: readonly ForestRow[] = [];
  #isDrawing = false;

  constructor(onState: (state: ForestState) => void) {
    this.#onState = onState;
    this.element.append(this.#body);
    this.element.addEventListener('keydown', (event) => this.#pressed(event));
    this.element.addEventListener('click', (event) => this.#clicked(event));
    this.element.addEventListener('scroll', () => this.#drawSoon(), { passive: true });
    new ResizeObserver(() => this.#drawSoon()).observe(this.element);
  }

  /** The line under the cursor. */
  get active(): ForestRow | null {
    return this.#rows[this.#activeIndex] ?? null;
  }

  /** Shows the answers in this state and scrolls to the cursor. */
  show(conclusions: readonly ProvedAnswer[], state: ForestState): void {
    const isSame = conclusions === this.#conclusions && state.unfolded === this.#state.unfolded;
    if (!isSame) this.#rows = forestRows(conclusions, state.unfolded);
    this.#conclusions = conclusions;
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

  #line(row: ForestRow, index: number, isActive: boolean): HTMLElement {
    const isOpen = isUnfolded(row, this.#state.unfolded);
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
        'aria-expanded': canUnfold(row) ? String(isOpen) : undefined,
      },
      ...stepLine(row, isOpen),
    );
    line.style.transform = `translateY(${index * rowHeight}px)`;
    return line;
  }

  #pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 1);
    const next = forestAfterKey(event.key, this.#rows, this.#state, page);
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
