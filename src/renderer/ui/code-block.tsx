import styles from './code-block.module.css';

interface CodeBlockProps {
  /** Accessible name. */
  label: string;
  text: string;
  /** Limits its height among other content. */
  low?: boolean;
}

/** Shows preformatted text that scrolls if high. */
export function CodeBlock({ label, text, low = false }: CodeBlockProps) {
  return (
    <pre className={`mono ${styles.code} ${low ? styles.low : ''}`} tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
}
