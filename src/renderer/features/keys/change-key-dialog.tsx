/** Changes what can be changed of a key: what it is called, where it is good, when it ends. */
import { Button, Group, Modal } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { KeyView } from '../../../engine/contract/authentication.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWhoAmI, useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { formatTime } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { useReturnedFocus } from '../../ui/use-returned-focus.ts';
import { KeyFields } from './key-fields.tsx';
import { changeOf, formOfKey, type KeyForm, losesPlace, problemsOf } from './key-form.ts';
import { useKeysChanged } from './use-keys.ts';
import styles from './keys.module.css';

interface ChangeKeyDialogProps {
  /** As it was when it was opened: what somebody else changes meanwhile is kept, unless it is changed here too. */
  stored: KeyView;
  onClose: () => void;
}

/** Said where somebody changes the key that they are signed in with. */
function OwnKey({ form }: { form: KeyForm }) {
  const { space } = useSession();
  return (
    <p className={styles.warning} role="status">
      {losesPlace(form, space)
        ? 'It is the key that you are signed in with, and it would no longer reach where you are.'
        : 'It is the key that you are signed in with.'}
    </p>
  );
}

/** No end chosen: the one there is stays. */
function unsaidOf({ expiresAt }: KeyView, now: number) {
  const label = 'As it is';
  if (expiresAt === null) return { label, hint: 'Good until it is revoked' };
  const word = expiresAt > now ? 'Good until' : 'Ended';
  return { label, hint: `${word} ${formatTime(expiresAt)}` };
}

export function ChangeKeyDialog({ stored, onClose }: ChangeKeyDialogProps) {
  const [key] = useState(stored);
  const [form, setForm] = useState<KeyForm>(() => formOfKey(key));
  const who = useWhoAmI().data;
  const changed = useKeysChanged();
  const write = useWrite('updateKey', []);
  useReturnedFocus();
  const now = Date.now();
  const rights = who ?? { databases: [], tenants: [] };
  const problems = problemsOf(form, key.role === 'replica' ? { databases: [], tenants: [] } : rights, now);
  const change = changeOf(key, form, now);
  const isReady = change !== null && Object.keys(problems).length === 0 && !write.isPending;

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (!isReady) return;
    write.mutate(
      { params: { id: key.id }, body: change },
      {
        onSuccess: () => {
          notifyDone(`Changed the key ${key.prefix}…`);
          onClose();
        },
        onSettled: changed,
      },
    );
  }

  return (
    <Modal
      opened
      onClose={onClose}
      closeOnClickOutside={false}
      size="md"
      title={
        <>
          Change the {key.role} key <code className="mono">{key.prefix}…</code>
        </>
      }
    >
      <form onSubmit={onSubmit} className={styles.form}>
        <KeyFields
          form={form}
          problems={problems}
          isFirst
          unsaid={unsaidOf(key, now)}
          onForm={(part) => setForm({ ...form, ...part })}
        />
        {who?.id === key.id && <OwnKey form={form} />}
        {write.error !== null && <ProblemNotice failure={apiFailureOf(write.error)} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={write.isPending} disabled={!isReady}>
            Save
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
