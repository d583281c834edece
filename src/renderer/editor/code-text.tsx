import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import styles from './code-text.module.css';
import { lexLine } from '../../editing/lexer.ts';

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
