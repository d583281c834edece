/** Deletes or empties a database or a tenant, once its name was typed. */
import type { Cleared, DeletedDatabase } from '../../../engine/contract/administration.ts';
import { forgetTenant } from '../../api/known-tenants.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useDatabases, useTenants } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { formatAmount } from '../../ui/format.ts';
import { notifyDone } from '../../ui/notify.tsx';
import { TypedNameDialog } from '../../ui/typed-name-dialog.tsx';
import { type Erasure, statementOf, type Target } from './erasing.ts';
import { useAdminWrite } from './rights.ts';

type Gone = Pick<Cleared | DeletedDatabase, 'facts' | 'rules'>;

/** The write that an erasure is; `start` says afterwards what went. */
function useErasing({ how, target }: Erasure) {
  const deleteDatabase = useAdminWrite('deleteDatabase');
  const nukeDatabase = useAdminWrite('nukeDatabase');
  const deleteTenant = useAdminWrite('deleteTenant');
  const nukeTenant = useAdminWrite('nukeTenant');
  if (target.kind === 'database') {
    const { mutate, isPending, error } = how === 'delete' ? deleteDatabase : nukeDatabase;
    const start = (onDone: (gone: Gone) => void) =>
      mutate({ params: { name: target.name } }, { onSuccess: onDone });
    return { start, isPending, error };
  }
  const { mutate, isPending, error } = how === 'delete' ? deleteTenant : nukeTenant;
  const start = (onDone: (gone: Gone) => void) =>
    mutate({ params: { name: target.database, id: target.name } }, { onSuccess: onDone });
  return { start, isPending, error };
}

/** The target with the counts of now, while the dialog is open; as it was once it cannot be found. */
function useCounted(target: Target): Target {
  const databases = useDatabases().data;
  const tenants = useTenants(target.kind === 'tenant' ? target.database : null).data;
  if (target.kind === 'database') {
    const found = databases?.find(({ name }) => name === target.name);
    return found === undefined ? target : { ...target, ...found };
  }
  const found = tenants?.find(({ name }) => name === target.name);
  return found === undefined ? target : { ...target, facts: found.facts };
}

interface EraseDialogProps {
  erasure: Erasure;
  onClose: () => void;
  onErased: (erasure: Erasure) => void;
  focusAfter: () => HTMLElement | null;
}

export function EraseDialog({ erasure, onClose, onErased, focusAfter }: EraseDialogProps) {
  const { space } = useSession();
  const { how } = erasure;
  const target = useCounted(erasure.target);
  const erasing = useErasing(erasure);
  const { title, goes, stays, here } = statementOf({ how, target }, space);

  function onConfirm(): void {
    erasing.start(({ facts, rules }) => {
      if (how === 'delete' && target.kind === 'tenant') forgetTenant(target.name);
      const gone = target.kind === 'database' ? ` and ${formatAmount(rules, 'rule')}` : '';
      notifyDone(
        `${how === 'delete' ? 'Deleted' : 'Emptied'} ${target.name}, with ${formatAmount(facts, 'fact')}${gone}.`,
      );
      onClose();
      onErased(erasure);
    });
  }

  return (
    <TypedNameDialog
      title={title}
      name={target.name}
      action={how === 'delete' ? 'Delete' : 'Empty'}
      isBusy={erasing.isPending}
      failure={erasing.error === null ? null : apiFailureOf(erasing.error)}
      onConfirm={onConfirm}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <p>
        This deletes <strong>{goes}</strong>, for good. It cannot be undone.
      </p>
      <p>{stays}</p>
      {here !== null && <p>{here}</p>}
    </TypedNameDialog>
  );
}
