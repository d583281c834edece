import { Button, CloseButton } from '@mantine/core';
import { entryWords, outcomeTitle, UndoButton } from './import-result.tsx';
import { useUnsaved } from '../../ui/unsaved.ts';
import { isAllSent, phaseOf, ProgressBar, progressOf } from './import-progress.tsx';
import { type ImportEntry, useTransfers } from './transfer-state.ts';
import { cancel, dismiss, isRunning } from './transfer-store.ts';
import styles from './transfer.module.css';

function Running({ entry, onShow }: { entry: ImportEntry; onShow: () => void }) {
  const { state, plan, number } = entry;
  const { share } = progressOf(state, plan.file.size, performance.now());
  const phase = phaseOf(state, false);
  return (
    <>
      <span>
        {phase}: <strong>{plan.file.name}</strong>
      </span>
      <ProgressBar label={phase} share={state.kind === 'sending' && isAllSent(state) ? null : share} />
      <div className={styles.actions}>
        <Button size="compact-xs" variant="default" onClick={onShow}>
          Show
        </Button>
        <Button
          size="compact-xs"
          variant="light"
          color="red"
          disabled={state.kind === 'stopping'}
          onClick={() => cancel(number)}
        >
          Cancel
        </Button>
      </div>
    </>
  );
}

function Ended({ entry, onShow }: { entry: ImportEntry; onShow: () => void }) {
  return (
    <>
      <div className={`flex-row gap-8 ${styles.file}`}>
        <strong className={`truncate ${styles.grow}`}>
          {outcomeTitle(entry.state, entry.plan.file.name)}
        </strong>
        <CloseButton size="sm" aria-label="Close the notice" onClick={() => dismiss(entry.number)} />
      </div>
      <span role="status">{entryWords(entry)}</span>
      <div className={styles.actions}>
        <UndoButton entry={entry} size="compact-xs" />
        <Button size="compact-xs" variant="default" onClick={onShow}>
          Show
        </Button>
      </div>
    </>
  );
}

interface ImportNoticeProps {
  /** The dialog is open and shows everything. */
  isDialogOpen: boolean;
  onShow: () => void;
}

/** Shows the running import, then its result, in the corner while the dialog is closed, until dismissed. */
export function ImportNotice({ isDialogOpen, onShow }: ImportNoticeProps) {
  const entry = useTransfers((state) => state.imports[0]);
  const dismissed = useTransfers((state) => state.dismissed);
  const runs = entry !== undefined && isRunning(entry);
  useUnsaved(runs ? `The import of ${entry.plan.file.name} is under way.` : null);
  if (entry === undefined || isDialogOpen || entry.number === dismissed) return null;
  return (
    <section className={styles.notice} aria-label="Import">
      {runs ? <Running entry={entry} onShow={onShow} /> : <Ended entry={entry} onShow={onShow} />}
    </section>
  );
}
