/**
 * Starts the application with the user's session: by the system's login items or, on Linux, which has none, by an entry
 * of the autostart folder.
 *
 * Such a start opens no window (`--hidden`), only the service and the tray.
 */
import { app } from 'electron';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { autostartEntry } from './autostart-entry.ts';

export const hiddenOption = '--hidden';

/** The file that starts this application: an AppImage runs from a temporary folder, but its own file stays. */
export function applicationFile(environment: Readonly<Record<string, string>>): string {
  return environment['APPIMAGE'] || process.execPath;
}

export interface LoginItem {
  isOn(): boolean;
  /** Throws the system's error if it cannot be written. */
  set(isOn: boolean): void;
}

/** The login item of this platform. */
export function loginItem(
  platform: NodeJS.Platform,
  environment: Readonly<Record<string, string>>,
): LoginItem {
  if (platform === 'linux') return autostart(environment);
  const start = { args: [hiddenOption] };
  return {
    isOn: () => app.getLoginItemSettings(start).openAtLogin,
    set: (openAtLogin) => app.setLoginItemSettings({ openAtLogin, ...start }),
  };
}

function autostart(environment: Readonly<Record<string, string>>): LoginItem {
  const folder = environment['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  const file = join(folder, 'autostart', 'corollary.desktop');
  return {
    isOn: () => existsSync(file),
    set: (isOn) => {
      if (!isOn) return rmSync(file, { force: true });
      mkdirSync(dirname(file), { recursive: true });
      const program = applicationFile(environment);
      const command = app.isPackaged ? [program] : [program, app.getAppPath()];
      writeFileSync(file, autostartEntry([...command, hiddenOption]));
    },
  };
}
