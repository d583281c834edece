/**
 * A secret that is shown this once: to be copied, with how it is used, and left only by who says that it is stored.
 *
 * Until then the browser asks before it leaves the page. Where the secret goes afterwards is its owner's business.
 */
import { Button, Checkbox, SegmentedControl } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import { useFirstFocus } from './use-first-focus.ts';
import styles from './shown-once.module.css';

/** One way to use the secret, ready to be pasted. */
export interface Snippet {
  readonly title: string;
  readonly text: string;
}

interface ShownOnceProps {
  secret: string;
  /** What it is called: `key`. */
  what: string;
  snippets: readonly Snippet[];
  isStored: boolean;
  onStored: (isStored: boolean) => void;
  children?: ReactNode;
}

/** Has the browser ask before the page is left. */
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
    <div className={styles.snippet}>
      <div className={styles.snippetBar}>
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

export function ShownOnce({ secret, what, snippets, isStored, onStored, children }: ShownOnceProps) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const copy = useFirstFocus<HTMLButtonElement>();
  useKeptOpen(!isStored);
  return (
    <div className={styles.shown}>
      <p>
        This is the only time that the {what} is shown: the service keeps no more than its hash. Store it
        where you keep secrets.
      </p>
      <div className={styles.secret}>
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
