import { Button, Group, Modal } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { ProblemNotice } from '../../ui/notices.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { useReturnedFocus } from '../../ui/use-returned-focus.ts';
import { type Measured, useMeasured } from './use-measured.ts';

interface MeasuredDialogProps {
  title: string;
  /** What is removed and what remains. */
  children: ReactNode;
  /** Label of the cancel button. */
  keep: string;
  action: string;
  isDestructive: boolean;
  work: Parameters<Measured['start']>[0];
  onClose: () => void;
}

/** Asks for confirmation of a write that changes much of the memory, does it and records the run. */
export function MeasuredDialog(props: MeasuredDialogProps) {
  const { title, children, keep, action, isDestructive, work, onClose } = props;
  const { isRunning, failure, start } = useMeasured();
  const isDone = useRef(false);
  // The opener may be gone; the part that contained it is not.
  useReturnedFocus(() =>
    isDone.current ? document.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]') : null,
  );

  function onDone(outcome: string): void {
    isDone.current = true;
    notifyDone(`${outcome}.`);
    onClose();
  }

  return (
    <Modal opened onClose={onClose} title={title} size="md">
      {children}
      {failure !== null && <ProblemNotice failure={failure} />}
      <Group justify="flex-end" mt="md">
        <Button variant="default" onClick={onClose} data-autofocus={isDestructive}>
          {keep}
        </Button>
        <Button
          {...(isDestructive ? { color: 'red' } : {})}
          data-autofocus={!isDestructive}
          loading={isRunning}
          onClick={() => start(work, onDone)}
        >
          {action}
        </Button>
      </Group>
    </Modal>
  );
}
