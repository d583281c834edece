/** Shows what removing a package would take away, leave and withdraw, then removes it once its name is typed. */
import { Loader } from '@mantine/core';
import type { PackageOutcome } from '../../../engine/contract/packages.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { consequencesInWords } from '../../ui/consequences.ts';
import { TypedNameDialog } from '../../ui/dialogs.tsx';
import { formatAmount } from '../../ui/format.ts';
import { notifyDone } from '../../ui/notify.tsx';
import { countsInWords, removedOf } from './package-contents.ts';
import styles from './rules.module.css';
import { usePackageRemoval } from './use-packages.ts';

interface TextsProps {
  label: string;
  texts: readonly { readonly text: string; readonly note?: string }[];
  /** Of those that the answer does not list. */
  rest: number;
}

function Texts({ label, texts, rest }: TextsProps) {
  if (texts.length === 0) return null;
  return (
    <ul className={styles.removed} tabIndex={0} aria-label={label}>
      {texts.map(({ text, note }) => (
        <li key={text} className="wraps">
          <CodeText text={text} />
          {note !== undefined && <div className="dim">{note}</div>}
        </li>
      ))}
      {rest > 0 && <li className="dim">and {formatAmount(rest, 'more', 'more')}</li>}
    </ul>
  );
}

function Preview({ outcome }: { outcome: PackageOutcome }) {
  const { kept, keptCount, lost, conclusions } = outcome;
  const { counts, listed } = removedOf(outcome);
  const { facts, rules, declarations, constraints } = counts;
  return (
    <>
      <p>
        Takes away <strong>{countsInWords(counts)}</strong>.
      </p>
      <Texts
        label="Goes"
        texts={listed.map((text) => ({ text }))}
        rest={facts + rules + declarations + constraints - listed.length}
      />
      {keptCount > 0 && (
        <p>
          <strong>{formatAmount(keptCount, 'statement')}</strong> of the package{' '}
          {keptCount === 1 ? 'stays' : 'stay'}, and no longer {keptCount === 1 ? 'belongs' : 'belong'} to it.
        </p>
      )}
      <Texts
        label="Stays"
        texts={kept.map(({ text, reason }) => ({ text, note: reason }))}
        rest={keptCount - kept.length}
      />
      <p role="status">{consequencesInWords(outcome)}</p>
      <Texts
        label="Conclusions lost"
        texts={conclusions.lost.map((text) => ({ text }))}
        rest={lost - conclusions.lost.length}
      />
    </>
  );
}

interface RemovePackageProps {
  name: string;
  onClose: () => void;
  onRemoved: () => void;
}

/** The dialog that removes a package. */
export function RemovePackage({ name, onClose, onRemoved }: RemovePackageProps) {
  const preview = usePackageRemoval(name);
  const remove = useWrite('deletePackage');
  const failure = remove.error ?? preview.error;

  function onConfirm(): void {
    remove.mutate(
      { params: { name }, query: {} },
      {
        onSuccess: (outcome) => {
          notifyDone(`Removed ${name}, with ${countsInWords(removedOf(outcome).counts)}.`);
          onClose();
          onRemoved();
        },
      },
    );
  }

  return (
    <TypedNameDialog
      title={`Remove the package ${name}?`}
      name={name}
      action="Remove"
      isBusy={preview.isPending || remove.isPending}
      failure={failure === null ? null : apiFailureOf(failure)}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {preview.isPending && (
        <p className="dim">
          <Loader size={12} mr={8} aria-hidden /> Working out what would follow…
        </p>
      )}
      {preview.data !== undefined && <Preview outcome={preview.data} />}
    </TypedNameDialog>
  );
}
