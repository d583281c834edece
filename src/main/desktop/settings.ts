/**
 * What the shell remembers between starts, in one small file of the user-data folder: the window's bounds, the port,
 * and the user's choices. It contains no secret.
 *
 * It is written under another name and renamed, so it is never incomplete. A file that cannot be read, or an invalid
 * entry, counts as nothing remembered: the shell starts all the same.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { type Departure, isDeparture, isPort } from '../../desktop-contract/channels.ts';
import { parseWindowState, type WindowState } from './window-state.ts';

export interface Settings {
  readonly window: WindowState | null;
  /** The port of the last start, if it had to be searched for. */
  readonly port: number | null;
  /** The port that the user chose; no other is tried. */
  readonly chosenPort: number | null;
  /** The full path of the data folder that the user chose. */
  readonly folder: string | null;
  readonly departure: Departure;
  readonly asksForReleases: boolean;
}

export const noSettings: Settings = {
  window: null,
  port: null,
  chosenPort: null,
  folder: null,
  departure: 'ask',
  asksForReleases: false,
};

/** Reads the file; calls `warn` if there is one that cannot be used. */
export function readSettings(file: string, warn: (message: string) => void): Settings {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (!isMissing(error)) warn(`${file} cannot be read: ${String(error)}`);
    return noSettings;
  }
  try {
    return parseSettings(JSON.parse(text));
  } catch (error) {
    warn(`${file} has unexpected contents: ${String(error)}`);
    return noSettings;
  }
}

/** Writes the file; calls `warn` if that fails, since a window's bounds are not worth failing for. */
export function writeSettings(file: string, settings: Settings, warn: (message: string) => void): void {
  const draft = `${file}.new`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    warn(`${file} cannot be written: ${String(error)}`);
  }
}

function parseSettings(value: unknown): Settings {
  if (typeof value !== 'object' || value === null) return noSettings;
  const { window, port, chosenPort, folder, departure, asksForReleases } = value as Partial<
    Record<keyof Settings, unknown>
  >;
  return {
    window: parseWindowState(window),
    port: isPort(port) ? port : null,
    chosenPort: isPort(chosenPort) ? chosenPort : null,
    folder: typeof folder === 'string' && isAbsolute(folder) ? folder : null,
    departure: isDeparture(departure) ? departure : 'ask',
    asksForReleases: asksForReleases === true,
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
