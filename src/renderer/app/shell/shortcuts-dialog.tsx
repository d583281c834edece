import { Modal, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { AppCommand } from '../../ui/command.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { KeyCaps } from '../../ui/tags.tsx';
import styles from './shell.module.css';
import { type Shortcut, shortcutGroups } from './shortcut-list.ts';

function Section({ title, rows }: { title: string; rows: readonly Shortcut[] }) {
  return (
    <section>
      <h3 className={styles.shortcutGroup}>{title}</h3>
      <dl className={styles.shortcuts}>
        {rows.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <KeyCaps keys={keys} />
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface ShortcutsDialogProps {
  commands: readonly AppCommand[];
  onClose: () => void;
}

/** Shows all shortcuts on one page, with a filter. */
export function ShortcutsDialog({ commands, onClose }: ShortcutsDialogProps) {
  const [text, setText] = useState('');
  const groups = shortcutGroups(commands, text);
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size={960}>
      <TextInput
        autoFocus
        data-autofocus
        mb="sm"
        aria-label="Filter the shortcuts"
        placeholder="Filter by key, view or words"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <div className={styles.shortcutColumns}>
        {groups.map(({ group, keys }) => (
          <Section key={group} title={group} rows={keys} />
        ))}
      </div>
      {groups.length === 0 && (
        <EmptyState title="No shortcut matches">No shortcut or view contains that text.</EmptyState>
      )}
    </Modal>
  );
}
