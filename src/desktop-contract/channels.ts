/**
 * Everything that the workbench's page and the desktop shell say to each other: one table, used by both sides.
 *
 * A channel names its argument's check; an argument that fails it is refused before the handler sees it. The shell itself
 * says only that something waits (`waitingChannel`), and the page fetches it: so nothing is lost that comes while a page
 * is loaded. Facts and rules never pass here: they go over HTTP, as in a browser. Secrets go to the shell and, but for the
 * key of the page's own service, never come back.
 */
import { type CommandId, commandIds, type CommandState, isCommandId } from './commands.ts';

/** What the page may know of the shell. */
export interface ShellInfo {
  readonly version: string;
  readonly platform: string;
  readonly address: string;
  readonly dataFolder: string;
}

export type Theme = 'light' | 'dark' | 'system';

/**
 * What waits for the page. `place` is an address of the workbench; `notice` is told to the user; `file` is one to import,
 * which runs nothing by itself.
 */
export type ShellRequest =
  | { readonly kind: 'command'; readonly id: CommandId }
  | { readonly kind: 'place'; readonly place: string }
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> };

/** `kept`: by the system's store. `session`: in memory until the program ends, since the system has no such store. */
export type SecretPlace = 'kept' | 'session';

/** The key of the service that is shown, and how it lasts; `null`: there is none. */
export interface ServiceKey {
  readonly key: string | null;
  readonly place: SecretPlace;
}

/** Providers of language models, by the variables of the service that hold their keys. */
export const providerKeys = {
  anthropic: { title: 'Anthropic', variable: 'LLM_PROVIDER_A_API_KEY', alias: 'ANTHROPIC_API_KEY' },
  openai: { title: 'OpenAI', variable: 'LLM_PROVIDER_B_API_KEY', alias: 'OPENAI_API_KEY' },
  google: { title: 'Google', variable: 'LLM_PROVIDER_C_API_KEY', alias: 'GEMINI_API_KEY' },
} as const;

export type ProviderName = keyof typeof providerKeys;
export const providerNames = Object.keys(providerKeys) as ProviderName[];

/** Where a provider's key is from; `environment`: set outside, and not to be changed here. */
export type ProviderKeyState = SecretPlace | 'environment' | 'none';

/** What to do when the last window is closed, or the program is to quit, while agents are connected. */
export const departures = ['ask', 'keep', 'quit'] as const;
export type Departure = (typeof departures)[number];

/** What is known of newer versions; `off`: this build has no address to ask. */
export type ReleaseState =
  | { readonly kind: 'off' | 'unknown' | 'newest' }
  | { readonly kind: 'newer'; readonly version: string }
  | { readonly kind: 'failed'; readonly reason: string };

export interface DesktopSettings {
  readonly folder: string;
  /** Set by STORAGE_DIR: not to be changed here. */
  readonly isFolderFixed: boolean;
  /** The port that the user chose; null: 9300, or the next free one. */
  readonly port: number | null;
  /** Set by PORT. */
  readonly isPortFixed: boolean;
  /** Not of this program: another one's service of the same folder is shown. */
  readonly isAttached: boolean;
  readonly opensAtLogin: boolean;
  readonly departure: Departure;
  readonly asksForReleases: boolean;
  readonly release: ReleaseState;
  readonly secrets: SecretPlace;
  readonly providers: Readonly<Record<ProviderName, ProviderKeyState>>;
  /** Whether something was changed that the service takes up when it is started again. */
  readonly needsRestart: boolean;
}

/** One change of the settings. A folder is chosen in the system's own dialog, so that a page can name none. */
export type SettingsChange =
  | { readonly kind: 'port'; readonly port: number | null }
  | { readonly kind: 'opensAtLogin'; readonly value: boolean }
  | { readonly kind: 'departure'; readonly value: Departure }
  | { readonly kind: 'asksForReleases'; readonly value: boolean }
  | { readonly kind: 'provider'; readonly provider: ProviderName; readonly key: string | null };

/** Answers a channel: a missing handler does not compile. */
export type ChannelHandlers = {
  readonly [Name in ChannelName]: (argument: ArgumentOf<Name>) => ResultOf<Name> | Promise<ResultOf<Name>>;
};

interface Channel<Argument, Result> {
  readonly accepts: (value: unknown) => value is Argument;
  /** Only a type: what the handler answers. */
  readonly result?: Result;
}

function channel<Argument, Result>(
  accepts: (value: unknown) => value is Argument,
): Channel<Argument, Result> {
  return { accepts };
}

export const channels = {
  /** Where the service is and where it keeps its data. */
  info: channel<undefined, ShellInfo>(isNothing),
  /** Shows the data folder in the system's file manager. */
  showDataFolder: channel<undefined, void>(isNothing),
  /** Makes menus and window frames follow the workbench's theme. */
  setTheme: channel<Theme, void>(isTheme),
  /** The commands that can be run now: the others are grey in the menu. */
  setCommands: channel<readonly CommandState[], void>(isCommandStates),
  /** Takes what waits for the page, in order. */
  takeRequests: channel<undefined, readonly ShellRequest[]>(isNothing),
  readKey: channel<undefined, ServiceKey>(isNothing),
  /** Keeps the key of the service that is shown, or forgets it. */
  keepKey: channel<string | null, SecretPlace>(isSecretOrNone),
  readSettings: channel<undefined, DesktopSettings>(isNothing),
  changeSettings: channel<SettingsChange, DesktopSettings>(isSettingsChange),
  /** Asks in the system's dialog for another data folder; what was chosen is taken up with the next start. */
  chooseFolder: channel<undefined, DesktopSettings>(isNothing),
  /** Asks for a newer version now, where that is switched on. */
  checkReleases: channel<undefined, DesktopSettings>(isNothing),
  /** Opens the page of the newer version in the browser. */
  showRelease: channel<undefined, void>(isNothing),
  /** Starts the service again with what was changed; the page is loaded anew. */
  restartService: channel<undefined, void>(isNothing),
} as const;

export type Channels = typeof channels;
export type ChannelName = keyof Channels;
type ArgumentOf<Name extends ChannelName> =
  Channels[Name] extends Channel<infer Argument, infer _Result> ? Argument : never;
type ResultOf<Name extends ChannelName> =
  Channels[Name] extends Channel<infer _Argument, infer Result> ? Result : never;

/** What the page sees, as `window.corollary`. */
export type ShellApi = {
  readonly [Name in ChannelName]: ArgumentOf<Name> extends undefined
    ? () => Promise<ResultOf<Name>>
    : (argument: ArgumentOf<Name>) => Promise<ResultOf<Name>>;
} & {
  /** Calls `listener` whenever something waits. Answers how to stop it. */
  readonly onWaiting: (listener: () => void) => () => void;
};

export const channelNames = Object.keys(channels) as ChannelName[];

/** Name of the channel on the wire. */
export function wireName(name: ChannelName): string {
  return `corollary:${name}`;
}

/** On which the shell says that something waits; it carries nothing. */
export const waitingChannel = 'corollary:waiting';

/** Of a key, and of a title, in UTF-16 units. */
const longestSecret = 4096;
const longestTitle = 200;

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

export function isDeparture(value: unknown): value is Departure {
  return departures.some((departure) => departure === value);
}

function isProvider(value: unknown): value is ProviderName {
  return typeof value === 'string' && Object.hasOwn(providerKeys, value);
}

export function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

/** Text of one line that is not blank. */
function isLine(value: unknown, longest: number): value is string {
  return (
    typeof value === 'string' && value.trim() !== '' && value.length <= longest && !/\p{Cc}/u.test(value)
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A plain object with just these fields. */
function hasOnly(value: unknown, fields: readonly string[]): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const own = Object.keys(value);
  return own.length === fields.length && fields.every((field) => Object.hasOwn(value, field));
}
