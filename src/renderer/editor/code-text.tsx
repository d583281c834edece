/** Code of our language as text with its colours; for one atom or one rule, not for whole files. */
import { memo } from 'react';
import styles from './code-text.module.css';
import { lexLine } from './lexer.ts';

interface CodeTextProps {
  text: string;
  /** Never broken into lines. */
  isLine?: boolean;
}

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

/** One line of code, its whole text as the tooltip where the place is narrower. */
export function CodeLine({ text }: { text: string }) {
  return (
    <span title={text}>
      <CodeText isLine text={text} />
    </span>
  );
}
