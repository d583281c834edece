/** Lists the pasted lines that cannot be read, and offers to stage the rest. */
import { Button, Group, Modal } from '@mantine/core';
import { formatAmount, formatCount } from '../../ui/format.ts';
import styles from './facts.module.css';
import type { PastedRows } from './pasted-rows.ts';

/** Maximum number of problems listed. */
const maxShown = 100;

interface PasteDialogProps {
  pasted: PastedRows;
  onStage: () => void;
  /** Imports the pasted text as a table; null: it is not a table. */
  onTable: (() => void) | null;
  onClose: () => void;
}

/** The dialog about pasted text with unreadable lines. */
export function PasteDialog({ pasted, onStage, onTable, onClose }: PasteDialogProps) {
  const { format, facts, problems } = pasted;
  const more = problems.length - maxShown;
  return (
    <Modal opened onClose={onClose} title="Not all rows can be pasted" size="md">
      <p className={styles.dialogText}>
        Read as {format}: {formatAmount(facts.length, 'row')} can be staged, {problems.length} cannot. Nothing
        is staged yet.
      </p>
      <ul className={styles.pasteProblems} aria-label="Problems" tabIndex={0}>
        {problems.slice(0, maxShown).map((problem, index) => (
          // Messages can repeat; the list never changes.
          <li key={`${index} ${problem}`}>{problem}</li>
        ))}
        {more > 0 && <li className="dim">and {formatCount(more)} more</li>}
      </ul>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          Cancel
        </Button>
        {onTable !== null && (
          <Button variant="default" onClick={onTable}>
            Read as a table…
          </Button>
        )}
        <Button disabled={facts.length === 0} onClick={onStage}>
          Stage {formatAmount(facts.length, 'row')}
        </Button>
      </Group>
    </Modal>
  );
}
