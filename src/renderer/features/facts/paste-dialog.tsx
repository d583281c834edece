/** What was pasted and cannot be read, by its line, with the way to stage the rest. */
import { Button, Group, Modal } from '@mantine/core';
import { formatAmount } from '../../ui/format.ts';
import styles from './facts.module.css';
import type { PastedRows } from './pasted-rows.ts';

/** The first ones show what is the matter. */
const mostShown = 100;

interface PasteDialogProps {
  pasted: PastedRows;
  onStage: () => void;
  /** Reads what was pasted as a table of which the columns are chosen; null: it is none. */
  onTable: (() => void) | null;
  onClose: () => void;
}

export function PasteDialog({ pasted, onStage, onTable, onClose }: PasteDialogProps) {
  const { format, facts, problems } = pasted;
  const more = problems.length - mostShown;
  return (
    <Modal opened onClose={onClose} title="Not all rows can be pasted" size="md">
      <p className={styles.dialogText}>
        Read as {format}: {formatAmount(facts.length, 'row')} can be staged, {problems.length} cannot. Nothing
        is staged yet.
      </p>
      <ul className={styles.pasteProblems} aria-label="What is wrong" tabIndex={0}>
        {problems.slice(0, mostShown).map((problem, index) => (
          // Two lines may be wrong in the same words; the list never changes.
          <li key={`${index} ${problem}`}>{problem}</li>
        ))}
        {more > 0 && <li className="dim">and {more.toLocaleString('en')} more</li>}
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
