import { Button, Checkbox, SegmentedControl } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import { useFirstFocus } from './use-first-focus.ts';
import styles from './shown-once.module.css';

/** One way to use the secret, ready to paste. */
export interface Snippet {
  readonly title: string;
  readonly text: string;
}

interface ShownOnceProps {
  secret: string;
  /** Its noun: `key`. */
  what: string;
  snippets: readonly Snippet[];
  isStored: boolean;
  onStored: (isStored: boolean) => void;
  children?: ReactNode;
}

/** Makes the browser confirm leaving the page. */
function useKeptOpen(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const onLeave = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', onLeave);
    return () => window.removeEventListener('beforeunload', onLeave);
  }, [isOpen]);
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
 * Shows a secret once, to be copied, with its uses; the user leaves by confirming that it is stored.
 *
 * Until then the browser confirms leaving the page. The caller decides what follows.
 */
export function ShownOnce({ secret, what, snippets, isStored, onStored, children }: ShownOnceProps) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const copy = useFirstFocus<HTMLButtonElement>();
  useKeptOpen(!isStored);
  return (
    <div className="flex-column gap-12 flat-text">
      <p>
        This is the only time that the {what} is shown: the service keeps no more than its hash. Store it
        where you keep secrets.
      </p>
      <div className={`flex-row gap-8 ${styles.secret}`}>
        <code className="mono" aria-label={`The ${what}`}>
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
          {clipboard.copied ? 'Copied' : `Copy the ${what}`}
        </Button>
      </div>
      {children}
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
