/**
 * The storage folder if STORAGE_DIR is not set: one folder per user, whether the desktop application, `npm start`, the
 * command line or the bridge starts the service.
 *
 * Earlier versions had two, one of them for the desktop application. Existing knowledge is found again, so an update
 * hides nothing: a program uses the folder it used before, else the other program's, else the platform's.
 */
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** The program that asks: the desktop application, or the service without a window. */
export type ProgramKind = 'desktop' | 'service';

interface FolderOptions {
  readonly platform?: NodeJS.Platform;
  /** Where the desktop application stored its knowledge; by default Electron's folder on this platform. */
  readonly desktopFolder?: string;
}

/** The default folder. Lists the contents of folders and writes nothing. */
export function defaultFolder(
  program: ProgramKind,
  environment: Environment,
  {
    platform = process.platform,
    desktopFolder = desktopDataFolder(environment, platform),
  }: FolderOptions = {},
): string {
  const service = serviceDataFolder(environment, platform);
  const known = program === 'desktop' ? [desktopFolder, service] : [service, desktopFolder];
  return known.find(holdsKnowledge) ?? (platform === 'darwin' ? desktopFolder : service);
}

/** The folder of `corollary` at the command line: `./data` if it already has knowledge, else the default one. */
export function commandLineFolder(environment: Environment): string {
  return holdsKnowledge('data') ? './data' : defaultFolder('service', environment);
}

/** Segments of a log and snapshots, including a snapshot received from a leader. */
const storedFile = /^\d{10,}\.(log|snapshot(\.received)?)$/;

/** Whether a folder has a log or snapshots; false if it cannot be listed. */
export function holdsKnowledge(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => storedFile.test(name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'EPERM') return false;
    throw error;
  }
}

/** The platform's folder for program data. */
function serviceDataFolder(environment: Environment, platform: NodeJS.Platform): string {
  const home = homedir();
  if (platform === 'win32')
    return join(environment['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'Corollary');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Corollary');
  return join(baseFolder(environment['XDG_DATA_HOME'], join(home, '.local', 'share')), 'corollary');
}

/** `data` in Electron's user-data folder of the application. */
function desktopDataFolder(environment: Environment, platform: NodeJS.Platform): string {
  const home = homedir();
  if (platform === 'win32')
    return join(environment['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'Corollary', 'data');
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Corollary', 'data');
  return join(baseFolder(environment['XDG_CONFIG_HOME'], join(home, '.config')), 'Corollary', 'data');
}

/** A relative path counts as not set, as the specification of these variables says. */
function baseFolder(given: string | undefined, usual: string): string {
  return given !== undefined && isAbsolute(given) ? given : usual;
}
