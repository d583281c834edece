/** Moves the focus from pane to pane: title bar, tools, the panes of the view, and what is beside it. */

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), [tabindex="0"], [contenteditable="true"]';

/** The element of each pane that had the focus last. */
const last = new WeakMap<Element, HTMLElement>();

/** Returns the panes in the order of the page. */
function panesOf(page: ParentNode): HTMLElement[] {
  const main = page.querySelector('main');
  const parts = [...(main?.querySelectorAll<HTMLElement>('[data-panel]') ?? [])].filter(
    (part) => part.querySelector('[data-panel]') === null,
  );
  const shown = parts.length > 0 || main === null ? parts : [main];
  const around = [...page.querySelectorAll<HTMLElement>('[data-pane]')];
  const isBefore = (pane: HTMLElement) =>
    main !== null && (pane.compareDocumentPosition(main) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const ordered = [...around.filter(isBefore), ...shown, ...around.filter((pane) => !isBefore(pane))];
  return ordered.filter((pane) => targetIn(pane) !== null);
}

function targetIn(pane: HTMLElement): HTMLElement | null {
  const before = last.get(pane);
  if (before !== undefined && pane.contains(before)) return before;
  const elements = pane.querySelectorAll<HTMLElement>(focusable);
  return [...elements].find((element) => element.checkVisibility()) ?? null;
}

/** Focuses the pane `step` positions further, wrapping around. A dialog keeps the focus. */
export function focusPane(step: 1 | -1): void {
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return;
  const panes = panesOf(document);
  const { activeElement } = document;
  const at = panes.findIndex((pane) => pane.contains(activeElement));
  const current = panes[at];
  if (current !== undefined && activeElement instanceof HTMLElement) last.set(current, activeElement);
  const next = at === -1 ? (step === 1 ? 0 : panes.length - 1) : (at + step + panes.length) % panes.length;
  const pane = panes[next];
  if (pane !== undefined) targetIn(pane)?.focus();
}
