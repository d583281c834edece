/** The dialogs that make a key and show it this once, change one, and revoke one. */
import { Button, Group, Modal, Radio } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type CreatedKey, keyRoles, type KeyView } from '../../../engine/contract/authentication.ts';
import { keySnippets, roleWords } from '../../api/key-text.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWhoAmI, useWrite } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { formatRelative, formatTime } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { ShownOnce, TypedNameDialog } from '../../ui/dialogs.tsx';
import { useReturnedFocus } from '../../ui/use-focus.ts';
import { KeyFields } from './key-fields.tsx';
import {
  changeOf,
  creationOf,
  emptyKeyForm,
  formOfKey,
  type KeyFormFields,
  keyFormProblems,
  losesPlace,
  useKeysChanged,
} from './key-form.ts';
import { reachInWords, revocationWarnings } from './key-columns.tsx';
import styles from './keys.module.css';

function Roles({
  role,
  onRole,
}: {
  role: KeyFormFields['role'];
  onRole: (role: KeyFormFields['role']) => void;
}) {
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

const serviceDefault = { label: 'Service default', hint: 'API_KEY_DEFAULT_EXPIRY_DAYS, else never' };

function MakeForm({ onMade, onClose }: { onMade: (made: CreatedKey) => void; onClose: () => void }) {
  const rights = useWhoAmI().data ?? { databases: [], tenants: [] };
  const [form, setForm] = useState<KeyFormFields>({
    ...emptyKeyForm,
    databases: [...rights.databases],
    tenants: [...rights.tenants],
  });
  const [wasTried, setWasTried] = useState(false);
  const changed = useKeysChanged();
  const make = useWrite('createKey', []);
  const problems = keyFormProblems(
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
    <form onSubmit={onSubmit} className="flex-column gap-12 flat-text">
      <Roles role={form.role} onRole={(role) => setForm({ ...form, role })} />
      <KeyFields
        form={form}
        problems={wasTried ? problems : {}}
        unsaid={serviceDefault}
        onForm={(part) => setForm({ ...form, ...part })}
      />
      {failure !== null && <ProblemNotice failure={failure} />}
      {failure?.code === 'Unreachable' && (
        <p className="small-print">
          The service may have made a key that was not shown. Check the list, and revoke it before you make
          another.
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
      className="flex-column gap-12 flat-text"
      onSubmit={(event) => {
        event.preventDefault();
        if (isStored) onClose();
      }}
    >
      <ShownOnce
        secret={made.key}
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

/** Makes a key, then shows its secret, which cannot be shown again. */
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

interface ChangeKeyDialogProps {
  /**
   * As it was when the dialog opened: concurrent changes survive unless this dialog changes the same field.
   */
  stored: KeyView;
  onClose: () => void;
}

/** A note for users who change the key they are signed in with. */
function OwnKey({ form }: { form: KeyFormFields }) {
  const { space } = useSession();
  return (
    <p className="tint-warn padded-8" role="status">
      {losesPlace(form, space)
        ? 'You are signed in with this key, and it would no longer reach the current database and tenant.'
        : 'You are signed in with this key.'}
    </p>
  );
}

/** Leaving the end unset keeps the current one. */
function unsaidOf({ expiresAt }: KeyView, now: number) {
  const label = 'As it is';
  if (expiresAt === null) return { label, hint: 'Good until it is revoked' };
  const word = expiresAt > now ? 'Good until' : 'Ended';
  return { label, hint: `${word} ${formatTime(expiresAt)}` };
}

/** Changes the description, restrictions and end of a key. */
export function ChangeKeyDialog({ stored, onClose }: ChangeKeyDialogProps) {
  const [key] = useState(stored);
  const [form, setForm] = useState<KeyFormFields>(() => formOfKey(key));
  const who = useWhoAmI().data;
  const changed = useKeysChanged();
  const write = useWrite('updateKey', []);
  useReturnedFocus();
  const now = Date.now();
  const rights = who ?? { databases: [], tenants: [] };
  const problems = keyFormProblems(
    form,
    key.role === 'replica' ? { databases: [], tenants: [] } : rights,
    now,
  );
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
      <form onSubmit={onSubmit} className="flex-column gap-12 flat-text">
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

interface RevokeKeyDialogProps {
  stored: KeyView;
  keys: readonly KeyView[];
  onClose: () => void;
  focusAfter: () => HTMLElement | null;
}

function Statement({ stored }: { stored: KeyView }) {
  const { role, description, lastUsedAt } = stored;
  return (
    <p>
      The {role} key <code className="mono">{stored.prefix}…</code>
      {description !== null && description !== '' && <> ({description})</>} is good for {reachInWords(stored)}{' '}
      and {lastUsedAt === null ? 'was never used' : `was last used ${formatRelative(lastUsedAt, Date.now())}`}
      . It stops working at once, and cannot be brought back.
    </p>
  );
}

interface PlainDialogProps extends Omit<RevokeKeyDialogProps, 'keys'> {
  isBusy: boolean;
  error: Error | null;
  onRevoke: () => void;
}

function PlainDialog({ stored, isBusy, error, onRevoke, onClose, focusAfter }: PlainDialogProps) {
  useReturnedFocus(focusAfter);
  return (
    <Modal opened onClose={onClose} title="Revoke this key?" size="md">
      <Statement stored={stored} />
      {error !== null && <ProblemNotice failure={apiFailureOf(error)} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus>
          Keep it
        </Button>
        <Button color="red" loading={isBusy} onClick={onRevoke}>
          Revoke
        </Button>
      </Group>
    </Modal>
  );
}

/** Revokes a key; if that may lock someone out, its prefix has to be typed first. */
export function RevokeKeyDialog({ stored, keys, onClose, focusAfter }: RevokeKeyDialogProps) {
  const who = useWhoAmI().data;
  const changed = useKeysChanged();
  const revoke = useWrite('revokeKey', []);
  const isWhole = who === undefined || who.databases.length + who.tenants.length === 0;
  const warnings = revocationWarnings(stored, { keys, ownId: who?.id ?? null, isWhole });

  function onRevoke(): void {
    revoke.mutate(
      { params: { id: stored.id } },
      {
        onSuccess: () => {
          notifyDone(`Revoked the key ${stored.prefix}…`);
          onClose();
        },
        onSettled: changed,
      },
    );
  }

  const { isPending: isBusy, error } = revoke;
  const dialog = { stored, onClose, focusAfter };
  if (warnings.length === 0)
    return <PlainDialog {...dialog} isBusy={isBusy} error={error} onRevoke={onRevoke} />;
  return (
    <TypedNameDialog
      title="Revoke this key?"
      name={stored.prefix}
      action="Revoke"
      isBusy={isBusy}
      failure={error === null ? null : apiFailureOf(error)}
      onConfirm={onRevoke}
      onClose={onClose}
      focusAfter={focusAfter}
    >
      <Statement stored={stored} />
      {warnings.map((warning) => (
        <p key={warning} className="tint-warn padded-8">
          {warning}
        </p>
      ))}
    </TypedNameDialog>
  );
}
