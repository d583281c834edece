/**
 * Finding a control on screen by its role and its name, as a person does and as assistive technology does. Views need
 * not know that they are pointed at.
 */
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

/** True where it can be seen: it has a place on screen and nothing hides it. */
function isSeen(element: HTMLElement): boolean {
  return element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
}

/** Keys that a button shows are no part of what it is called. */
function isCalled(element: HTMLElement, name: string): boolean {
  const called = nameOf(element);
  return called === name || (called.startsWith(name) && element.querySelector('kbd') !== null);
}

function isUsable(element: HTMLElement): boolean {
  return !element.matches(':disabled, [data-disabled], [aria-disabled="true"]');
}

/**
 * What of the page is pointed at for a control: of an editor the whole of it, since what takes the text there is a
 * field without size.
 */
export function pointedElementOf(control: HTMLElement): HTMLElement {
  return control.closest<HTMLElement>('.monaco-editor') ?? control;
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '');
}

/** True where the text stands in the field or the editor, however it is broken into lines. */
function holds(control: HTMLElement, text: string): boolean {
  const shown = pointedElementOf(control).querySelector('.view-lines')?.textContent;
  const typed = shown ?? ('value' in control ? String(control.value) : '');
  return withoutSpace(typed).includes(withoutSpace(text));
}

/**
 * The control that one uses next of those in `names`: the field that `text` is still to be typed into, else the last on
 * screen that can be used, else the last on screen.
 */
export function findControl(names: readonly ControlName[], text = ''): HTMLElement | null {
  // What a dialog covers is not what one uses next.
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
