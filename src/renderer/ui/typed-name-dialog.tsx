/**
 * Asks before something goes for good: says what, and does it only once its name has been typed.
 *
 * The name has to be the same letter by letter; what is shown around it is no part of it.
 */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { ProblemNotice, type ShownFailure } from './notices.tsx';
import styles from './typed-name-dialog.module.css';
import { useReturnedFocus } from './use-returned-focus.ts';

interface TypedNameDialogProps {
  title: string;
  /** What has to be typed. */
  name: string;
  /** Says what goes, and what stays. */
  children: ReactNode;
  action: string;
  isBusy: boolean;
  failure: ShownFailure | null;
  onConfirm: () => void;
  onClose: () => void;
  /** Where the focus goes afterwards; what had it before where it finds nothing. */
  focusAfter?: () => HTMLElement | null;
}

export function TypedNameDialog(props: TypedNameDialogProps) {
  const { title, name, children, action, isBusy, failure, onConfirm, onClose, focusAfter } = props;
  const [typed, setTyped] = useState('');
  const isReady = typed === name && !isBusy;
  useReturnedFocus(focusAfter);

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    if (isReady) onConfirm();
  }

  return (
    <Modal opened onClose={onClose} title={title} size="md">
      <form onSubmit={onSubmit}>
        <div className={styles.statement}>{children}</div>
        <TextInput
          autoFocus
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          label={
            <>
              Type <code className={styles.name}>{name}</code> to confirm
            </>
          }
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {failure !== null && (
          <div className={styles.failure}>
            <ProblemNotice failure={failure} />
          </div>
        )}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={isBusy} disabled={!isReady}>
            {action}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
