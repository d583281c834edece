import { Button, Group, Modal, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { ProblemNotice, type ShownFailure } from './notices.tsx';
import styles from './typed-name-dialog.module.css';
import { useReturnedFocus } from './use-returned-focus.ts';

interface TypedNameDialogProps {
  title: string;
  /** The text to type. */
  name: string;
  /** What will be deleted and what remains. */
  children: ReactNode;
  action: string;
  isBusy: boolean;
  failure: ShownFailure | null;
  onConfirm: () => void;
  onClose: () => void;
  /** Element to focus afterwards; the previous one if it returns null. */
  focusAfter?: () => HTMLElement | null;
}

/** Asks for confirmation of a permanent deletion by typing the exact name. */
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
