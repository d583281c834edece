/** Revokes a key. Where that locks somebody in particular out, how it begins has to be typed first. */
import { Button, Group, Modal } from '@mantine/core';
import type { KeyView } from '../../../engine/contract/authentication.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useWhoAmI, useWrite } from '../../api/queries.ts';
import { formatRelative } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { TypedNameDialog } from '../../ui/typed-name-dialog.tsx';
import { useReturnedFocus } from '../../ui/use-returned-focus.ts';
import { reachInWords, revocationWarnings } from './key-words.ts';
import { useKeysChanged } from './use-keys.ts';
import styles from './keys.module.css';

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
        <p key={warning} className={styles.warning}>
          {warning}
        </p>
      ))}
    </TypedNameDialog>
  );
}
