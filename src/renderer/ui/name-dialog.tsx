/** Asks for one name, checked while it is typed. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { ProblemNotice, type ShownFailure } from './notices.tsx';
import { useReturnedFocus } from './use-returned-focus.ts';

export interface NameQuestion {
  title: string;
  label: string;
  hint: string;
  action: string;
  /** The name there is. */
  initial?: string;
  /** What is wrong with a name, or null. */
  problemOf: (name: string) => string | null;
  /** Rejects where the name cannot be taken. */
  onName: (name: string) => Promise<void> | void;
}

interface NameDialogProps {
  question: NameQuestion;
  /** How what `onName` rejects with is shown. */
  failureOf: (error: unknown) => ShownFailure;
  onClose: () => void;
}

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
