/** The icon in the system's tray, with its menu. */
import { clipboard, Menu, nativeImage, Tray } from 'electron';
import { join } from 'node:path';
import { tellTrouble } from './questions.ts';
import { statusLine, type TrayParts, type TrayStatus, trayTemplate } from './menu.ts';

/** The icon with its menu. If the system has no tray, Electron silently shows none. */
export class StatusTray {
  readonly #tray: Tray;
  readonly #parts: () => Omit<TrayParts, 'copy'>;

  /** `icons`: the folder of the icons. `parts` is read whenever the menu is made. */
  constructor(icons: string, platform: NodeJS.Platform, parts: () => Omit<TrayParts, 'copy'>) {
    this.#parts = parts;
    // macOS tints a template itself, and finds the larger one beside it.
    const name =
      platform === 'darwin' ? 'trayTemplate.png' : platform === 'win32' ? 'corollary.ico' : '32x32.png';
    this.#tray = new Tray(nativeImage.createFromPath(join(icons, name)));
    this.#tray.on('click', () => this.#parts().open());
    this.show({ kind: 'starting' });
  }

  show(status: TrayStatus): void {
    const copy = (text: string) => {
      clipboard.writeText(text).catch((error: unknown) => tellTrouble('The address was not copied', error));
    };
    this.#tray.setToolTip(`Corollary: ${statusLine(status)}`);
    this.#tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(status, { ...this.#parts(), copy })));
  }
}
