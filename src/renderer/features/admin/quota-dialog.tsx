/** Shows the quota of a database or tenant beside what is in use, and sets it. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type QuotaName, quotaNames, type QuotaState } from '../../../engine/contract/quotas.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import {
  quotaLabels,
  type QuotaTarget,
  type QuotaTexts,
  quotaTextsOf,
  readQuota,
  inUse,
} from './quota-form.ts';
import { useAdminWrite } from './rights.ts';

interface QuotaDialogProps {
  target: QuotaTarget;
  onClose: () => void;
}

/** The quota and its use, read when the dialog opens. */
function useQuota({ database, tenant }: QuotaTarget) {
  const { call } = useSession();
  return useQuery<QuotaState>({
    queryKey: ['databases', database, 'quota', tenant],
    queryFn: ({ signal }) =>
      tenant === null
        ? call('databaseQuota', { params: { name: database } }, { signal })
        : call('tenantQuota', { params: { name: database, id: tenant } }, { signal }),
    staleTime: 0,
  });
}

/** The dialog of one quota. */
export function QuotaDialog({ target, onClose }: QuotaDialogProps) {
  const { database, tenant } = target;
  const asked = useQuota(target);
  useReturnedFocus();
  const title = tenant === null ? `Quota of the database ${database}` : `Quota of ${tenant} in ${database}`;
  return (
    <Modal opened onClose={onClose} title={title} size="md">
      {asked.error !== null && <ProblemNotice failure={apiFailureOf(asked.error)} />}
      {asked.data !== undefined && <QuotaFields target={target} state={asked.data} onClose={onClose} />}
    </Modal>
  );
}

/** The write of the quota of this target. */
function useSetQuota({ database, tenant }: QuotaTarget) {
  const ofDatabase = useAdminWrite('setDatabaseQuota', ['databases']);
  const ofTenant = useAdminWrite('setTenantQuota', ['databases']);
  const { isPending, error } = tenant === null ? ofDatabase : ofTenant;
  const set = (body: QuotaState['quota'], onSuccess: () => void): void => {
    if (tenant === null) ofDatabase.mutate({ params: { name: database }, body }, { onSuccess });
    else ofTenant.mutate({ params: { name: database, id: tenant }, body }, { onSuccess });
  };
  return { set, isPending, error };
}

function QuotaFields({ target, state, onClose }: QuotaDialogProps & { state: QuotaState }) {
  const [texts, setTexts] = useState<QuotaTexts>(() => quotaTextsOf(state.quota));
  const { set, isPending, error } = useSetQuota(target);
  const read = readQuota(texts);
  const problemOf = (name: QuotaName) => ('problems' in read ? read.problems[name] : undefined);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if ('problems' in read || isPending) return;
    set(read.quota, () => {
      notifyDone(`Set the quota of ${target.tenant ?? target.database}.`);
      onClose();
    });
  }

  return (
    <form onSubmit={onSubmit}>
      <div className="flex-column gap-8">
        {quotaNames.map((name, at) => (
          <TextInput
            key={name}
            data-autofocus={at === 0 ? true : undefined}
            inputMode="numeric"
            placeholder="No limit"
            label={quotaLabels[name].label}
            description={`${quotaLabels[name].hint}. ${inUse(state, name)}.`}
            value={texts[name]}
            error={problemOf(name)}
            onChange={({ currentTarget }) => setTexts({ ...texts, [name]: currentTarget.value })}
          />
        ))}
        {target.tenant !== null && <p className="dim">The quota of the database applies too.</p>}
        {error !== null && <ProblemNotice failure={apiFailureOf(error)} />}
      </div>
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={isPending} disabled={'problems' in read}>
          Set quota
        </Button>
      </Group>
    </form>
  );
}
