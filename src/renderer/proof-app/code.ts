import { lexLine } from '../editor/lexer.ts';
import { element } from './dom.ts';

/** Returns the text, truncated beyond `most` characters. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  // Not between the halves of a surrogate pair.
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Maximum number of characters shown of one piece of code; a statement may have a million. */
const maxCharacters = 10_000;

/** Returns highlighted code of our language, at most `most` characters of it. */
export function code(text: string, more = '', most = maxCharacters): HTMLElement {
  const shown = clipped(text, most);
  const parts = lexLine(shown, false).tokens.map(({ start, end, kind }) => {
    const part = shown.slice(start, end);
    return kind === 'space' || kind === 'constant' ? part : element('span', { class: `code-${kind}` }, part);
  });
  return element('code', { class: `code ${more}`.trim() }, ...parts);
}
