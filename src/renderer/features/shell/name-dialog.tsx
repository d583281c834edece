/** Asks for one name, checked while it is typed. */
import { Button, Group, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';

export interface NameQuestion {
  title: string;
  label: string;
  hint: string;
  action: string;
  /** What is wrong with a name, or null. */
  problemOf: (name: string) => string | null;
  /** Rejects with an error whose message is shown. */
  onName: (name: string) => Promise<void> | void;
}

export function NameDialog({ question, onClose }: { question: NameQuestion; onClose: () => void }) {
  const [name, setName] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const problem = name === '' ? null : question.problemOf(name);

  async function onSubmit(event: FormEvent): Promise<void> {
    event.preventDefault();
    try {
      await question.onName(name);
      onClose();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  }

  return (
    <Modal opened onClose={onClose} title={question.title} size="sm">
      <form onSubmit={(event) => void onSubmit(event)}>
        <TextInput
          data-autofocus
          label={question.label}
          description={question.hint}
          value={name}
          error={problem ?? failure}
          onChange={(event) => {
            setName(event.currentTarget.value);
            setFailure(null);
          }}
        />
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={name === '' || problem !== null}>
            {question.action}
          </Button>
        </Group>
      </form>
    </Modal>
  );
}
