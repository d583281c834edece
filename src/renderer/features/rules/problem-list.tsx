/** What is wrong with the text of the editor, each line leading to its place. */
import { IconAlertTriangle, IconCircleX, IconInfoCircle } from '@tabler/icons-react';
import type { Diagnostic } from '../../../engine/contract/rules.ts';
import styles from './rules.module.css';

const icons = {
  error: <IconCircleX size={15} aria-hidden className={styles.error} />,
  warning: <IconAlertTriangle size={15} aria-hidden className={styles.warning} />,
  info: <IconInfoCircle size={15} aria-hidden />,
} as const;

interface ProblemListProps {
  diagnostics: readonly Diagnostic[];
  onGoTo: (line: number, column: number) => void;
}

export function ProblemList({ diagnostics, onGoTo }: ProblemListProps) {
  if (diagnostics.length === 0) return null;
  return (
    <ul className={styles.problems} aria-label="Problems">
      {diagnostics.map((diagnostic) => {
        const { severity, message, startLine, startColumn, code } = diagnostic;
        return (
          <li key={`${startLine}:${startColumn} ${code} ${message}`}>
            <button type="button" onClick={() => onGoTo(startLine, startColumn)}>
              {icons[severity]}
              <span className="visually-hidden">{severity}: </span>
              <span className={styles.message}>{message}</span>
              <span className="dim number">
                {startLine}:{startColumn}
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
