import { Button, Group, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ProblemNotice, type ShownFailure } from './notices.tsx';
import { useReturnedFocus } from './use-returned-focus.ts';

/** A question for a name. */
export interface NameQuestion {
  title: string;
  label: string;
  hint: string;
  action: string;
  /** The current name. */
  initial?: string;
  /** Returns the problem of a name, or null. */
  problemOf: (name: string) => string | null;
  /** Rejects if the name is not accepted. */
  onName: (name: string) => Promise<void> | void;
}

interface NameDialogProps {
  question: NameQuestion;
  /** Converts a rejection of `onName` to a failure. */
  failureOf: (error: unknown) => ShownFailure;
  onClose: () => void;
}

/** Asks for one name and validates it while typing. */
export function NameDialog({ question, failureOf, onClose }: NameDialogProps) {
  const [name, setName] = useState(question.initial ?? '');
  const [failure, setFailure] = useState<ShownFailure | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const problem = name === '' ? null : question.problemOf(name);
  const isReady = name !== '' && problem === null && !isBusy;
  useReturnedFocus();

  async function onSubmit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isReady) return;
    setIsBusy(true);
    try {
      await question.onName(name);
      onClose();
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <Modal opened onClose={onClose} title={question.title} size="sm">
      <form onSubmit={(event) => void onSubmit(event)}>
        <TextInput
          autoFocus
          data-autofocus
          label={question.label}
          description={question.hint}
          value={name}
          error={problem}
          onChange={(event) => {
            setName(event.currentTarget.value);
            setFailure(null);
          }}
        />
        {failure !== null && (
          <div style={{ marginTop: 10 }}>
            <ProblemNotice failure={failure} />
          </div>
        )}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={!isReady}>
            {question.action}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
