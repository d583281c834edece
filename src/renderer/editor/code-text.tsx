import { Link } from '@tanstack/react-router';
import { Fragment, memo } from 'react';
import type { Atom } from '../../engine/contract/language.ts';
import { parseFreeTextLine } from '../../engine/language/parse.ts';
import { renderConstant } from '../../engine/language/print.ts';
import { EntityLink } from '../ui/knowledge-links.tsx';
import styles from './code-text.module.css';
import { lexLine } from './lexer.ts';

interface CodeTextProps {
  text: string;
  /** Disables line breaks. */
  isLine?: boolean;
}

/** Shows highlighted code of our language; meant for an atom or a rule, not for whole files. */
export const CodeText = memo(function CodeText({ text, isLine = false }: CodeTextProps) {
  const { tokens } = lexLine(text, false);
  return (
    <code className={`${styles.code} ${isLine ? styles.line : ''}`}>
      {tokens.map((token) => {
        const part = text.slice(token.start, token.end);
        const style = styles[token.kind];
        return style === undefined ? (
          part
        ) : (
          <span key={token.start} className={style}>
            {part}
          </span>
        );
      })}
    </code>
  );
});

/** Shows one line of code, with the whole text as a tooltip if truncated. */
export function CodeLine({ text }: { text: string }) {
  return (
    <span title={text}>
      <CodeText isLine text={text} />
    </span>
  );
}

/** Shows an atom that links to its proof. */
export function AtomLink({ atom }: { atom: string }) {
  return (
    <Link to="/proof" search={{ question: atom }} className={styles.link ?? ''}>
      <CodeText text={atom} />
    </Link>
  );
}

/** The ground atom of a text; null if it is something else, such as a comparison or an absence. */
function atomOf(text: string): Atom | null {
  const [statement, ...more] = parseFreeTextLine(text) ?? [];
  return statement?.kind === 'fact' && more.length === 0 ? statement.atom : null;
}

/** Shows a ground atom whose constants link to the pages of their entities; any other text as code. */
export const LinkedAtom = memo(function LinkedAtom({ text }: { text: string }) {
  const atom = atomOf(text);
  if (atom === null) return <CodeText text={text} />;
  const { predicate, args, negated } = atom;
  return (
    <code className={styles.code}>
      {negated && <span className={styles.operator}>-</span>}
      <span className={styles.predicate}>{predicate}</span>(
      {args.map((term, position) => (
        // Arguments are identified by position.
        // eslint-disable-next-line react/no-array-index-key
        <Fragment key={position}>
          {position > 0 && ', '}
          <EntityLink constant={term}>{renderConstant(term)}</EntityLink>
        </Fragment>
      ))}
      )
    </code>
  );
});
