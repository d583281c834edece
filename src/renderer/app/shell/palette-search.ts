/** Search for commands: every typed word must occur; titles that begin with the text rank first. */
import type { AppCommand } from '../../ui/command.ts';

/** Groups commands, groups in order of first occurrence. */
export function groupCommands(commands: readonly AppCommand[]): { group: string; commands: AppCommand[] }[] {
  const groups = new Map<string, AppCommand[]>();
  for (const command of commands) {
    const list = groups.get(command.group);
    if (list === undefined) groups.set(command.group, [command]);
    else list.push(command);
  }
  return [...groups].map(([group, list]) => ({ group, commands: list }));
}

/** Rank of a match: 0 if the title begins with the text, 1 if one of its words does, 2 otherwise; null for no match. */
function rank(command: AppCommand, typed: string, words: readonly string[]): number | null {
  const title = command.title.toLowerCase();
  const all = `${title} ${command.detail?.toLowerCase() ?? ''} ${command.group.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return null;
  if (title.startsWith(typed)) return 0;
  return title.split(/[\s(,_/]+/).some((word) => word.startsWith(typed)) ? 1 : 2;
}

/** Returns at most `limit` matching commands, best first; equal ranks keep their order. */
export function findCommands(commands: readonly AppCommand[], typed: string, limit: number): AppCommand[] {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '') return commands.slice(0, limit);
  const words = wanted.split(/\s+/);
  const ranked = commands
    .map((command) => ({ command, rank: rank(command, wanted, words) }))
    .filter((entry) => entry.rank !== null);
  return ranked
    .sort((left, right) => (left.rank ?? 0) - (right.rank ?? 0))
    .slice(0, limit)
    .map(({ command }) => command);
}
