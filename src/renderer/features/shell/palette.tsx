/** The palette: every command, predicate, rule, question and scope by name. */
import { Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import type { Command } from '../../ui/command.ts';
import { Keys } from '../../ui/tags.tsx';

/** The commands by group, in the order in which the groups first occur. */
export function groupCommands(commands: readonly Command[]): { group: string; commands: Command[] }[] {
  const groups = new Map<string, Command[]>();
  for (const command of commands) {
    const list = groups.get(command.group);
    if (list === undefined) groups.set(command.group, [command]);
    else list.push(command);
  }
  return [...groups].map(([group, list]) => ({ group, commands: list }));
}

function actionsOf(commands: readonly Command[]): SpotlightActionGroupData[] {
  return groupCommands(commands).map(({ group, commands: list }) => ({
    group,
    actions: list.map((command) => ({
      id: command.id,
      label: command.title,
      keywords: [command.group],
      onClick: command.run,
      ...(command.detail === undefined ? {} : { description: command.detail }),
      ...(command.icon === undefined ? {} : { leftSection: command.icon }),
      ...(command.keys === undefined ? {} : { rightSection: <Keys keys={command.keys} /> }),
    })),
  }));
}

export function Palette({ commands }: { commands: readonly Command[] }) {
  return (
    <Spotlight
      actions={actionsOf(commands)}
      shortcut={null}
      limit={40}
      scrollable
      overlayProps={{ blur: 0, backgroundOpacity: 0.4 }}
      maxHeight="60vh"
      nothingFound="Nothing of that name"
      searchProps={{
        leftSection: <IconSearch size={17} aria-hidden />,
        placeholder: 'Commands, predicates, rules, questions, scopes',
        'aria-label': 'Search commands, predicates, rules, questions and scopes',
      }}
    />
  );
}
