import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, it } from 'vitest';
import {
  commandEntry,
  type CommandId,
  commandIds,
  menuTitles,
  named,
} from '../../desktop-contract/commands.ts';
import { menuTemplate } from './menu.ts';

function build(
  commands: readonly { id: CommandId; title: string }[] = commandIds.map(named),
  platform: NodeJS.Platform = 'linux',
) {
  const ran: CommandId[] = [];
  const template = menuTemplate({
    platform,
    commands,
    run: (id) => ran.push(id),
    showDataFolder: () => undefined,
    showLogs: () => undefined,
    showReference: () => undefined,
    reportProblem: () => undefined,
  });
  return { template, items: itemsOf(template), ran };
}

function itemsOf(template: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return template.flatMap((item) => [item, ...(Array.isArray(item.submenu) ? itemsOf(item.submenu) : [])]);
}

function click(item: MenuItemConstructorOptions | undefined): void {
  (item?.click as (() => void) | undefined)?.();
}

describe('the menu', () => {
  it.each(['linux', 'win32', 'darwin'] as const)('has every command of the table once, on %s', (platform) => {
    const { items, template } = build(undefined, platform);
    const ids = items.flatMap(({ id }) => (id === undefined ? [] : [id]));
    expect(ids.toSorted()).toEqual(commandIds.toSorted());
    const labels = template.flatMap(({ label }) => (label === undefined ? [] : [label]));
    const titles = new Set(labels.map((label) => label.replace('&', '')));
    for (const title of Object.values(menuTitles)) expect(titles).toContain(title);
  });

  it('runs a command as the palette does, shows its keys, and leaves them to the page', () => {
    const { items } = build();
    for (const id of commandIds) {
      const { title, keys } = commandEntry(id);
      const item = items.find((each) => each.id === id);
      expect(item).toMatchObject({ label: title.replaceAll('&', '&&'), enabled: true });
      if (keys?.includes('+') !== true) expect(item).not.toHaveProperty('accelerator');
      else
        expect(item).toMatchObject({
          accelerator: keys.replace('Mod', 'CmdOrCtrl'),
          registerAccelerator: false,
        });
    }
  });

  it('gives no two commands the same keys', () => {
    const keys = commandIds.flatMap((id) => commandEntry(id).keys ?? []);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('runs the command of the selected item', () => {
    const { items, ran } = build();
    for (const id of commandIds) click(items.find((each) => each.id === id));
    expect(ran).toEqual(commandIds);
  });

  it('disables what the page does not offer and runs the rest as the page does', () => {
    const { items } = build([{ id: 'tour', title: 'Leave the tour & rest' }]);
    const enabled = items.filter((item) => item.enabled === true);
    expect(enabled).toEqual([expect.objectContaining({ id: 'tour', label: 'Leave the tour && rest' })]);
    expect(items.filter((item) => item.enabled === false)).toHaveLength(commandIds.length - 1);
  });

  it('opens every menu with Alt and a letter that no other has, except on a Mac', () => {
    const letters = build(undefined, 'linux').template.map(({ label = '' }) => /&(.)/.exec(label)?.[1]);
    expect(letters.every((letter) => letter !== undefined)).toBe(true);
    expect(new Set(letters).size).toBe(letters.length);
  });

  it('has About, the reference, the log and a report of a problem in Help', () => {
    const help = build(undefined, 'linux').template.at(-1);
    const labels = ((help?.submenu ?? []) as MenuItemConstructorOptions[]).map(({ label }) => label);
    for (const label of ['API reference', 'Show the log', 'Report a problem…', 'About Corollary'])
      expect(labels).toContain(label);
  });

  it('has the ways out that a system expects', () => {
    expect(build(undefined, 'linux').items.some(({ role }) => role === 'quit')).toBe(true);
    expect(build(undefined, 'darwin').template[0]).toEqual({ role: 'appMenu' });
  });
});
