/** Copies a text, and says so for a moment. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import styles from './tags.module.css';

interface CopyButtonProps {
  /** The text, or how to make it. */
  text: string | (() => string);
  label: string;
  tabIndex?: number;
}

export function CopyButton({ text, label, tabIndex }: CopyButtonProps) {
  const clipboard = useClipboard({ timeout: 1_500 });
  return (
    <Tooltip label={clipboard.copied ? 'Copied' : label}>
      <ActionIcon
        size="sm"
        className={styles.copy ?? ''}
        aria-label={clipboard.copied ? 'Copied' : label}
        {...(tabIndex === undefined ? {} : { tabIndex })}
        onClick={() => clipboard.copy(typeof text === 'string' ? text : text())}
      >
        {clipboard.copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
}
