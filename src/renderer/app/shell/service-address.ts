/** Addresses of services, typed and remembered. */
const maxRemembered = 8;

/** Returns the origin of an address, with or without `http://`; null if it has none. */
export function serviceOriginOf(address: string): string | null {
  const trimmed = address.trim();
  const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed);
  const text = isWhole ? trimmed : `http://${trimmed}`;
  if (trimmed === '' || /\s/.test(trimmed) || !URL.canParse(text)) return null;
  const { protocol, origin, username, password } = new URL(text);
  const isOfWeb = protocol === 'http:' || protocol === 'https:';
  return isOfWeb && username === '' && password === '' ? origin : null;
}

/** Returns the problem of a typed address, as a sentence; null if it is valid. */
export function addressProblem(address: string): string | null {
  return serviceOriginOf(address) === null
    ? 'This is no address of a service, such as http://127.0.0.1:9302.'
    : null;
}

/** Returns the origins with `origin` first, without duplicates; drops the oldest beyond the limit. */
export function withOrigin(origins: readonly string[], origin: string): readonly string[] {
  return [origin, ...origins.filter((known) => known !== origin)].slice(0, maxRemembered);
}

/** Returns the stored origins, ignoring anything else; null if the value is no list. */
export function readOrigins(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  return value.filter(
    (entry): entry is string => typeof entry === 'string' && serviceOriginOf(entry) === entry,
  );
}
