/** The application menu: what the system's own shortcuts need (editing, zoom, windows), on every platform. */
import type { MenuItemConstructorOptions } from 'electron';

export function menuTemplate(platform: NodeJS.Platform): MenuItemConstructorOptions[] {
  const first: MenuItemConstructorOptions =
    platform === 'darwin' ? { role: 'appMenu' } : { label: '&File', submenu: [{ role: 'quit' }] };
  const view: MenuItemConstructorOptions = {
    label: '&View',
    submenu: [
      { role: 'reload' },
      { type: 'separator' },
      { role: 'resetZoom' },
      { role: 'zoomIn' },
      { role: 'zoomOut' },
      { type: 'separator' },
      { role: 'togglefullscreen' },
      { role: 'toggleDevTools' },
    ],
  };
  return [first, { role: 'editMenu' }, view, { role: 'windowMenu' }];
}
