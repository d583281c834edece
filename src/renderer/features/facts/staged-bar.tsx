/**
 * Under the grid: what Apply will do, and the way back and forth. Shown while something is staged, or can be undone.
 */
import { ActionIcon, Button, Loader, Modal, Popover, Tooltip } from '@mantine/core';
import { IconArrowBackUp, IconArrowForwardUp, IconHistory, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { Permitted } from '../../api/permitted.tsx';
import { consequencesInWords } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { StepList } from '../../ui/step-list.tsx';
import { KeyCaps, keysLabel } from '../../ui/tags.tsx';
import { ConflictList } from './conflict-list.tsx';
import { EditMark } from './fact-columns.tsx';
import styles from './facts.module.css';
import { countsOf, type StagedEdits } from './staged-edits.ts';
import type { Staging } from './use-staging.ts';

function Counts({ edits }: { edits: StagedEdits }) {
  const counts = countsOf(edits);
  return (
    <span className={styles.counts}>
      <strong className="number">{formatCount(edits.length)} staged</strong>
      {(['added', 'changed', 'removed'] as const)
        .filter((kind) => counts[kind] > 0)
        .map((kind) => (
          <EditMark key={kind} kind={kind} count={counts[kind]} />
        ))}
    </span>
  );
}

/** What would follow from Apply, in words. */
function Effect({ staging }: { staging: Staging }) {
  const { preview, clashes, running } = staging;
  if (clashes.size > 0)
    return (
      <span className={styles.bad}>
        {formatAmount(clashes.size, 'row')} would be the same fact as another.
      </span>
    );
  if (running === 'apply')
    return (
      <span className="dim">
        <Loader size={12} /> Applying…
      </span>
    );
  if (preview.isRunning)
    return (
      <span className="dim">
        <Loader size={12} /> Working out what it would change…
      </span>
    );
  if (preview.failure !== null)
    return (
      <span className={styles.bad} title={`Request ${preview.failure.requestId}`}>
        What would follow is not known: {preview.failure.detail}
      </span>
    );
  if (preview.preview === null)
    return preview.isAutomatic ? null : (
      <Button variant="subtle" onClick={preview.workOut}>
        Work out what would follow
      </Button>
    );
  const { conflicts, changes, consequences } = preview.preview;
  if (conflicts.length > 0) return null;
  if (changes.length === 0) return <span className="dim">All is so already.</span>;
  return <span className="number">{consequencesInWords(consequences)}</span>;
}

function Steps({ staging }: { staging: Staging }) {
  const { history, running } = staging;
  const { done, undone, next } = history;
  const { undo: back, redo: forth } = next;
  return (
    <>
      <Tooltip label={back === null ? 'Nothing to undo' : `Undo: ${back.label} (${keysLabel('Mod+Z')})`}>
        <ActionIcon
          aria-label="Undo"
          disabled={back === null || running !== null}
          loading={running === 'undo'}
          onClick={() => void history.take('undo')}
        >
          <IconArrowBackUp size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label={forth === null ? 'Nothing to redo' : `Redo: ${forth.label} (${keysLabel('Mod+Y')})`}>
        <ActionIcon
          aria-label="Redo"
          disabled={forth === null || running !== null}
          loading={running === 'redo'}
          onClick={() => void history.take('redo')}
        >
          <IconArrowForwardUp size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Popover position="top-end" width={320} trapFocus>
        <Popover.Target>
          <ActionIcon aria-label="Steps">
            <IconHistory size={16} aria-hidden />
          </ActionIcon>
        </Popover.Target>
        <Popover.Dropdown aria-label="Steps">
          <StepList done={done} undone={undone} />
        </Popover.Dropdown>
      </Popover>
    </>
  );
}

function DropDialog({ count, onDrop, onClose }: { count: number; onDrop: () => void; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Revert all staged rows?" size="sm">
      <p className={styles.dialogText}>
        {formatAmount(count, 'staged row')} will be dropped; nothing of them was stored. You can still undo
        this until the window is closed.
      </p>
      <div className={styles.dialogActions}>
        <Button variant="default" onClick={onClose} data-autofocus>
          Keep them
        </Button>
        <Button color="red" onClick={onDrop}>
          Revert all
        </Button>
      </div>
    </Modal>
  );
}

interface StagedBarProps {
  staging: Staging;
  onApply: () => void;
  /** Opens a stored fact. */
  onShow: (id: string) => void;
}

function Line({ staging, onApply, onDrop }: StagedBarProps & { onDrop: () => void }) {
  const { edits, clashes, running, preview } = staging;
  const hasConflicts = (preview.preview?.conflicts.length ?? 0) > 0;
  return (
    <div className={styles.barLine}>
      {edits.length === 0 ? <span className="dim">Nothing is staged.</span> : <Counts edits={edits} />}
      <span className={styles.effect} role="status">
        {edits.length === 0 ? null : <Effect staging={staging} />}
      </span>
      <span className={styles.barActions}>
        <Steps staging={staging} />
        {edits.length > 0 && (
          <>
            <Button variant="default" disabled={running !== null} onClick={onDrop}>
              Revert all…
            </Button>
            <Permitted operation="commitTransaction">
              <Button
                loading={running === 'apply'}
                disabled={clashes.size > 0 || hasConflicts || running !== null}
                rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
                onClick={onApply}
              >
                Apply
              </Button>
            </Permitted>
          </>
        )}
      </span>
    </div>
  );
}

export function StagedBar(props: StagedBarProps) {
  const { staging, onShow } = props;
  const { edits, history, failure, isKept, preview, said } = staging;
  const { done, undone } = history;
  const [isDropping, setIsDropping] = useState(false);
  const conflicts = preview.preview?.conflicts ?? [];
  if (edits.length + done.length + undone.length === 0 && failure === null) return null;
  return (
    <section className={styles.bar} aria-label="Staged edits">
      {conflicts.length > 0 && <ConflictList conflicts={conflicts} staging={staging} onShow={onShow} />}
      {failure !== null && (
        <div className={styles.barFailure}>
          <ProblemNotice failure={failure} />
          <ActionIcon aria-label="Dismiss" onClick={staging.dismissFailure}>
            <IconX size={15} aria-hidden />
          </ActionIcon>
        </div>
      )}
      {!isKept && (
        <p className={styles.barNote}>
          The browser has no room for what is staged: it will be lost when this window is closed.
        </p>
      )}
      <Line {...props} onDrop={() => setIsDropping(true)} />
      <span className="visually-hidden" role="status">
        {said}
      </span>
      {isDropping && (
        <DropDialog
          count={edits.length}
          onClose={() => setIsDropping(false)}
          onDrop={() => {
            setIsDropping(false);
            staging.stage('reverted all', () => []);
          }}
        />
      )}
    </section>
  );
}
