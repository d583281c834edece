import { lexLine } from '../editor/lexer.ts';
import { element } from './dom.ts';

/** Code of our language with its colours. */
export function code(text: string, more = ''): HTMLElement {
  const parts = lexLine(text, false).tokens.map(({ start, end, kind }) => {
    const part = text.slice(start, end);
    return kind === 'space' || kind === 'constant' ? part : element('span', { class: `code-${kind}` }, part);
  });
  return element('code', { class: `code ${more}`.trim() }, ...parts);
}
