/** Saves a question under a name and in a folder, or changes where a saved one lies. */
import { Autocomplete, Button, Group, Modal, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { savedByFolder } from '../../api/known-questions.ts';
import { setSaved, useQuestions } from '../../api/questions.ts';
import { useSession } from '../../api/session.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import { useReturnedFocus } from '../../ui/use-returned-focus.ts';
import styles from './ask.module.css';

interface SaveDialogProps {
  /** The text of the question. */
  question: string;
  onClose: () => void;
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

export function SaveDialog({ question, onClose }: SaveDialogProps) {
  const { space } = useSession();
  const questions = useQuestions(space);
  const saved = questions.find(({ text, kind }) => text === question && kind === 'saved');
  const [name, setName] = useState(saved?.name ?? '');
  const [folder, setFolder] = useState(saved?.folder ?? '');
  useReturnedFocus();

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    setSaved(space, question, { name: orNull(name), folder: orNull(folder) });
    onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={saved === undefined ? 'Save the question' : 'Saved question'}
      size="md"
    >
      <form onSubmit={onSubmit}>
        <div className={styles.savedText}>
          <CodeText text={question} />
        </div>
        <TextInput
          autoFocus
          data-autofocus
          label="Name"
          description="Without one it is called by its text."
          maxLength={120}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Autocomplete
          mt="sm"
          label="Folder"
          description="One there is, or a new one."
          maxLength={80}
          value={folder}
          data={savedByFolder(questions).folders.map((known) => known.name)}
          onChange={setFolder}
        />
        <Group justify="flex-end" mt="md">
          {saved !== undefined && (
            <Button
              variant="subtle"
              color="red"
              mr="auto"
              onClick={() => {
                setSaved(space, question, null);
                onClose();
              }}
            >
              No longer save
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit">Save</Button>
        </Group>
      </form>
    </Modal>
  );
}
