/**
 * The application menu: the palette's commands from their table, and the standard items for editing, zoom and windows.
 *
 * A command is disabled until the page says that it can run. Its keys are shown but not registered: the page handles
 * them, since they may mean something else in a field or an editor.
 */
import type { Input, MenuItemConstructorOptions } from 'electron';
import {
  commandEntry,
  type CommandId,
  commandIds,
  type CommandState,
  type MenuName,
  menuTitles,
} from '../../desktop-contract/commands.ts';

interface MenuParts {
  readonly platform: NodeJS.Platform;
  /** The commands that can run. */
  readonly commands: readonly CommandState[];
  readonly run: (id: CommandId) => void;
  /** The open windows, in the order of their titles. */
  readonly windows: readonly ListedItem[];
  readonly newWindow: () => void;
  readonly closeWindow: () => void;
  /** Databases and files that were opened recently, the latest first. */
  readonly recent: readonly ListedItem[];
  readonly clearRecent: () => void;
  readonly showDataFolder: () => void;
  readonly showLogs: () => void;
  readonly showReference: () => void;
  readonly reportProblem: () => void;
}

/** An item of a list that changes. */
interface ListedItem {
  readonly id: string;
  readonly label: string;
  /** The window in front. */
  readonly isFront?: boolean;
  readonly open: () => void;
}

const separator: MenuItemConstructorOptions = { type: 'separator' };

/**
 * The template of the menu. Labels are written as the palette writes them; those of Electron's own items are replaced
 * where they are not. The letter after `&` opens a menu together with Alt.
 */
export function menuTemplate(parts: MenuParts): MenuItemConstructorOptions[] {
  const isMac = parts.platform === 'darwin';
  const menu = (name: MenuName, ...more: MenuItemConstructorOptions[]): MenuItemConstructorOptions => ({
    label: `&${menuTitles[name]}`,
    submenu: [...commandItems(name, parts), ...more],
  });
  const about: MenuItemConstructorOptions[] = isMac
    ? []
    : [separator, { role: 'about', label: 'About Corollary' }];
  return [
    ...(isMac ? [{ role: 'appMenu' } as const] : []),
    menu(
      'file',
      separator,
      { label: 'New window', accelerator: 'CmdOrCtrl+Shift+N', click: parts.newWindow },
      { label: 'Open recent', submenu: recentItems(parts) },
      { label: 'Show the data folder', click: parts.showDataFolder },
      separator,
      closeItem(parts),
      ...(isMac ? [] : [{ role: 'quit', label: 'Quit', accelerator: 'CmdOrCtrl+Q' } as const]),
    ),
    { role: 'editMenu', label: '&Edit' },
    menu('go'),
    menu('knowledge'),
    menu('agents'),
    menu(
      'view',
      separator,
      { role: 'reload' },
      separator,
      { role: 'resetZoom', label: 'Actual size' },
      { role: 'zoomIn', label: 'Zoom in' },
      { role: 'zoomOut', label: 'Zoom out' },
      separator,
      { role: 'togglefullscreen', label: 'Full screen' },
      { role: 'toggleDevTools', label: 'Developer tools' },
    ),
    isMac
      ? { role: 'windowMenu' }
      : {
          label: '&Window',
          submenu: [
            { role: 'minimize' },
            { label: 'Close the window', accelerator: 'CmdOrCtrl+Shift+W', click: parts.closeWindow },
            separator,
            ...parts.windows.map(({ id, label, isFront, open }) => ({
              id,
              label: menuLabel(label),
              type: 'checkbox' as const,
              checked: isFront === true,
              click: open,
            })),
          ],
        },
    menu(
      'help',
      separator,
      { label: 'API reference', click: parts.showReference },
      { label: 'Show the log', click: parts.showLogs },
      { label: 'Report a problem…', click: parts.reportProblem },
      ...about,
    ),
  ];
}

/** Whether a key gives the menu bar the focus: F10 alone, as other programs of Linux and Windows have it. */
export function focusesMenu(
  {
    type,
    key,
    control,
    shift,
    alt,
    meta,
  }: Pick<Input, 'type' | 'key' | 'control' | 'shift' | 'alt' | 'meta'>,
  platform: NodeJS.Platform,
): boolean {
  const isAlone = !control && !shift && !alt && !meta;
  return platform !== 'darwin' && type === 'keyDown' && key === 'F10' && isAlone;
}

/** Ctrl+W closes a tab first, then the window. */
function closeItem({ commands, run, closeWindow }: MenuParts): MenuItemConstructorOptions {
  const tab = commands.find(({ id }) => id === closeTab);
  return {
    id: closeTab,
    label: tab === undefined ? 'Close the window' : menuLabel(tab.title),
    accelerator: 'CmdOrCtrl+W',
    click: () => (tab === undefined ? closeWindow() : run(closeTab)),
  };
}

const closeTab = 'tab.close' satisfies CommandId;

function recentItems({ recent, clearRecent }: MenuParts): MenuItemConstructorOptions[] {
  const items = recent.map(({ id, label, open }) => ({ id, label: menuLabel(label), click: open }));
  return items.length === 0
    ? [{ label: 'Nothing yet', enabled: false }]
    : [...items, separator, { label: 'Clear the list', click: clearRecent }];
}

function commandItems(name: MenuName, { commands, run }: MenuParts): MenuItemConstructorOptions[] {
  const titles = new Map(commands.map(({ id, title }) => [id, title]));
  return commandIds
    .filter((id) => commandEntry(id).menu === name && id !== closeTab)
    .map((id) => ({
      id,
      label: menuLabel(titles.get(id) ?? commandEntry(id).title),
      enabled: titles.has(id),
      ...accelerator(commandEntry(id).keys),
      click: () => run(id),
    }));
}

/** In a menu a single `&` would underline the next character. */
function menuLabel(title: string): string {
  return title.replaceAll('&', '&&');
}

/** A single character is not an accelerator: it would interfere with typing. */
function accelerator(keys: string | undefined): MenuItemConstructorOptions {
  if (keys === undefined || keys.length === 1) return {};
  return { accelerator: keys.replace('Mod', 'CmdOrCtrl'), registerAccelerator: false };
}

/** The state of the service for the tray. */
export type TrayStatus =
  | { readonly kind: 'starting' | 'stopped' }
  | { readonly kind: 'running' | 'attached'; readonly address: string };

export interface TrayParts {
  readonly open: () => void;
  readonly quit: () => void;
  readonly copy: (text: string) => void;
  /** The known newer version, and the function that shows its page. */
  readonly release: { readonly version: string; readonly show: () => void } | null;
}

/** The template of the tray's menu: the state of the service, its address, the window, and quitting. */
export function trayTemplate(status: TrayStatus, parts: TrayParts): MenuItemConstructorOptions[] {
  const { release } = parts;
  return [
    { label: statusLine(status), enabled: false },
    ...(status.kind === 'running' || status.kind === 'attached'
      ? [
          { label: 'Copy the Address', click: () => parts.copy(status.address) },
          { label: 'Copy the Address for Agents (MCP)', click: () => parts.copy(`${status.address}/mcp`) },
        ]
      : []),
    { type: 'separator' },
    { label: 'Open Corollary', click: parts.open },
    ...(release === null ? [] : [{ label: `Version ${release.version} Is Available…`, click: release.show }]),
    { type: 'separator' },
    { label: 'Quit', click: parts.quit },
  ];
}

/** The state of the service in one line. */
export function statusLine(status: TrayStatus): string {
  switch (status.kind) {
    case 'starting':
      return 'Starting…';
    case 'stopped':
      return 'The service has stopped';
    case 'running':
      return `Running at ${status.address}`;
    case 'attached':
      return `Attached to ${status.address}`;
  }
}
