/** Finds a control on screen by role and accessible name, so that views need no hooks for the tour. */
export interface ControlName {
  readonly role: 'button' | 'textbox';
  readonly name: string;
}

const candidates: Record<ControlName['role'], string> = {
  button: 'button',
  textbox: 'textarea, input, [role="textbox"]',
};

function nameOf(element: HTMLElement): string {
  return (element.getAttribute('aria-label') ?? element.textContent).trim();
}

/** True if the element has a size on screen and nothing hides it. */
function isSeen(element: HTMLElement): boolean {
  return element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
}

/** Shortcut hints in a button are not part of its name. */
function isCalled(element: HTMLElement, name: string): boolean {
  const called = nameOf(element);
  return called === name || (called.startsWith(name) && element.querySelector('kbd') !== null);
}

function isUsable(element: HTMLElement): boolean {
  return !element.matches(':disabled, [data-disabled], [aria-disabled="true"]');
}

/** Returns the element to point at: for an editor the whole of it, since its input field has no size. */
export function pointedElementOf(control: HTMLElement): HTMLElement {
  return control.closest<HTMLElement>('.monaco-editor') ?? control;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

/** True if the field or editor contains the text, ignoring line breaks. */
function holds(control: HTMLElement, text: string): boolean {
  const shown = pointedElementOf(control).querySelector('.view-lines')?.textContent;
  const typed = shown ?? ('value' in control ? String(control.value) : '');
  return withoutSpace(typed).includes(withoutSpace(text));
}

/**
 * Returns the control to use next of `names`: the field that still lacks `text`, else the last enabled one on screen,
 * else the last on screen; null if none is.
 */
export function findControl(names: readonly ControlName[], text = ''): HTMLElement | null {
  // Controls behind a dialog are not next.
  const dialogs = document.querySelectorAll<HTMLElement>('[role="dialog"]');
  const within: ParentNode = [...dialogs].findLast(isSeen) ?? document;
  const found = names.flatMap(({ role, name }) => {
    const element = [...within.querySelectorAll<HTMLElement>(candidates[role])].find(
      (one) => isCalled(one, name) && isSeen(one) && one.closest('[data-tour]') === null,
    );
    return element === undefined ? [] : [{ role, element }];
  });
  const empty = found.find(({ role, element }) => role === 'textbox' && !holds(element, text));
  const next = empty ?? found.findLast(({ element }) => isUsable(element)) ?? found.at(-1);
  return next?.element ?? null;
}
