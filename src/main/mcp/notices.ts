/**
 * Changes of a space, for clients that read its resources: which documents changed, and whether the list of documents
 * did.
 *
 * Changes within a short time are reported together, so a bulk load causes a few notifications and not thousands.
 * Nothing is reported twice, and nothing of one space in another. Clients read the new contents themselves.
 */
import type { Caller, Change } from '../../engine/index.ts';
import type { ConnectionBinding, McpHost } from '../base/mcp-host.ts';
import { factsUri, predicateNames } from './resources.ts';

export interface Notice {
  /** Addresses of changed documents; null: any of them may have changed. */
  readonly uris: ReadonlySet<string> | null;
  /** Documents were added or removed. */
  readonly hasOthers: boolean;
}

type Listener = (notice: Notice) => void;

/** Milliseconds within which changes are reported together. */
const gatherMs = 100;

/** Collects changes and reports them to the clients of each space. */
export class Notices {
  readonly #host: McpHost;
  readonly #spaces = new Map<string, SpaceWatch>();
  #unsubscribe: (() => void) | null = null;

  constructor(host: McpHost) {
    this.#host = host;
  }

  /** Reports changes of the caller's space; the returned function ends that. */
  watch(caller: Caller, listener: Listener): () => void {
    const key = keyOf(caller);
    let space = this.#spaces.get(key);
    if (space === undefined) this.#spaces.set(key, (space = new SpaceWatch(this.#host, caller)));
    space.listeners.add(listener);
    this.#unsubscribe ??= this.#host.onChange((change) => this.#note(change));
    return () => {
      if (!space.listeners.delete(listener) || space.listeners.size > 0) return;
      space.end();
      this.#spaces.delete(key);
      if (this.#spaces.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = null;
    };
  }

  #note(change: Change): void {
    if (change.tenant !== null) this.#spaces.get(keyOf({ ...change, tenant: change.tenant }))?.note(change);
    else
      for (const space of this.#spaces.values())
        if (space.caller.database === change.database) space.note(change);
  }
}

class SpaceWatch {
  readonly listeners = new Set<Listener>();
  readonly caller: Caller;
  readonly #host: McpHost;
  #names: ReadonlySet<string> | null = null;
  #uris: Set<string> | null = new Set();
  #mayHaveOthers = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(host: McpHost, caller: Caller) {
    this.#host = host;
    this.caller = caller;
    this.#namesNow().then(
      (names) => (this.#names ??= names),
      (error: unknown) => this.#failed(error),
    );
  }

  note({ kind, data }: Change): void {
    switch (kind) {
      case 'fact.asserted':
      case 'fact.retracted':
      case 'memory.evicted': {
        const predicate = predicateOf(data.atom ?? '');
        this.#touch('kb://predicates', factsUri(predicate));
        if ((data.scope ?? null) !== null) this.#touch('kb://scopes');
        if (kind !== 'fact.asserted' || this.#names?.has(predicate) !== true) this.#mayHaveOthers = true;
        break;
      }
      case 'rule.changed':
        this.#touch('kb://rules', 'kb://predicates', 'kb://scopes');
        break;
      case 'scope.changed':
        this.#touch('kb://scopes');
        break;
      case 'reset':
        this.#uris = null;
        this.#mayHaveOthers = true;
        break;
      case 'conclusion.withdrawn':
      case 'mcp.call':
        return;
    }
    this.#timer ??= setTimeout(() => this.#tell(), gatherMs).unref();
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #touch(...uris: string[]): void {
    for (const uri of uris) this.#uris?.add(uri);
  }

  #tell(): void {
    this.#timer = null;
    const uris = this.#uris;
    this.#uris = new Set();
    if (!this.#mayHaveOthers) {
      this.#give({ uris, hasOthers: false });
      return;
    }
    this.#mayHaveOthers = false;
    this.#namesNow().then(
      (names) => {
        const known = this.#names;
        this.#names = names;
        this.#give({ uris, hasOthers: known === null || !isSame(known, names) });
      },
      (error: unknown) => this.#failed(error),
    );
  }

  #give(notice: Notice): void {
    for (const listener of this.listeners) listener(notice);
  }

  async #namesNow(): Promise<ReadonlySet<string>> {
    return new Set(await predicateNames(this.#host, this.caller));
  }

  /** The database may have been deleted; then there is nothing more to report. */
  #failed(error: unknown): void {
    this.#host.logger.debug({ err: error }, 'the resources of a space could not be listed');
  }
}

function keyOf({ database, tenant }: ConnectionBinding): string {
  return JSON.stringify([database, tenant]);
}

function isSame(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((each) => right.has(each));
}

/** The predicate of a rendered atom; it contains no parenthesis. */
function predicateOf(atom: string): string {
  return atom.slice(atom.startsWith('-') ? 1 : 0, atom.indexOf('('));
}
