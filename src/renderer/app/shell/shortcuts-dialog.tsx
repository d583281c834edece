import { Modal, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import type { AppCommand } from '../../ui/command.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { rowKeys } from '../../ui/row-keys.ts';
import { KeyCaps } from '../../ui/tags.tsx';
import { groupCommands } from './palette.tsx';
import styles from './shell.module.css';

/** A shortcut such as `Mod+K` and its effect. */
type Shortcut = readonly [keys: string, what: string];

/** A titled group of shortcuts. */
interface ShortcutGroup {
  readonly group: string;
  readonly keys: readonly Shortcut[];
}

const fixed: readonly ShortcutGroup[] = [
  {
    group: 'In a grid',
    keys: [
      ['Arrows', 'Move from cell to cell'],
      ['Home', 'First column; again, or with Ctrl, the first row'],
      ['End', 'Last column; again, or with Ctrl, the last row'],
      ['PageDown', 'A page of rows down; with PageUp up'],
      ['Enter', 'Open the row'],
      ['Shift+F10', 'The menu of the row and the cell, with the entities in it'],
    ],
  },
  {
    group: 'In the grid of facts',
    keys: [
      ['F2', 'Edit the cell, as does Enter; Escape leaves it as it was'],
      ['Shift+Arrows', 'Choose several rows'],
      ['Mod+Space', 'Take a row in or out, as a click with Mod does'],
      ['Mod+A', 'Choose all rows, up to 10,000'],
      ['Mod+C', 'Copy the rows as TSV'],
      ['Mod+V', 'Stage the rows of the clipboard'],
      ['Mod+Enter', 'Apply what is staged'],
    ],
  },
  {
    group: 'In a comparison of scopes',
    keys: [['Mod+Enter', 'Merge']],
  },
  {
    group: 'In Ask',
    keys: [
      ['Alt+T', 'A new tab'],
      ['Alt+W', 'Close the tab, as does Delete on it'],
      ['Alt+Shift+T', 'Reopen the tab closed last'],
      ['Alt+PageDown', 'The next tab; with PageUp the one before'],
      ['F2', 'Rename the tab, on it'],
      ['Mod+S', 'Save the question'],
    ],
  },
  {
    group: 'In the graph of answers',
    keys: [
      ['Arrows', 'The nearest entity in that direction; Home and End the first and the last'],
      ['Enter', 'Unfold what is known about the entity, or fold it again'],
      ['F', 'All of it'],
      ['Z', 'Larger; with Shift smaller'],
    ],
  },
  {
    group: 'In the events of a trace',
    keys: [['Arrows', 'Step through events, and with them the premise that is marked']],
  },
  {
    group: 'In a proof',
    keys: [
      ['Arrows', 'Move; right unfolds, left folds'],
      ['*', 'Unfold all below'],
      ['+', 'Unfold a step'],
      ['-', 'Fold a step'],
      ['1 … 9', 'Unfold so many levels below'],
      ['/', 'Find steps'],
      ['N', 'The next match; with Shift the one before'],
      ['R', 'Show the proof from the step'],
      ['Backspace', 'Show the whole proof'],
      ['H', 'Hide what is about the same predicate'],
      ['A', 'The next way to a step; with Shift the one before'],
      ['C', 'Unfold the chain at the step, or fold it again'],
      ['Enter', 'Go to the fact, the rule, or where the step is shown'],
      ['F', 'In the diagram: all of it'],
      ['Z', 'In the diagram: larger; with Shift smaller'],
      ['D', 'In the diagram: from the top down, or to the right'],
    ],
  },
  {
    group: 'In the neighbourhood of an entity',
    keys: [
      ['Arrows', 'Up and down to the next box; right unfolds, left folds'],
      ['+', 'Unfold the box; - folds it'],
      ['Enter', 'Open the page of the entity, or show more neighbours'],
    ],
  },
  {
    group: 'In an editor',
    keys: [
      ['Mod+Enter', 'Ask, teach, save, work out or choose'],
      ['Enter', 'Ask a question of one line'],
      ['Shift+Enter', 'Break the line of a question'],
      ['Mod+Space', 'Suggest'],
      ['F8', 'Next problem'],
      ['Mod+.', 'Mend the problem at the cursor'],
      ['F12', 'Go to what concludes the predicate; with Shift, to all its places'],
      ['F2', 'Rename the predicate or variable'],
      ['Alt+Shift+F', 'Lay the statements out'],
      ['Ctrl+M', 'Let Tab leave an editor of rules, or indent again; on a Mac with Shift'],
    ],
  },
  {
    group: 'In the graph of rules',
    keys: [
      ['Arrows', 'The nearest relation in that direction'],
      ['Enter', 'Choose the relation'],
      ['+', 'Larger; - is smaller, 0 shows all'],
    ],
  },
];

/** The shortcuts of views; a grid's row actions join the group of that grid. */
function viewGroups(): ShortcutGroup[] {
  const groups = new Map(fixed.map(({ group, keys }) => [group, keys]));
  for (const { group, keys } of Object.values(rowKeys)) {
    const ofRows = Object.values(keys).map(({ key, title }): Shortcut => [key, title]);
    groups.set(group, [...ofRows, ...(groups.get(group) ?? [])]);
  }
  return [...groups].map(([group, keys]) => ({ group, keys }));
}

function commandGroups(commands: readonly AppCommand[]): ShortcutGroup[] {
  const withKeys = commands.filter(({ keys }) => keys !== undefined);
  return groupCommands(withKeys).map(({ group, commands: list }) => ({
    group,
    keys: list
      .map(({ keys = '', title }): Shortcut => [keys, title])
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  }));
}

/** Returns the groups, limited to shortcuts that contain every word of `text` in keys, description or group. */
export function shortcutGroups(commands: readonly AppCommand[], text: string): ShortcutGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const passes = (all: string): boolean => words.every((word) => all.toLowerCase().includes(word));
  return [...commandGroups(commands), ...viewGroups()]
    .map(({ group, keys }) => ({
      group,
      keys: keys.filter(([pressed, what]) => passes(`${group} ${pressed.replace('Mod', 'Ctrl')} ${what}`)),
    }))
    .filter(({ keys }) => keys.length > 0);
}

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
