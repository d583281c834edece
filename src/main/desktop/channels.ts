/**
 * Everything that the workbench's page can ask of the desktop shell: one table, used by both sides.
 *
 * A channel names its argument's check; an argument that fails it is refused before the handler sees it. Facts
 * and rules never pass here: they go over HTTP, as in a browser.
 */

/** What the page may know of the shell. */
export interface ShellInfo {
  readonly version: string;
  readonly platform: string;
  readonly address: string;
  readonly dataFolder: string;
}

export type Theme = 'light' | 'dark' | 'system';

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

function isNothing(value: unknown): value is undefined {
  return value === undefined;
}

function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark' || value === 'system';
}

export const channels = {
  /** Where the service is and where it keeps its data. */
  info: channel<undefined, ShellInfo>(isNothing),
  /** Shows the data folder in the system's file manager. */
  showDataFolder: channel<undefined, void>(isNothing),
  /** Makes menus and window frames follow the workbench's theme. */
  setTheme: channel<Theme, void>(isTheme),
} as const;

export type Channels = typeof channels;
export type ChannelName = keyof Channels;
type ArgumentOf<Name extends ChannelName> =
  Channels[Name] extends Channel<infer Argument, infer _Result> ? Argument : never;
type ResultOf<Name extends ChannelName> =
  Channels[Name] extends Channel<infer _Argument, infer Result> ? Result : never;

/** A handler for every channel; a missing one does not compile. */
export type ChannelHandlers = {
  readonly [Name in ChannelName]: (argument: ArgumentOf<Name>) => ResultOf<Name> | Promise<ResultOf<Name>>;
};

/** What the page sees, as `window.corollary`. */
export type ShellApi = {
  readonly [Name in ChannelName]: ArgumentOf<Name> extends undefined
    ? () => Promise<ResultOf<Name>>
    : (argument: ArgumentOf<Name>) => Promise<ResultOf<Name>>;
};

export const channelNames = Object.keys(channels) as ChannelName[];

/** Name of the channel on the wire. */
export function wireName(name: ChannelName): string {
  return `corollary:${name}`;
}

/** Runs the handler of `name`. Refuses an argument that the channel does not accept. */
export async function answerChannel<Name extends ChannelName>(
  handlers: ChannelHandlers,
  name: Name,
  argument: unknown,
): Promise<unknown> {
  const { accepts } = channels[name] as Channel<ArgumentOf<Name>, ResultOf<Name>>;
  if (!accepts(argument)) throw new TypeError(`the argument of ${name} is not of its kind`);
  return handlers[name](argument);
}
