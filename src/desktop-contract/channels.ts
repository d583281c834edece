/**
 * All messages between the workbench's page and the desktop shell: one table for both sides.
 *
 * A channel has a check of its argument; an invalid argument is refused before the handler sees it. The shell only
 * signals that a request waits (`waitingChannel`), and the page fetches it: nothing is lost while a page loads. Facts
 * and rules use HTTP, as in a browser, never these channels. Secrets go to the shell and never come back, except the
 * key of the page's own service.
 */
import { type CommandId, commandIds, type CommandState, isCommandId } from './commands.ts';

/** Information about the shell for the page. */
interface ShellInfo {
  readonly version: string;
  readonly platform: string;
  readonly address: string;
  readonly dataFolder: string;
}

/** A theme, as menus and frames take it. */
type Theme = 'light' | 'dark' | 'system';

/**
 * A request for the page. `place`: an address of the workbench to open; `notice`: a message to the user; `file`: a
 * file to import, which starts nothing by itself.
 */
export type ShellRequest =
  | { readonly kind: 'command'; readonly id: CommandId }
  | { readonly kind: 'place'; readonly place: string }
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> };

/** `kept`: in the system's store. `session`: in memory until the program ends, since the system has no store. */
export type SecretPlace = 'kept' | 'session';

/** The key of the current service and how long it lasts; `null` if there is none. */
interface ServiceKey {
  readonly key: string | null;
  readonly place: SecretPlace;
}

/** Providers of language models, with the service's variables for their keys. */
export const providerKeys = {
  anthropic: { title: 'Anthropic', variable: 'LLM_PROVIDER_A_API_KEY', alias: 'ANTHROPIC_API_KEY' },
  openai: { title: 'OpenAI', variable: 'LLM_PROVIDER_B_API_KEY', alias: 'OPENAI_API_KEY' },
  google: { title: 'Google', variable: 'LLM_PROVIDER_C_API_KEY', alias: 'GEMINI_API_KEY' },
} as const;

/** Name of a provider. */
export type DesktopProviderName = keyof typeof providerKeys;
/** Names of the providers. */
export const desktopProviderNames = Object.keys(providerKeys) as DesktopProviderName[];

/** Source of a provider's key; `environment`: set outside and not changeable here. */
export type ProviderKeyState = SecretPlace | 'environment' | 'none';

/** What to do when the last window closes, or the program quits, while agents are connected. */
export const departures = ['ask', 'keep', 'quit'] as const;
/** One of these actions. */
export type Departure = (typeof departures)[number];

/** State of the update check; `off`: this build has no address to ask. */
export type ReleaseState =
  | { readonly kind: 'off' | 'unknown' | 'newest' }
  | { readonly kind: 'newer'; readonly version: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** The settings of the desktop application. */
export interface DesktopSettings {
  readonly folder: string;
  /** Set by STORAGE_DIR and not changeable here. */
  readonly isFolderFixed: boolean;
  /** The user's port; null: 9300, or the next free one. */
  readonly port: number | null;
  /** Set by PORT. */
  readonly isPortFixed: boolean;
  /** True if another program's service of the same folder is shown. */
  readonly isAttached: boolean;
  readonly opensAtLogin: boolean;
  readonly departure: Departure;
  readonly asksForReleases: boolean;
  /** Whether the system notifies the user of withdrawn conclusions. */
  readonly notifiesOfWithdrawn: boolean;
  /** Whether the system has notifications. */
  readonly canNotify: boolean;
  readonly release: ReleaseState;
  readonly secrets: SecretPlace;
  readonly providers: Readonly<Record<DesktopProviderName, ProviderKeyState>>;
  /** True if a change takes effect only after a restart of the service. */
  readonly needsRestart: boolean;
}

/** One change of the settings. The system's dialog chooses folders, so that a page cannot name one. */
export type SettingsChange =
  | { readonly kind: 'port'; readonly port: number | null }
  | { readonly kind: 'opensAtLogin'; readonly value: boolean }
  | { readonly kind: 'departure'; readonly value: Departure }
  | { readonly kind: 'asksForReleases' | 'notifiesOfWithdrawn'; readonly value: boolean }
  | { readonly kind: 'provider'; readonly provider: DesktopProviderName; readonly key: string | null };

/** What a window shows, as its page reports it. */
export interface PageState {
  /** The address of the workbench that it shows. */
  readonly place: string;
  readonly title: string;
  readonly database: string;
  /** What would be lost if the page ended now, each as a sentence. */
  readonly unsaved: readonly string[];
}

/** A text to drag out of the window as a file. */
export interface DraggedFile {
  readonly name: string;
  readonly text: string;
}

/** Handlers of all channels; a missing one does not compile. */
export type ChannelHandlers = {
  readonly [Name in ChannelName]: (argument: ArgumentOf<Name>) => ResultOf<Name> | Promise<ResultOf<Name>>;
};

interface Channel<Argument, Result> {
  readonly accepts: (value: unknown) => value is Argument;
  /** Only a type: the handler's result. */
  readonly result?: Result;
}

function channel<Argument, Result>(
  accepts: (value: unknown) => value is Argument,
): Channel<Argument, Result> {
  return { accepts };
}

/** The table of channels. */
const channels = {
  /** Returns where the service is and where it stores its data. */
  info: channel<undefined, ShellInfo>(isNothing),
  /** Shows the data folder in the system's file manager. */
  showDataFolder: channel<undefined, void>(isNothing),
  /** Makes menus and window frames follow the workbench's theme. */
  setTheme: channel<Theme, void>(isTheme),
  /** Sets the commands that can run now; the menu disables the others. */
  setCommands: channel<readonly CommandState[], void>(isCommandStates),
  /** Reports what the window shows and what would be lost with it. */
  setPage: channel<PageState, void>(isPageState),
  /** Begins to drag a file out of the window. */
  dragOut: channel<DraggedFile, void>(isDraggedFile),
  /** Asks where to save what the page prints as a PDF; the argument is the suggested name. False if the user cancels. */
  savePdf: channel<string, boolean>(isFileName),
  /** Adds the path of an imported file to the recent ones; '' if it has none. */
  noteFile: channel<string, void>(isPath),
  /** Returns and removes the requests for the page, in order. */
  takeRequests: channel<undefined, readonly ShellRequest[]>(isNothing),
  readKey: channel<undefined, ServiceKey>(isNothing),
  /** Stores the key of the current service, or forgets it. */
  keepKey: channel<string | null, SecretPlace>(isSecretOrNone),
  readSettings: channel<undefined, DesktopSettings>(isNothing),
  changeSettings: channel<SettingsChange, DesktopSettings>(isSettingsChange),
  /** Asks for another data folder in the system's dialog; it is used from the next start on. */
  chooseFolder: channel<undefined, DesktopSettings>(isNothing),
  /** Checks for a newer version now, if enabled. */
  checkReleases: channel<undefined, DesktopSettings>(isNothing),
  /** Opens the page of the newer version in the browser. */
  showRelease: channel<undefined, void>(isNothing),
  /** Restarts the service with the changes and reloads the page. */
  restartService: channel<undefined, void>(isNothing),
} as const;

/** Type of the table. */
type Channels = typeof channels;
/** Name of a channel. */
export type ChannelName = keyof Channels;
type ArgumentOf<Name extends ChannelName> =
  Channels[Name] extends Channel<infer Argument, infer _Result> ? Argument : never;
type ResultOf<Name extends ChannelName> =
  Channels[Name] extends Channel<infer _Argument, infer Result> ? Result : never;

/** The interface of the page, `window.corollary`. */
export type ShellApi = {
  readonly [Name in Exclude<ChannelName, 'noteFile'>]: ArgumentOf<Name> extends undefined
    ? () => Promise<ResultOf<Name>>
    : (argument: ArgumentOf<Name>) => Promise<ResultOf<Name>>;
} & {
  /** The page has no paths: the preload reads that of the file. */
  readonly noteFile: (file: File) => Promise<void>;
  /** Calls `listener` whenever a request waits. Returns a function that stops it. */
  readonly onWaiting: (listener: () => void) => () => void;
};

/** Names of all channels. */
export const channelNames = Object.keys(channels) as ChannelName[];

/** Returns the name of the channel for Electron. */
export function wireName(name: ChannelName): string {
  return `corollary:${name}`;
}

/** Channel on which the shell signals that a request waits, without data. */
export const waitingChannel = 'corollary:waiting';

/** Longest texts, in UTF-16 units. */
const longestSecret = 4096;
const longestTitle = 200;
const longestName = 300;
const longestPath = 4096;
const longestDragged = 64 * 1024 * 1024;
const maxUnsaved = 20;

function isNothing(value: unknown): value is undefined {
  return value === undefined;
}

function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark' || value === 'system';
}

function isCommandStates(value: unknown): value is readonly CommandState[] {
  if (!Array.isArray(value) || value.length > commandIds.length) return false;
  const states: readonly unknown[] = value;
  return states.every(isCommandState) && new Set(states.map(({ id }) => id)).size === states.length;
}

function isCommandState(value: unknown): value is CommandState {
  return hasOnly(value, ['id', 'title']) && isCommandId(value['id']) && isLine(value['title'], longestTitle);
}

function isPageState(value: unknown): value is PageState {
  if (!hasOnly(value, ['place', 'title', 'database', 'unsaved'])) return false;
  const { place, title, database, unsaved } = value;
  if (!isLine(place, longestPath) || !place.startsWith('/')) return false;
  if (!isLine(title, longestName) || !isLine(database, longestName)) return false;
  if (!Array.isArray(unsaved) || unsaved.length > maxUnsaved) return false;
  const lines: readonly unknown[] = unsaved;
  return lines.every((line) => isLine(line, longestName));
}

function isDraggedFile(value: unknown): value is DraggedFile {
  if (!hasOnly(value, ['name', 'text'])) return false;
  const { name, text } = value;
  return isFileName(name) && typeof text === 'string' && text.length <= longestDragged;
}

/** A file's name has no folder, and is not hidden. */
function isFileName(value: unknown): value is string {
  return isLine(value, longestTitle) && !/^\.|[/\\:*?"<>|]/.test(value);
}

function isPath(value: unknown): value is string {
  return value === '' || isLine(value, longestPath);
}

function isSecretOrNone(value: unknown): value is string | null {
  return value === null || isLine(value, longestSecret);
}

function isSettingsChange(value: unknown): value is SettingsChange {
  if (!isRecord(value)) return false;
  switch (value['kind']) {
    case 'port':
      return hasOnly(value, ['kind', 'port']) && (value['port'] === null || isPort(value['port']));
    case 'opensAtLogin':
    case 'asksForReleases':
    case 'notifiesOfWithdrawn':
      return hasOnly(value, ['kind', 'value']) && typeof value['value'] === 'boolean';
    case 'departure':
      return hasOnly(value, ['kind', 'value']) && isDeparture(value['value']);
    case 'provider':
      return (
        hasOnly(value, ['kind', 'provider', 'key']) &&
        isProvider(value['provider']) &&
        isSecretOrNone(value['key'])
      );
    default:
      return false;
  }
}

/** Returns true for a valid departure. */
export function isDeparture(value: unknown): value is Departure {
  return departures.some((departure) => departure === value);
}

function isProvider(value: unknown): value is DesktopProviderName {
  return typeof value === 'string' && Object.hasOwn(providerKeys, value);
}

/** Returns true for a valid port. */
export function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

/** A single non-blank line. */
function isLine(value: unknown, longest: number): value is string {
  return (
    typeof value === 'string' && value.trim() !== '' && value.length <= longest && !/\p{Cc}/u.test(value)
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A plain object with exactly these fields. */
function hasOnly(value: unknown, fields: readonly string[]): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const own = Object.keys(value);
  return own.length === fields.length && fields.every((field) => Object.hasOwn(value, field));
}

/** Runs the handler of `name`. Rejects an argument that the channel does not accept, before any handler sees it. */
export async function answerChannel<Name extends ChannelName>(
  handlers: ChannelHandlers,
  name: Name,
  argument: unknown,
): Promise<unknown> {
  // The table's check and its handler belong to the same name, which the compiler cannot follow through a variable.
  const accepts: (value: unknown) => boolean = channels[name].accepts;
  if (!accepts(argument)) throw new TypeError(`the argument of ${name} is not of its kind`);
  const answer: (argument: never) => unknown = handlers[name];
  return answer(argument as never);
}
