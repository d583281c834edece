/** Addresses of services, as people write them and as they are remembered. */
const mostRemembered = 8;

/** The origin that an address names, `http://` being left out or not; null where it names none. */
export function serviceOriginOf(address: string): string | null {
  const trimmed = address.trim();
  const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed);
  const text = isWhole ? trimmed : `http://${trimmed}`;
  if (trimmed === '' || /\s/.test(trimmed) || !URL.canParse(text)) return null;
  const { protocol, origin, username, password } = new URL(text);
  const isOfWeb = protocol === 'http:' || protocol === 'https:';
  return isOfWeb && username === '' && password === '' ? origin : null;
}

export function addressProblem(address: string): string | null {
  return serviceOriginOf(address) === null
    ? 'This is no address of a service, such as http://127.0.0.1:9302.'
    : null;
}

/** `origin` first, each once, the oldest given up where there are too many. */
export function withOrigin(origins: readonly string[], origin: string): readonly string[] {
  return [origin, ...origins.filter((known) => known !== origin)].slice(0, mostRemembered);
}

/** What was stored, as far as it is origins. */
export function readOrigins(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  return value.filter(
    (entry): entry is string => typeof entry === 'string' && serviceOriginOf(entry) === entry,
  );
}
