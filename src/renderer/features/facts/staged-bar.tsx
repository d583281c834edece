/**
 * The bar below the grid: the effect of Apply, undo and redo, and conflicts. Its owner shows it while something
 * is staged or can be undone.
 */
import { ActionIcon, Button, Loader, Modal, Popover } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconArrowsSplit2,
  IconHistory,
  IconX,
} from '@tabler/icons-react';
import { useState } from 'react';
import { Permitted } from '../../api/permitted.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { consequencesInWords } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { StepList } from '../../ui/blocks.tsx';
import { KeyCaps, keysLabel } from '../../ui/tags.tsx';
import { EditMark } from './fact-columns.tsx';
import { fieldText, fieldWord, renderFact } from './render-fact.ts';
import styles from './facts.module.css';
import { type EditConflict, keepMine, withMineKept } from './staged-conflicts.ts';
import {
  editCountsOf,
  fieldDifferences,
  type FactContent,
  type StagedEdits,
  unstage,
} from './staged-edits.ts';
import type { Staging } from './use-staging.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

function Counts({ edits }: { edits: StagedEdits }) {
  const counts = editCountsOf(edits);
  return (
    <span className="inline-row gap-4-8 flex-wrap">
      <strong className="number">{formatCount(edits.length)} staged</strong>
      {(['added', 'changed', 'removed'] as const)
        .filter((kind) => counts[kind] > 0)
        .map((kind) => (
          <EditMark key={kind} kind={kind} count={counts[kind]} />
        ))}
    </span>
  );
}

/** The effect of Apply in words. */
function Effect({ staging }: { staging: Staging }) {
  const { preview, clashes, running } = staging;
  if (clashes.size > 0)
    return (
      <span className="text-bad">{formatAmount(clashes.size, 'row')} would be the same fact as another.</span>
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
      <span className="text-bad" title={`Request ${preview.failure.requestId}`}>
        The effect is unknown: {preview.failure.detail}
      </span>
    );
  if (preview.preview === null)
    return preview.isAutomatic ? null : (
      <Button variant="subtle" onClick={preview.workOut}>
        Work out the effect
      </Button>
    );
  const { conflicts, changes, consequences } = preview.preview;
  if (conflicts.length > 0) return null;
  if (changes.length === 0) return <span className="dim">Nothing would change.</span>;
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
        {formatAmount(count, 'staged row')} will be dropped; none of them was stored. You can still undo this
        until the window is closed.
      </p>
      <div className="to-end flex gap-8">
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
    <div className={`controls-bar gap-4-12 ${styles.barLine}`}>
      {edits.length === 0 ? <span className="dim">Nothing is staged.</span> : <Counts edits={edits} />}
      <span className={styles.effect} role="status">
        {edits.length === 0 ? null : <Effect staging={staging} />}
      </span>
      <span className="flex-row gap-6 to-right">
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

/** The bar of staged edits. */
export function StagedBar(props: StagedBarProps) {
  const { staging, onShow } = props;
  const { edits, failure, isPersisted, preview, said } = staging;
  const [isDropping, setIsDropping] = useState(false);
  const conflicts = preview.preview?.conflicts ?? [];
  return (
    <section className={`flex-column fixed-size on-panel ${styles.bar}`} aria-label="Staged edits">
      {conflicts.length > 0 && <ConflictList conflicts={conflicts} staging={staging} onShow={onShow} />}
      {failure !== null && (
        <div className={`align-start flex gap-6 scrolls ${styles.barFailure}`}>
          <ProblemNotice failure={failure} />
          <ActionIcon aria-label="Dismiss" onClick={staging.dismissFailure}>
            <IconX size={15} aria-hidden />
          </ActionIcon>
        </div>
      )}
      {!isPersisted && (
        <p className={styles.barNote}>
          The browser has no room for the staged edits: they will be lost when this window closes.
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

function whatHappened({ kind, mine, theirs }: EditConflict): string {
  if (kind === 'exists') return 'is already stored with different content';
  if (theirs === null) return 'was removed by someone else after you edited it';
  return mine === null
    ? 'was changed by someone else after you marked it removed'
    : 'was changed by someone else after you edited it';
}

/** The fields that differ between any two versions. */
function fieldsOf(versions: readonly (FactContent | null)[]): (keyof FactContent)[] {
  const [first, ...others] = versions.filter((version) => version !== null);
  if (first === undefined) return [];
  return [...new Set(others.flatMap((other) => fieldDifferences(first, other)))];
}

function Versions({ conflict }: { conflict: EditConflict }) {
  const { expected, theirs } = conflict;
  const rebased = withMineKept(conflict);
  const fields = fieldsOf([expected, theirs, rebased]);
  const columns = [
    ...(expected === null ? [] : [{ title: 'When you edited it', fact: expected }]),
    { title: 'Stored now', fact: theirs },
    { title: 'With mine kept', fact: rebased },
  ];
  if (fields.length === 0) return null;
  return (
    <table className={styles.versions}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          {columns.map(({ title }) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr key={field}>
            <th scope="row">{fieldWord(field)}</th>
            {columns.map(({ title, fact }) => (
              <td key={title} className={fact === null ? 'dim' : 'mono'}>
                {fact === null ? 'removed' : fieldText(fact, field)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ConflictItemProps {
  conflict: EditConflict;
  onShow: (id: string) => void;
  onDrop: () => void;
  onKeep: () => void;
}

function ConflictItem({ conflict, onShow, onDrop, onKeep }: ConflictItemProps) {
  const { expected, mine, theirs } = conflict;
  const fact = conflict.kind === 'exists' ? mine : expected;
  const name = fact === null ? '' : renderFact(fact);
  return (
    <li>
      <p>
        <CodeText text={name} />
        {fact !== null && fact.scope !== null && <span className="dim"> in scope {fact.scope}</span>}{' '}
        {whatHappened(conflict)}.
      </p>
      <Versions conflict={conflict} />
      <div className="flex-row flex-wrap gap-8">
        {theirs !== null && (
          <Button variant="default" aria-label={`Show theirs: ${name}`} onClick={() => onShow(theirs.id)}>
            Show theirs
          </Button>
        )}
        <Button variant="default" aria-label={`Drop mine: ${name}`} onClick={onDrop}>
          Drop mine
        </Button>
        <Button variant="default" aria-label={`Keep mine staged: ${name}`} onClick={onKeep}>
          Keep mine staged
        </Button>
      </div>
    </li>
  );
}

interface ConflictListProps {
  conflicts: readonly EditConflict[];
  staging: Staging;
  /** Opens a stored fact. */
  onShow: (id: string) => void;
}

/**
 * The edits whose facts someone else changed meanwhile: the versions side by side, and the ways to resolve
 * each.
 */
function ConflictList({ conflicts, staging, onShow }: ConflictListProps) {
  function resolve(label: string, change: (edits: StagedEdits, conflict: EditConflict) => StagedEdits) {
    return (list: readonly EditConflict[]) =>
      staging.stage(label, (edits) => list.reduce((rest, conflict) => change(rest, conflict), edits));
  }
  const drop = resolve('dropped mine where others changed it', (edits, { key }) => unstage(edits, key));
  const keep = resolve('kept mine over what others changed', keepMine);
  return (
    <section className={`flex-column line-below ${styles.conflicts}`} aria-label="Conflicts">
      <div className={`controls-bar gap-4-8 padded-6 ${styles.conflictsHead}`} role="alert">
        <IconArrowsSplit2 size={16} aria-hidden />
        <strong>{formatAmount(conflicts.length, 'staged row')} met a change made elsewhere.</strong>
        <span>Nothing is applied until you choose.</span>
        {conflicts.length > 1 && (
          <span className="flex gap-6 to-right">
            <Button variant="default" onClick={() => drop(conflicts)}>
              Drop all mine
            </Button>
            <Button variant="default" onClick={() => keep(conflicts)}>
              Keep all mine
            </Button>
          </span>
        )}
      </div>
      <ul tabIndex={0} aria-label="Rows in conflict">
        {conflicts.map((conflict) => (
          <ConflictItem
            key={`${conflict.key} ${conflict.kind}`}
            conflict={conflict}
            onShow={onShow}
            onDrop={() => drop([conflict])}
            onKeep={() => keep([conflict])}
          />
        ))}
      </ul>
    </section>
  );
}
