/** What forgetting and consolidating would do, measured before it is done, and the restoring of what was forgotten. */
import { Button, Group, Modal } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import type { MemoryStats } from '../../../engine/contract/memory.ts';
import { noteGone } from '../../api/live.ts';
import { type ApiFailure, apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { scopeLabel } from '../../api/space.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatAmount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { Tag } from '../../ui/tags.tsx';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import { type NewRun, noteRun } from './memory-runs.ts';
import { type Remembered, rememberedAtomOf } from './remembered.ts';
import { askStats } from './use-memory.ts';

/** A measured write. */
interface Measured {
  readonly isRunning: boolean;
  readonly failure: ApiFailure | null;
  /** Does the work, records its result as a run, then calls `onDone`. Failures go into `failure`. */
  start(
    work: () => Promise<Pick<NewRun, 'kind' | 'outcome' | 'list' | 'atoms'>>,
    onDone: (outcome: string) => void,
  ): void;
}

/** Returns a runner for writes that change much of the memory, with the figures before and after. */
function useMeasured(): Measured {
  const session = useSession();
  const [isRunning, setIsRunning] = useState(false);
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const { database, tenant, scope } = session.space;

  async function statsAfterwards(): Promise<MemoryStats | null> {
    try {
      return await askStats(session);
    } catch {
      // The write succeeded: the run is recorded without the figures after it.
      return null;
    }
  }

  const start: Measured['start'] = (work, onDone) => {
    async function measure(): Promise<void> {
      setIsRunning(true);
      setFailure(null);
      try {
        const before = await askStats(session);
        const run = await work();
        const after = await statsAfterwards();
        noteRun({ ...run, at: Date.now(), database, tenant, where: scopeLabel(scope), before, after });
        onDone(run.outcome);
      } catch (error) {
        setFailure(apiFailureOf(error));
      } finally {
        setIsRunning(false);
      }
    }
    void measure();
  };
  return { isRunning, failure, start };
}

interface MeasuredDialogProps {
  title: string;
  /** What is removed and what remains. */
  children: ReactNode;
  /** Label of the cancel button. */
  keep: string;
  action: string;
  isDestructive: boolean;
  work: Parameters<Measured['start']>[0];
  onClose: () => void;
}

/** Asks for confirmation of a write that changes much of the memory, does it and records the run. */
export function MeasuredDialog(props: MeasuredDialogProps) {
  const { title, children, keep, action, isDestructive, work, onClose } = props;
  const { isRunning, failure, start } = useMeasured();
  const isDone = useRef(false);
  // The opener may be gone; the part that contained it is not.
  useReturnedFocus(() =>
    isDone.current ? document.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]') : null,
  );

  function onDone(outcome: string): void {
    isDone.current = true;
    notifyDone(`${outcome}.`);
    onClose();
  }

  return (
    <Modal opened onClose={onClose} title={title} size="md">
      {children}
      {failure !== null && <ProblemNotice failure={failure} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus={isDestructive}>
          {keep}
        </Button>
        <Button
          {...(isDestructive ? { color: 'red' } : {})}
          data-autofocus={!isDestructive}
          loading={isRunning}
          onClick={() => start(work, onDone)}
        >
          {action}
        </Button>
      </Group>
    </Modal>
  );
}

/** Restoring summaries. */
export interface Restoring {
  readonly isRunning: boolean;
  readonly failure: ApiFailure | null;
  restore(summary: Pick<Remembered, 'id' | 'predicate' | 'args' | 'negated'>): void;
}

/** Returns how to restore the facts of a summary. */
export function useRestoring(): Restoring {
  const { mutateAsync } = useWrite('restore');
  const { isRunning, failure, start } = useMeasured();

  function restore(summary: Parameters<Restoring['restore']>[0]): void {
    const { id } = summary;
    if (id === null || isRunning) return;
    start(
      async () => {
        const { restored, atoms } = await mutateAsync({ body: { id } });
        noteGone([id]);
        const outcome = `Restored ${formatAmount(restored, 'fact')} from ${rememberedAtomOf(summary)}`;
        return { kind: 'restore', outcome, list: 'Restored', atoms };
      },
      (outcome) => notifyDone(outcome),
    );
  }
  return { isRunning, failure, restore };
}

interface AtomRow {
  readonly atom: string;
  readonly word: string | null;
}

const factColumn: Column<AtomRow> = {
  id: 'fact',
  title: 'Fact',
  width: 220,
  most: 720,
  cell: ({ atom }) => <CodeLine text={atom} />,
};

const wordColumn: Column<AtomRow> = {
  id: 'why',
  title: 'Why',
  width: 100,
  cell: ({ word }) => word !== null && <Tag>{word}</Tag>,
};

interface AtomListProps {
  label: string;
  atoms: readonly string[];
  /** Returns why the fact at an index is listed. */
  wordAt?: (index: number) => string;
  /** Enter or double click. */
  onOpen?: (atom: string) => void;
}

/** Lists facts known only by their text. */
export function AtomList({ label, atoms, wordAt, onOpen }: AtomListProps) {
  const [selected, setSelected] = useState<number | null>(null);
  return (
    <DataGrid
      label={label}
      columns={wordAt === undefined ? [factColumn] : [factColumn, wordColumn]}
      count={atoms.length}
      rowAt={(index) => {
        const atom = atoms[index];
        return atom === undefined ? undefined : { atom, word: wordAt?.(index) ?? null };
      }}
      selected={selected}
      onSelect={setSelected}
      onOpen={(index) => {
        const atom = atoms[index];
        if (atom !== undefined) onOpen?.(atom);
      }}
    />
  );
}
