/** The menu of the tray: how the service stands, where it is, the way back to the window, and the way out. */
import type { MenuItemConstructorOptions } from 'electron';

/** How the service stands, as the tray says it. */
export type TrayStatus =
  | { readonly kind: 'starting' | 'stopped' }
  | { readonly kind: 'running' | 'attached'; readonly address: string };

export interface TrayParts {
  readonly open: () => void;
  readonly quit: () => void;
  readonly copy: (text: string) => void;
  /** A newer version that is known of, and the way to its page. */
  readonly release: { readonly version: string; readonly show: () => void } | null;
}

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
