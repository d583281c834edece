import { EngineError } from '../../engine/index.ts';

/**
 * Decodes the query string of a request target. Refuses with ValidationException a malformed escape and a repeated
 * parameter, since neither value can be trusted. Those in `lists` may be repeated; their values are joined with commas.
 */
export function parseQuery(target: string, lists: readonly string[] = []): Readonly<Record<string, string>> {
  const start = target.indexOf('?');
  if (start === -1) return {};
  const parameters = new Map<string, string>();
  for (const part of target.slice(start + 1).split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    const value = equals === -1 ? '' : decode(part.slice(equals + 1));
    const before = parameters.get(name);
    if (before !== undefined && !lists.includes(name)) throw badQuery(name, 'is given more than once');
    parameters.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(parameters);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badQuery(text, 'is not percent-encoded UTF-8');
  }
}

function badQuery(path: string, message: string): EngineError {
  return new EngineError('ValidationException', `query parameter ${path} ${message}`, {
    errors: [{ path, message }],
  });
}
