import { Button, Modal } from '@mantine/core';
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react';
import { useHistory } from '../../api/history.ts';
import { StepList } from '../../ui/blocks.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import styles from './shell.module.css';

/** Lists the steps of this window, with undo and redo. */
export function HistoryDialog({ onClose }: { onClose: () => void }) {
  const { done, undone, next, running, failure, take } = useHistory();
  return (
    <Modal opened onClose={onClose} title="Undo history" size="md">
      <p className="dim">
        What you did in this window to the knowledge of this database and tenant. Every step back is a change
        of its own, and refused where somebody else changed the same since.
      </p>
      <StepList done={done} undone={undone} />
      {failure !== null && <ProblemNotice failure={failure} />}
      <div className={`to-end flex gap-8 ${styles.historyActions}`}>
        <Button
          variant="default"
          leftSection={<IconArrowForwardUp size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Y" look="plain" />}
          disabled={next.redo === null || running !== null}
          loading={running === 'redo'}
          onClick={() => void take('redo')}
        >
          Redo
        </Button>
        <Button
          leftSection={<IconArrowBackUp size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Z" look="plain" />}
          disabled={next.undo === null || running !== null}
          loading={running === 'undo'}
          onClick={() => void take('undo')}
        >
          Undo
        </Button>
      </div>
    </Modal>
  );
}
