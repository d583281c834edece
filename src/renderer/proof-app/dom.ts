/** Elements with their text. Text goes in as text alone: nothing here reads markup. */

interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

/** An element; attributes that are undefined or false are left out, true stands without a value. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined && value !== false)
      made.setAttribute(attribute, value === true ? '' : String(value));
  made.append(...children);
  return made;
}

/** A button; `name` stays the same where the label does not. */
export function button(label: string, onPress: () => void, name = label): HTMLButtonElement {
  const made = element('button', { type: 'button', name }, label);
  made.addEventListener('click', onPress);
  return made;
}
