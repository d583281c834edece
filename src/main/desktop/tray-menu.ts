/** The menu of the tray: the state of the service, its address, the window, and quitting. */
import type { MenuItemConstructorOptions } from 'electron';

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

/** The template of the tray's menu. */
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
    ...(release === null ? [] : [{ label: `Version ${release.version} Is There…`, click: release.show }]),
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
