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
import { readPlace } from '../../desktop-contract/places.ts';
import { parseRecent, type RecentItem } from './recent.ts';
import { parseWindowStates, type WindowStates } from './window-state.ts';

/** A window that the next start opens again. */
export interface SavedWindow {
  /** What it showed; null if unknown. */
  readonly place: string | null;
  readonly states: WindowStates;
}

export interface Settings {
  /** The windows that were open at the end, the front one last. */
  readonly windows: readonly SavedWindow[];
  /** What was opened recently, the latest first. */
  readonly recent: readonly RecentItem[];
  /** The port of the last start, if it had to be searched for. */
  readonly port: number | null;
  /** The port that the user chose; no other is tried. */
  readonly chosenPort: number | null;
  /** The full path of the data folder that the user chose. */
  readonly folder: string | null;
  readonly departure: Departure;
  readonly asksForReleases: boolean;
  readonly notifiesOfWithdrawn: boolean;
}

/** A start opens no more windows than this. */
const maxSavedWindows = 16;

export const noSettings: Settings = {
  windows: [],
  recent: [],
  port: null,
  chosenPort: null,
  folder: null,
  departure: 'ask',
  asksForReleases: false,
  notifiesOfWithdrawn: true,
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
  const { window, windows, recent, port, chosenPort, folder, departure, ...switches } = value as Partial<
    Record<keyof Settings | 'window', unknown>
  >;
  return {
    windows: parseWindows(windows, window),
    recent: parseRecent(recent),
    port: isPort(port) ? port : null,
    chosenPort: isPort(chosenPort) ? chosenPort : null,
    folder: typeof folder === 'string' && isAbsolute(folder) ? folder : null,
    departure: isDeparture(departure) ? departure : 'ask',
    asksForReleases: switches.asksForReleases === true,
    notifiesOfWithdrawn: switches.notifiesOfWithdrawn !== false,
  };
}

/** `only`: the state of the only window of an earlier version. */
function parseWindows(value: unknown, only: unknown): readonly SavedWindow[] {
  if (!Array.isArray(value)) {
    const states = parseWindowStates(only);
    return states.length === 0 ? [] : [{ place: null, states }];
  }
  const list: readonly unknown[] = value;
  return list.slice(0, maxSavedWindows).flatMap((each) => {
    if (typeof each !== 'object' || each === null) return [];
    const { place, states } = each as Partial<Record<keyof SavedWindow, unknown>>;
    return [
      { place: typeof place === 'string' ? readPlace(place) : null, states: parseWindowStates(states) },
    ];
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
