/** Erases everything about an entity, present and past, after showing what would go; its name is typed to confirm. */
import { useQuery } from '@tanstack/react-query';
import { queryKeyOf } from '../../api/live.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { TypedNameDialog } from '../../ui/dialogs.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Loading } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';

interface ForgetDialogProps {
  entity: string;
  onClose: () => void;
}

/** Forgets an entity: a preview of what goes, then its name typed. */
export function ForgetDialog({ entity, onClose }: ForgetDialogProps) {
  const { call, endpoint, space } = useSession();
  const { database, tenant } = space;
  const preview = useQuery({
    queryKey: queryKeyOf('answers', endpoint, 'forget', entity),
    queryFn: ({ signal }) =>
      call('forgetEntity', { body: { database, tenant, entity, dryRun: true } }, { signal }),
    gcTime: 0,
  });
  const forget = useWrite('forgetEntity');
  const failure = preview.error ?? forget.error;
  const found = preview.data;

  function onConfirm(): void {
    forget.mutate(
      { body: { database, tenant, entity } },
      {
        onSuccess: ({ facts, pastFacts }) => {
          notifyDone(`Forgotten: ${formatAmount(facts + pastFacts, 'fact')} about ${entity}`);
          onClose();
        },
      },
    );
  }

  return (
    <TypedNameDialog
      title="Forget this entity"
      name={entity}
      action="Forget"
      isBusy={forget.isPending}
      failure={failure === null ? null : apiFailureOf(failure)}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>
        This erases every fact of tenant <strong>{tenant}</strong> with this name or one of its aliases, from
        the present and from the history on disk, for good. It cannot be undone.
      </p>
      {found === undefined ? (
        failure === null && <Loading />
      ) : (
        <p role="status">
          <strong>{formatAmount(found.facts, 'stored fact')}</strong> and{' '}
          {formatAmount(found.pastFacts, 'fact')} of the past go;{' '}
          {formatAmount(found.generationsRewritten, 'generation loses', 'generations lose')} changes.
        </p>
      )}
      <p>
        {found !== undefined && found.rulesMentioning.length > 0
          ? `${formatAmount(found.rulesMentioning.length, 'rule names', 'rules name')} it and ${found.rulesMentioning.length === 1 ? 'stays' : 'stay'}: ${found.rulesMentioning.join(', ')}. `
          : ''}
        Texts in metadata, reasons of writes and earlier backups are not changed.
      </p>
    </TypedNameDialog>
  );
}
