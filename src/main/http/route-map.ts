/**
 * Which methods an address has.
 *
 * The router only knows whether method and address match together; to tell 405 from 404 the patterns are kept
 * here as well. Looked at only when the router found nothing.
 */
export class RouteMap {
  readonly #fixed = new Map<string, Set<string>>();
  readonly #patterns = new Map<string, { matches: RegExp; methods: Set<string> }>();

  /** `pattern` is a path whose parameters are written `:name`. */
  add(methods: readonly string[], pattern: string): void {
    const known = pattern.includes(':') ? this.#methodsOfPattern(pattern) : this.#methodsOfFixed(pattern);
    for (const method of methods) known.add(method);
  }

  /** Methods of the address, sorted; empty where nothing is there. `target` may carry a query string. */
  methodsOf(target: string): string[] {
    const path = decoded(target.split('?', 1)[0] ?? '');
    const found = new Set(this.#fixed.get(path));
    for (const { matches, methods } of this.#patterns.values())
      if (matches.test(path)) for (const method of methods) found.add(method);
    return [...found].toSorted();
  }

  #methodsOfFixed(path: string): Set<string> {
    const known = this.#fixed.get(path) ?? new Set();
    this.#fixed.set(path, known);
    return known;
  }

  #methodsOfPattern(pattern: string): Set<string> {
    const known = this.#patterns.get(pattern);
    if (known !== undefined) return known.methods;
    const segments = pattern.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : escaped(part)));
    const methods = new Set<string>();
    this.#patterns.set(pattern, { matches: new RegExp(`^${segments.join('/')}$`), methods });
    return methods;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** As the router reads it; a broken escape never gets here. */
function decoded(path: string): string {
  return path.includes('%') ? decodeURI(path) : path;
}
