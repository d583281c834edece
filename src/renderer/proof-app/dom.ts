/** Creation of elements. Text is always set as text: nothing here parses markup. */
import { cutText } from '../../proof/proof-text.ts';
import { lexLine } from '../../editing/lexer.ts';

interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

/** Returns an element. Attributes that are undefined or false are omitted; true sets an empty value. */
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

/** Returns a button; `name` stays the same even if the label changes. */
export function button(label: string, onPress: () => void, name = label): HTMLButtonElement {
  const made = element('button', { type: 'button', name }, label);
  made.addEventListener('click', onPress);
  return made;
}

/** Maximum number of characters shown of one piece of code; a statement may have a million. */
const maxCharacters = 10_000;

/** Returns highlighted code of our language, at most `most` characters of it. */
export function code(text: string, more = '', most = maxCharacters): HTMLElement {
  const shown = cutText(text, most);
  const parts = lexLine(shown, false).tokens.map(({ start, end, kind }) => {
    const text = shown.slice(start, end);
    if (kind === 'space' || kind === 'constant') return text;
    const part = element('span', { class: `code-${kind}` }, text);
    part.style.color = `var(--code-${kind})`;
    return part;
  });
  return element('code', { class: `code ${more}`.trim() }, ...parts);
}
