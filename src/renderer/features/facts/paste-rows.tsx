/**
 * Stages rows pasted into the view as additions. If all lines can be read they are staged as one step;
 * otherwise nothing is staged until the user has seen the problems.
 */
import { Suspense, useEffect, useEffectEvent, useState } from 'react';
import type { PastedTable } from '../../api/delimited.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { formatAmount } from '../../ui/format.ts';
import { isTextField } from '../../ui/keys.ts';
import { lazyComponent } from '../../ui/later.tsx';
import { notifyDone, notifyHint, notifyTrouble } from '../../ui/notify.tsx';
import { keysLabel } from '../../ui/tags.tsx';
import type { PastedRows } from './pasted-rows.ts';
import { type FactContent, maxStagedRows } from './staged-edits.ts';
import { useArity } from './fact-columns.tsx';

const PasteDialog = lazyComponent(async () => (await import('./paste-dialog.tsx')).PasteDialog);

interface PasteRowsProps {
  /** The selected predicate; undefined: all. */
  predicate: string | undefined;
  onStage: (facts: readonly FactContent[]) => void;
  /** Imports the pasted text as a table. */
  onTable: (table: PastedTable) => void;
}

/** Text with unreadable lines, and the table it may be. */
interface Refused {
  readonly pasted: PastedRows;
  readonly table: PastedTable | null;
}

/** Handles pasting in the Facts view; shows a dialog if lines cannot be read. */
export function PasteRows({ predicate, onStage, onTable }: PasteRowsProps) {
  const [refused, setRefused] = useState<Refused | null>(null);
  const arity = useArity(predicate);
  const reason = useReason('commitTransaction');
  const { scope } = useSession().space;

  function stage(facts: readonly FactContent[]): void {
    onStage(facts);
    if (facts.length > 0 && facts.length <= maxStagedRows)
      notifyDone(`Staged ${formatAmount(facts.length, 'row')}. ${keysLabel('Mod+Z')} undoes it.`);
  }

  async function take(text: string): Promise<void> {
    const [{ rowsOfClipboard }, { pastedTable }] = await Promise.all([
      import('./pasted-rows.ts'),
      import('../../api/delimited.ts'),
    ]);
    const scopeName = scope.kind === 'named' ? scope.name : null;
    const pasted = rowsOfClipboard(text, { predicate, arity, scope: scopeName });
    if (pasted.problems.length === 0) stage(pasted.facts);
    else setRefused({ pasted, table: pastedTable(text) });
  }

  const onPaste = useEffectEvent((event: ClipboardEvent) => {
    const isElsewhere = event.target instanceof Element && event.target.closest('[role="dialog"]') !== null;
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (event.defaultPrevented || isElsewhere || isTextField(event.target) || text.trim() === '') return;
    event.preventDefault();
    if (reason !== null) {
      notifyHint(reason);
      return;
    }
    take(text).catch((error: unknown) => notifyTrouble('The text could not be read', error));
  });
  useEffect(() => {
    const listener = (event: ClipboardEvent) => onPaste(event);
    window.addEventListener('paste', listener);
    return () => window.removeEventListener('paste', listener);
  }, []);

  if (refused === null) return null;
  const { pasted, table } = refused;
  return (
    <Suspense fallback={null}>
      <PasteDialog
        pasted={pasted}
        onTable={
          table === null
            ? null
            : () => {
                setRefused(null);
                onTable(table);
              }
        }
        onClose={() => setRefused(null)}
        onStage={() => {
          setRefused(null);
          stage(pasted.facts);
        }}
      />
    </Suspense>
  );
}
