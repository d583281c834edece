import { lexLine } from '../editor/lexer.ts';
import { element } from './dom.ts';

/** The text, cut where it is longer than `most`. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  // A cut between the halves of a surrogate pair would not be text.
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Characters of one piece of code that are shown in full; a statement may have a million. */
const mostCharacters = 10_000;

/** Code of our language with its colours, at most `most` characters of it. */
export function code(text: string, more = '', most = mostCharacters): HTMLElement {
  const shown = clipped(text, most);
  const parts = lexLine(shown, false).tokens.map(({ start, end, kind }) => {
    const part = shown.slice(start, end);
    return kind === 'space' || kind === 'constant' ? part : element('span', { class: `code-${kind}` }, part);
  });
  return element('code', { class: `code ${more}`.trim() }, ...parts);
}
