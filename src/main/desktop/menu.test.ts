import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, it } from 'vitest';
import {
  commandEntry,
  type CommandId,
  commandIds,
  menuTitles,
  named,
} from '../../desktop-contract/commands.ts';
import { focusesMenu, menuTemplate } from './menu.ts';

function build(
  commands: readonly { id: CommandId; title: string }[] = commandIds.map(named),
  platform: NodeJS.Platform = 'linux',
  listed: Partial<Parameters<typeof menuTemplate>[0]> = {},
) {
  const ran: CommandId[] = [];
  const template = menuTemplate({
    platform,
    commands,
    run: (id) => ran.push(id),
    windows: [],
    newWindow: () => undefined,
    closeWindow: () => undefined,
    recent: [],
    clearRecent: () => undefined,
    ...listed,
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
    for (const id of commandIds.filter((each) => each !== 'tab.close')) {
      const { title, keys } = commandEntry(id);
      const item = items.find((each) => each.id === id);
      expect(item).toMatchObject({ label: title.replaceAll('&', '&&'), enabled: true });
      if (keys === undefined || keys.length === 1) expect(item).not.toHaveProperty('accelerator');
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
    const off = items.filter((item) => item.enabled === false && item.id !== undefined);
    // Close is there without a tab: it closes the window.
    expect(off).toHaveLength(commandIds.length - 2);
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

  it('closes a tab with Ctrl+W while there are several, else the window; Ctrl+Q quits', () => {
    let closed = 0;
    const closeWindow = () => (closed += 1);
    const closing = (each: ReturnType<typeof build>) => each.items.find(({ id }) => id === 'tab.close');
    const tabs = build([named('tab.close')], 'linux', { closeWindow });
    expect(closing(tabs)).toMatchObject({ label: 'Close the tab', accelerator: 'CmdOrCtrl+W' });
    click(closing(tabs));
    expect([tabs.ran, closed]).toEqual([['tab.close'], 0]);
    const none = build([], 'linux', { closeWindow });
    expect(closing(none)).toMatchObject({ label: 'Close the window', accelerator: 'CmdOrCtrl+W' });
    click(closing(none));
    expect([none.ran, closed]).toEqual([[], 1]);
    expect(none.items.find(({ role }) => role === 'quit')).toMatchObject({ accelerator: 'CmdOrCtrl+Q' });
    expect(none.items.some(({ role }) => role === 'close')).toBe(false);
  });

  it('gives no two items the same keys', () => {
    const keys = build().items.flatMap(({ accelerator }) => accelerator ?? []);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('lists the windows and what was opened recently, and clears that list', () => {
    const opened: string[] = [];
    const item = (id: string, label: string) => ({ id, label, open: () => opened.push(id) });
    const { items } = build([], 'linux', {
      windows: [item('w1', 'Facts – Corollary'), { ...item('w2', 'Ask – R&D'), isFront: true }],
      recent: [item('d', 'Database ships'), item('f', 'family.dl')],
      clearRecent: () => opened.push('cleared'),
    });
    const named = (label: string) => items.find((each) => each.label === label);
    expect(named('Facts – Corollary')).toMatchObject({ type: 'checkbox', checked: false });
    expect(named('Ask – R&&D')).toMatchObject({ type: 'checkbox', checked: true });
    for (const label of ['Ask – R&&D', 'Database ships', 'family.dl', 'Clear the list']) click(named(label));
    expect(opened).toEqual(['w2', 'd', 'f', 'cleared']);
    expect(build().items.find(({ label }) => label === 'Nothing yet')).toMatchObject({ enabled: false });
  });
});

describe('the keyboard', () => {
  const f10 = { type: 'keyDown', key: 'F10', control: false, shift: false, alt: false, meta: false };

  it('focuses the menu bar with F10 alone, except on a Mac', () => {
    expect(focusesMenu(f10, 'linux')).toBe(true);
    expect(focusesMenu(f10, 'win32')).toBe(true);
    expect(focusesMenu(f10, 'darwin')).toBe(false);
    // Shift+F10 opens the context menu.
    for (const modifier of ['control', 'shift', 'alt', 'meta'])
      expect(focusesMenu({ ...f10, [modifier]: true }, 'linux')).toBe(false);
    expect(focusesMenu({ ...f10, type: 'keyUp' }, 'linux')).toBe(false);
    expect(focusesMenu({ ...f10, key: 'F6' }, 'linux')).toBe(false);
  });
});
