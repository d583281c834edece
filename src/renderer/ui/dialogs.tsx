/** Dialogs that ask for a name, confirm a deletion or show a secret once. */
import { Button, Checkbox, Group, Modal, SegmentedControl, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type FormEvent, type ReactNode, useState } from 'react';
import { CodeBlock } from './blocks.tsx';
import { CopyButton } from './copy-button.tsx';
import styles from './dialogs.module.css';
import { ProblemNotice, type ShownFailure } from './notices.tsx';
import { useUnsaved } from './unsaved.ts';
import { useFirstFocus, useReturnedFocus } from './use-focus.ts';

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

/** One way to use the secret, ready to paste. */
export interface Snippet {
  readonly title: string;
  readonly text: string;
}

interface ShownOnceProps {
  secret: string;
  snippets: readonly Snippet[];
  isStored: boolean;
  onStored: (isStored: boolean) => void;
}

function Snippets({ snippets }: { snippets: readonly Snippet[] }) {
  const [chosen, setChosen] = useState(snippets[0]?.title ?? '');
  const snippet = snippets.find(({ title }) => title === chosen);
  if (snippet === undefined) return null;
  return (
    <div className="flex-column gap-6">
      <div className="flex-row spread gap-8">
        <SegmentedControl
          aria-label="How it is used"
          value={chosen}
          onChange={setChosen}
          data={snippets.map(({ title }) => title)}
        />
        <CopyButton text={snippet.text} label={`Copy: ${snippet.title}`} />
      </div>
      <CodeBlock label={snippet.title} text={snippet.text} low />
    </div>
  );
}

/**
 * Shows a key once, to be copied, with its uses; the user leaves by confirming that it is stored.
 *
 * Until then the browser confirms leaving the page. The caller decides what follows.
 */
export function ShownOnce({ secret, snippets, isStored, onStored }: ShownOnceProps) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const copy = useFirstFocus<HTMLButtonElement>();
  useUnsaved(isStored ? null : 'A new key, which is shown only once, is not stored yet.');
  return (
    <div className="flex-column gap-12 flat-text">
      <p>
        This is the only time that the key is shown: the service keeps no more than its hash. Store it where
        you keep secrets.
      </p>
      <div className={`flex-row gap-8 ${styles.secret}`}>
        <code className="mono" aria-label="The key">
          {secret}
        </code>
        <Button
          ref={copy}
          variant="default"
          leftSection={
            clipboard.copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />
          }
          onClick={() => clipboard.copy(secret)}
        >
          {clipboard.copied ? 'Copied' : 'Copy the key'}
        </Button>
      </div>
      <Snippets snippets={snippets} />
      <Checkbox
        size="xs"
        label="I have stored it"
        checked={isStored}
        onChange={(event) => onStored(event.currentTarget.checked)}
      />
    </div>
  );
}
