/** Shows which conclusions retracting a fact would withdraw, then retracts it on confirmation. */
import { Button, Group, Loader, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { RetractOutcome, StoredFact } from '../../../engine/contract/facts.ts';
import { queryKeyOf, noteGone } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { notWorkedOutInWords } from '../../ui/consequences.ts';
import { formatAmount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import styles from './facts.module.css';
import { recordChanges } from './staging-actions.ts';
import { nameOf } from './staged-rows.ts';
import { contentOf } from './staged-edits.ts';
import { renderFact } from './render-fact.ts';

function Preview({ outcome }: { outcome: RetractOutcome }) {
  const { dependents, dependentsCount, dependentsComplete } = outcome;
  const open = notWorkedOutInWords({ ...outcome, consequencesComplete: dependentsComplete });
  if (dependentsCount === 0) return <p>{open === '' ? 'No conclusion depends on it.' : open}</p>;
  const rest = dependentsCount - dependents.length;
  return (
    <>
      <p>
        {dependentsComplete ? '' : 'At least '}
        <strong>{formatAmount(dependentsCount, 'conclusion')}</strong> would no longer hold.{open}
      </p>
      <ul className={styles.dependents} tabIndex={0} aria-label="Conclusions that would no longer hold">
        {dependents.map((atom) => (
          <li key={atom}>
            <CodeText text={atom} />
          </li>
        ))}
        {rest > 0 && <li className="dim">and {formatAmount(rest, 'more', 'more')}</li>}
      </ul>
    </>
  );
}

interface RetractDialogProps {
  fact: StoredFact;
  onClose: () => void;
  onRetracted: () => void;
}

/** The dialog that retracts a fact. */
export function RetractDialog({ fact, onClose, onRetracted }: RetractDialogProps) {
  const session = useSession();
  const { call, endpoint } = session;
  const retract = useWrite('retract');
  const body = {
    predicate: fact.predicate,
    args: fact.args,
    truthVal: fact.truthVal,
    ...scopeFieldsOfStored(fact.scope),
  };
  const preview = useQuery({
    queryKey: queryKeyOf('answers', endpoint, 'retract', fact.id),
    queryFn: ({ signal }) =>
      call('retract', { body: { ...body, dryRun: true, dependents: 'all' } }, { signal }),
    gcTime: 0,
    staleTime: 0,
  });

  function onConfirm(): void {
    // Guarded by the previewed generation: the service refuses it if someone changed the fact since.
    const ifGeneration = preview.data?.generation ?? null;
    retract.mutate(
      { body: { ...body, ifGeneration } },
      {
        onSuccess: (outcome) => {
          if (fact.id !== null) noteGone([fact.id]);
          if (outcome.status !== 'absent')
            recordChanges(
              session,
              `retracted ${nameOf(fact)}`,
              [{ before: contentOf(fact), after: null }],
              outcome.generation,
            );
          notifyDone(outcome.status === 'absent' ? 'It was already gone.' : `Retracted ${renderFact(fact)}`);
          onClose();
          onRetracted();
        },
      },
    );
  }

  const failure = preview.error ?? retract.error;
  return (
    <Modal opened onClose={onClose} title="Retract this fact?" size="md">
      <p className={styles.retracted}>
        <CodeText text={renderFact(fact)} />
        {fact.scope !== null && <span className="dim"> in scope {fact.scope}</span>}
      </p>
      {preview.isPending && (
        <p className="dim">
          <Loader size={12} mr={8} /> Looking for conclusions that depend on it…
        </p>
      )}
      {preview.data !== undefined && <Preview outcome={preview.data} />}
      {failure !== null && <ProblemNotice failure={apiFailureOf(failure)} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          Keep it
        </Button>
        <Button color="red" loading={retract.isPending} disabled={preview.isPending} onClick={onConfirm}>
          Retract
        </Button>
      </Group>
    </Modal>
  );
}
