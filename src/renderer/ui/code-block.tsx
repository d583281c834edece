/** A text that is shown as it is, and scrolls where it is high. */
import styles from './code-block.module.css';

interface CodeBlockProps {
  /** What it is, for those who do not see it. */
  label: string;
  text: string;
  /** Where it stands among other things. */
  low?: boolean;
}

export function CodeBlock({ label, text, low = false }: CodeBlockProps) {
  return (
    <pre className={`mono ${styles.code} ${low ? styles.low : ''}`} tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
}
