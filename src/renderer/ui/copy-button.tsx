import { ActionIcon } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import styles from './tags.module.css';
import { Tooltip } from './tooltip.tsx';

interface CopyButtonProps {
  /** The text, or a function that makes it. */
  text: string | (() => string);
  label: string;
}

/** Shows a button that copies a text and briefly confirms it. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const clipboard = useClipboard({ timeout: 1_500 });
  return (
    <Tooltip label={clipboard.copied ? 'Copied' : label}>
      <ActionIcon
        size="sm"
        className={styles.copy ?? ''}
        aria-label={clipboard.copied ? 'Copied' : label}
        onClick={() => clipboard.copy(typeof text === 'string' ? text : text())}
      >
        {clipboard.copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}
