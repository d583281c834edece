/**
 * What the shell remembers between starts, in one small file of the user-data folder: the window's place, the port, and
 * what the user chose. No secret is among it.
 *
 * Written whole under another name and renamed, so that it is never half there. A file that cannot be read, or
 * an entry that makes no sense, counts as nothing remembered: the shell starts all the same.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { type Departure, isDeparture, isPort } from '../../desktop-contract/channels.ts';
import { parseWindowState, type WindowState } from './window-state.ts';

export interface Settings {
  readonly window: WindowState | null;
  /** The port that the service was last started on, where it was looked for. */
  readonly port: number | null;
  /** The port that the user chose: that one or none. */
  readonly chosenPort: number | null;
  /** The data folder that the user chose, in full. */
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

/** What the file remembers; `warn` is told where there is a file that cannot be used. */
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
    warn(`${file} is not what was written there: ${String(error)}`);
    return noSettings;
  }
}

/** Writes the file; `warn` is told where that fails, since a window's place is not worth failing for. */
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
