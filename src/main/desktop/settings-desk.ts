/**
 * The settings that only the desktop has, for the page to read and change.
 *
 * What the environment sets is shown but cannot be changed. Folder, port and keys take effect when the user restarts
 * the service; secrets are write-only.
 */
import { app, shell as system } from 'electron';
import {
  type DesktopSettings,
  type ProviderKeyState,
  type DesktopProviderName,
  desktopProviderNames,
  type ReleaseState,
  type SettingsChange,
} from '../../desktop-contract/channels.ts';
import type { LoginItem } from './login-item.ts';
import { canNotify } from './notification.ts';
import { askFolder } from './questions.ts';
import { fetchRelease, type Release, releaseState } from './releases.ts';
import type { Secrets } from './secrets.ts';
import { providerSecret, type ServiceKeeper } from './service-keeper.ts';
import type { Settings } from './settings.ts';

export interface SettingsDeskParts {
  readonly settings: () => Settings;
  readonly change: (settings: Partial<Settings>) => void;
  readonly secrets: () => Secrets;
  readonly service: ServiceKeeper;
  readonly loginItem: LoginItem;
  /** Where to check for newer versions; null: nowhere. */
  readonly releasesAddress: string | null;
  /** Called when the known newer version changes. */
  readonly onRelease: () => void;
}

/** Reads and changes the desktop's settings. */
export class SettingsDesk {
  readonly #parts: SettingsDeskParts;
  #needsRestart = false;
  #nextFolder: string | null = null;
  #release: Release | null = null;
  #releaseState: ReleaseState;

  constructor(parts: SettingsDeskParts) {
    this.#parts = parts;
    this.#releaseState = { kind: parts.releasesAddress === null ? 'off' : 'unknown' };
  }

  /** The known newer version. */
  get newer(): Release | null {
    return this.#releaseState.kind === 'newer' ? this.#release : null;
  }

  /** The data folder chosen for the next start of the service; null: the current one. */
  get nextFolder(): string | null {
    return this.#nextFolder;
  }

  read(): DesktopSettings {
    const { service, loginItem } = this.#parts;
    const { chosenPort, departure, asksForReleases, notifiesOfWithdrawn } = this.#parts.settings();
    return {
      folder: this.#nextFolder ?? service.folder,
      isFolderFixed: service.isSet('STORAGE_DIR'),
      port: chosenPort,
      isPortFixed: service.isSet('PORT'),
      isAttached: service.isAttached,
      opensAtLogin: loginItem.isOn(),
      departure,
      asksForReleases,
      notifiesOfWithdrawn: notifiesOfWithdrawn && canNotify(),
      canNotify: canNotify(),
      release: this.#releaseState,
      secrets: this.#parts.secrets().place,
      providers: Object.fromEntries(
        desktopProviderNames.map((provider) => [provider, this.#providerState(provider)]),
      ) as Record<DesktopProviderName, ProviderKeyState>,
      needsRestart: this.#needsRestart,
    };
  }

  /** Makes the change. Rejects, in words for the user, if it cannot; nothing has changed then. */
  async change(change: SettingsChange): Promise<DesktopSettings> {
    const { service } = this.#parts;
    switch (change.kind) {
      case 'port':
        if (service.isSet('PORT')) throw new Error('The port is set by PORT.');
        this.#parts.change({ chosenPort: change.port });
        this.#needsRestart = true;
        break;
      case 'opensAtLogin':
        this.#parts.loginItem.set(change.value);
        break;
      case 'departure':
        this.#parts.change({ departure: change.value });
        break;
      case 'asksForReleases':
        this.#parts.change({ asksForReleases: change.value });
        if (!change.value) this.#setRelease(null, { kind: this.#unasked });
        break;
      case 'notifiesOfWithdrawn':
        this.#parts.change({ notifiesOfWithdrawn: change.value });
        break;
      case 'provider':
        if (service.hasProviderInEnvironment(change.provider))
          throw new Error('The key is set by the environment.');
        await this.#parts.secrets().put(providerSecret(change.provider), change.key);
        this.#needsRestart = true;
        break;
    }
    return this.read();
  }

  async chooseFolder(): Promise<DesktopSettings> {
    const { service } = this.#parts;
    if (service.isSet('STORAGE_DIR')) throw new Error('The folder is set by STORAGE_DIR.');
    const folder = await askFolder(service.folder);
    if (folder !== null && folder !== this.read().folder) {
      this.#parts.change({ folder });
      this.#nextFolder = folder;
      this.#needsRestart = true;
    }
    return this.read();
  }

  /** Checks for a newer version, if the user has switched that on and there is an address. */
  async checkReleases(): Promise<DesktopSettings> {
    const { releasesAddress } = this.#parts;
    if (releasesAddress === null || !this.#parts.settings().asksForReleases) return this.read();
    try {
      const release = await fetchRelease(releasesAddress, fetch);
      this.#setRelease(release, releaseState(app.getVersion(), release));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#setRelease(null, { kind: 'failed', reason });
    }
    return this.read();
  }

  async showRelease(): Promise<void> {
    if (this.newer === null) throw new Error('No newer version is known.');
    await system.openExternal(this.newer.page);
  }

  /** Call it when the service has started with the settings. */
  takenUp(): void {
    this.#needsRestart = false;
    this.#nextFolder = null;
  }

  get #unasked(): 'off' | 'unknown' {
    return this.#parts.releasesAddress === null ? 'off' : 'unknown';
  }

  #setRelease(release: Release | null, state: ReleaseState): void {
    this.#release = release;
    this.#releaseState = state;
    this.#parts.onRelease();
  }

  #providerState(provider: DesktopProviderName): ProviderKeyState {
    if (this.#parts.service.hasProviderInEnvironment(provider)) return 'environment';
    const secrets = this.#parts.secrets();
    return secrets.get(providerSecret(provider)) === null ? 'none' : secrets.place;
  }
}
