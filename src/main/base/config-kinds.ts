/**
 * The types of values that environment variables take.
 *
 * A kind parses text into a value, or returns `undefined` if the text is invalid; `takes` describes the valid texts.
 * Nothing here knows the name of a variable.
 */

/** Parses the text of a variable into a value. */
export interface Kind<Value> {
  readonly takes: string;
  /** True: the value is never printed, only its length. */
  readonly secret: boolean;
  read(text: string): Value | undefined;
}

function kind<Value>(takes: string, read: (text: string) => Value | undefined): Kind<Value> {
  return { takes, secret: false, read };
}

/** The same kind, whose value is never printed. */
export function secret<Value>(of: Kind<Value>): Kind<Value> {
  return { ...of, secret: true };
}

/** The same kind; the value of an unset variable is `null`. */
export function nullable<Value>(of: Kind<Value>): Kind<Value | null> {
  return of;
}

export const flag = kind('true or false', (text) =>
  text === 'true' ? true : text === 'false' ? false : undefined,
);

export const text = kind('text', (value) => value);

export const filePath = kind('a path', (value) => (value.includes('\0') ? undefined : value));

/** A key in the characters that a header allows. */
export const apiKey = secret(
  kind('1 to 512 visible ASCII characters', (value) =>
    /^[\x21-\x7e]{1,512}$/.test(value) ? value : undefined,
  ),
);

export const hexKey = secret(
  kind('64 hexadecimal characters', (value) => (/^[0-9a-f]{64}$/i.test(value) ? value : undefined)),
);

/** A whole number within bounds. */
export function integer(least: number, greatest: number): Kind<number> {
  return kind(`a whole number from ${least} to ${greatest}`, (value) => {
    if (!/^\d{1,16}$/.test(value)) return undefined;
    const number = Number(value);
    return number >= least && number <= greatest ? number : undefined;
  });
}

/** A decimal number within bounds. */
export function decimal(least: number, greatest: number): Kind<number> {
  return kind(`a number from ${least} to ${greatest}`, (value) => {
    if (!/^\d{1,15}(\.\d{1,15})?$/.test(value)) return undefined;
    const number = Number(value);
    return number >= least && number <= greatest ? number : undefined;
  });
}

/** One of the given words. */
export function choice<const Options extends readonly string[]>(options: Options): Kind<Options[number]> {
  return kind(options.join(', ').replace(/, ([^,]*)$/, ' or $1'), (value) =>
    options.find((option) => option === value),
  );
}

/** An http or https address without a trailing slash. */
const httpUrl = kind('an http:// or https:// address', (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') return undefined;
  return value.replace(/\/+$/, '');
});

/** An address of a PostgreSQL database, which may contain a password. */
export const databaseUrl = secret(
  kind('postgres://user:password@host:port/database', (value) => {
    // Of several hosts the first stands for all.
    const first = value.replace(/^(\w+:\/\/(?:[^/?]*@)?[^/?,]*),[^/?]*/, '$1');
    const url = URL.canParse(first) ? new URL(first) : null;
    return url !== null && ['postgres:', 'postgresql:'].includes(url.protocol) ? value : undefined;
  }),
);

/** An address to which paths are appended. */
export const apiAddress = kind('an http:// or https:// address without user, query and fragment', (value) => {
  const address = httpUrl.read(value);
  const url = address === undefined ? null : new URL(address);
  const isPlain = url?.username === '' && url.password === '' && !/[?#]/.test(value);
  return isPlain ? address : undefined;
});

/** A name that is valid in a path. */
export const modelName = kind('1 to 256 visible ASCII characters but ? # and %', (value) =>
  /^[\x21-\x7e]{1,256}$/.test(value) && !/[?#%]/.test(value) ? value : undefined,
);

/** An address to listen on: an IP address or a host name. */
export const bindAddress = kind('an IP address or a host name', (value) =>
  /^[A-Za-z0-9_.:%-]{1,255}$/.test(value) ? value : undefined,
);

/** Origins, as browsers send them; `*` alone means all. */
export const originList = kind(
  'origins such as http://localhost:3000, separated by commas, or *',
  (value) => {
    const origins = list(value);
    if (origins.length === 1 && origins[0] === '*') return origins;
    return origins.every(isOrigin) ? origins.map((origin) => origin.toLowerCase()) : undefined;
  },
);

/** Host names, with or without a port. */
export const hostList = kind('host names, each with a port or without, separated by commas', (value) => {
  const hosts = list(value).map((host) => host.toLowerCase());
  return hosts.every((host) => /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?$/.test(host)) ? hosts : undefined;
});

function list(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function isOrigin(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { origin } = new URL(value);
  return origin !== 'null' && origin === value.toLowerCase();
}
