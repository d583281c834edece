import { expect, it } from 'vitest';
import '../../api/testing/browser.ts';
import type { AppCommand } from '../../ui/command.ts';
import { rowKeys } from '../../ui/row-keys.ts';
import { shortcutGroups } from './shortcuts-dialog.tsx';

const commands: readonly AppCommand[] = [
  { id: 'go.admin', title: 'Admin', group: 'Go to', keys: 'Alt+8', run: () => undefined },
  { id: 'go.facts', title: 'Facts', group: 'Go to', keys: 'Alt+1', run: () => undefined },
  { id: 'theme', title: 'Switch the theme', group: 'Workbench', run: () => undefined },
];

it('lists commands that have keys, by their keys', () => {
  const [first] = shortcutGroups(commands, '');
  expect(first).toEqual({
    group: 'Go to',
    keys: [
      ['Alt+1', 'Facts'],
      ['Alt+8', 'Admin'],
    ],
  });
});

it('lists every key of every grid, once in its group', () => {
  const groups = shortcutGroups([], '');
  for (const { group, keys } of Object.values(rowKeys)) {
    const listed = groups.filter((each) => each.group === group);
    expect(listed).toHaveLength(1);
    for (const { key, title } of Object.values(keys)) expect(listed[0]?.keys).toContainEqual([key, title]);
  }
});

it('filters by key, group and words together', () => {
  expect(shortcutGroups(commands, 'alt+8')).toEqual([{ group: 'Go to', keys: [['Alt+8', 'Admin']] }]);
  expect(shortcutGroups(commands, 'scopes FORK')).toEqual([
    { group: 'In the list of scopes', keys: [['F', 'Fork the scope']] },
  ]);
  expect(shortcutGroups(commands, 'no such thing')).toEqual([]);
});
