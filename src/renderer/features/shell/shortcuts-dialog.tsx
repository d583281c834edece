/** All keys on one page: those of commands as they are, those of grids, trees and editors in words. */
import { Modal } from '@mantine/core';
import type { Command } from '../../ui/command.ts';
import { Keys } from '../../ui/tags.tsx';
import { groupCommands } from './palette-search.ts';
import styles from './shell.module.css';

const fixed: readonly { group: string; keys: readonly (readonly [string, string])[] }[] = [
  {
    group: 'In a grid',
    keys: [
      ['Arrows', 'Move from cell to cell'],
      ['Home', 'First column; with Ctrl the first row'],
      ['End', 'Last column; with Ctrl the last row'],
      ['Enter', 'Open the row'],
      ['Delete', 'Mark the fact removed, delete the rule'],
      ['E', 'Switch the rule on or off'],
      ['W', 'What if the rule were left out'],
    ],
  },
  {
    group: 'In the grid of facts',
    keys: [
      ['F2', 'Edit the cell, as does Enter; Escape leaves it as it was'],
      ['R', 'Revert what is staged for the row'],
      ['Mod+Enter', 'Apply what is staged'],
      ['Mod+Z', 'Undo, what was applied too'],
      ['Mod+Y', 'Do again'],
    ],
  },
  {
    group: 'In a comparison of scopes',
    keys: [
      ['S', 'Take the version of the scope that is merged from'],
      ['T', 'Keep the version of the scope that is merged into'],
      ['B', 'Take both'],
      ['X', 'Take the choice back'],
      ['N', 'The next unresolved conflict'],
      ['Mod+Enter', 'Merge'],
      ['Mod+Z', 'Undo the last merge'],
    ],
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
      ['Enter', 'Go to the fact, the rule, or where the step is shown'],
      ['F', 'In the diagram: all of it'],
      ['Z', 'In the diagram: larger; with Shift smaller'],
    ],
  },
  {
    group: 'In an editor',
    keys: [
      ['Mod+Enter', 'Ask, teach, save, work out or choose'],
      ['Mod+Space', 'Suggest'],
      ['F8', 'Next problem'],
    ],
  },
];

function Section({ title, rows }: { title: string; rows: readonly (readonly [string, string])[] }) {
  return (
    <section>
      <h3 className={styles.shortcutGroup}>{title}</h3>
      <dl className={styles.shortcuts}>
        {rows.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <Keys keys={keys} />
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function ShortcutsDialog({
  commands,
  onClose,
}: {
  commands: readonly Command[];
  onClose: () => void;
}) {
  const withKeys = commands.filter((command) => command.keys !== undefined);
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts" size="lg">
      <div className={styles.shortcutColumns}>
        {groupCommands(withKeys).map(({ group, commands: list }) => (
          <Section
            key={group}
            title={group}
            rows={list.map(({ keys = '', title }) => [keys, title] as const)}
          />
        ))}
        {fixed.map(({ group, keys }) => (
          <Section key={group} title={group} rows={keys} />
        ))}
      </div>
    </Modal>
  );
}
