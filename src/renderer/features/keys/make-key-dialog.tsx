/** Makes a key, and shows it the one time that it is shown. */
import { Button, Group, Modal, Radio } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type CreatedKey, keyRoles } from '../../../engine/contract/authentication.ts';
import { keySnippets } from '../../api/key-text.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWhoAmI, useWrite } from '../../api/queries.ts';
import { roleWords } from '../../api/role-words.ts';
import { useSession } from '../../api/session.tsx';
import { ProblemNotice } from '../../ui/notices.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { useReturnedFocus } from '../../ui/use-returned-focus.ts';
import { KeyFields } from './key-fields.tsx';
import { creationOf, emptyKeyForm, type KeyForm, problemsOf } from './key-form.ts';
import { useKeysChanged } from './use-keys.ts';
import styles from './keys.module.css';

function Roles({ role, onRole }: { role: KeyForm['role']; onRole: (role: KeyForm['role']) => void }) {
  return (
    <Radio.Group
      label="Role"
      size="xs"
      value={role}
      onChange={(value) => {
        const chosen = keyRoles.find((known) => known === value);
        if (chosen !== undefined) onRole(chosen);
      }}
    >
      <div className={styles.roles}>
        {(['reader', 'writer', 'admin', 'replica'] as const).map((one, index) => (
          <Radio
            key={one}
            size="xs"
            value={one}
            label={one}
            description={roleWords[one]}
            {...(index === 0 ? { 'data-autofocus': true } : {})}
          />
        ))}
      </div>
    </Radio.Group>
  );
}

const serviceDefault = { label: 'As the service has it', hint: 'API_KEY_DEFAULT_EXPIRY_DAYS, else never' };

function MakeForm({ onMade, onClose }: { onMade: (made: CreatedKey) => void; onClose: () => void }) {
  const rights = useWhoAmI().data ?? { databases: [], tenants: [] };
  const [form, setForm] = useState<KeyForm>({
    ...emptyKeyForm,
    databases: [...rights.databases],
    tenants: [...rights.tenants],
  });
  const [wasTried, setWasTried] = useState(false);
  const changed = useKeysChanged();
  const make = useWrite('createKey', []);
  const problems = problemsOf(
    form,
    form.role === 'replica' ? { databases: [], tenants: [] } : rights,
    Date.now(),
  );
  const failure = make.error === null ? null : apiFailureOf(make.error);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    setWasTried(true);
    if (Object.keys(problems).length > 0 || make.isPending) return;
    make.mutate({ body: creationOf(form, Date.now()) }, { onSuccess: onMade, onSettled: changed });
  }

  return (
    <form onSubmit={onSubmit} className={styles.form}>
      <Roles role={form.role} onRole={(role) => setForm({ ...form, role })} />
      <KeyFields
        form={form}
        problems={wasTried ? problems : {}}
        unsaid={serviceDefault}
        onForm={(part) => setForm({ ...form, ...part })}
      />
      {failure !== null && <ProblemNotice failure={failure} />}
      {failure?.code === 'Unreachable' && (
        <p className={styles.hint}>
          A key may have been made that nobody has seen. The list tells: revoke it before you make another.
        </p>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" loading={make.isPending}>
          Make the key
        </Button>
      </Group>
    </form>
  );
}

function Made({ made, onClose }: { made: CreatedKey; onClose: () => void }) {
  const { endpoint, space } = useSession();
  const [isStored, setIsStored] = useState(false);
  const place = {
    origin: endpoint.origin,
    database: made.databases[0] ?? space.database,
    tenant: made.tenants[0] ?? space.tenant,
  };
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isStored) onClose();
      }}
    >
      <ShownOnce
        secret={made.key}
        what="key"
        snippets={keySnippets(place, made.key)}
        isStored={isStored}
        onStored={setIsStored}
      />
      <Group justify="flex-end">
        <Button type="submit" disabled={!isStored}>
          Done
        </Button>
      </Group>
    </form>
  );
}

export function MakeKeyDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<CreatedKey | null>(null);
  useReturnedFocus();
  const isOpen = made === null;
  return (
    <Modal
      opened
      onClose={onClose}
      title={made === null ? 'New key' : `The new ${made.role} key`}
      size="lg"
      closeOnEscape={isOpen}
      closeOnClickOutside={false}
      withCloseButton={isOpen}
    >
      {made === null ? (
        <MakeForm onMade={setMade} onClose={onClose} />
      ) : (
        <Made made={made} onClose={onClose} />
      )}
    </Modal>
  );
}
