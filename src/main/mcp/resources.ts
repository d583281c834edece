/**
 * The resources: parts of the knowledge base that a client can read as documents, each the answer of one operation of
 * the table.
 *
 * Besides the three fixed ones and the page of proof-app.ts, each predicate with stored facts has one. Its address
 * contains the predicate, percent-encoded.
 *
 * Clients that read them are notified of changes: which documents changed, and whether the list of documents did.
 * Changes within a short time are reported together, so a bulk load causes a few notifications and not thousands.
 * Nothing is reported twice, and nothing of one space in another. Clients read the new contents themselves.
 */
import type { Resource, ResourceTemplateType, TextResourceContents } from '@modelcontextprotocol/server';
import type { OperationOutput } from '../../engine/contract/operations.ts';
import { type Caller, type Change, EngineError } from '../../engine/index.ts';
import type { ConnectionBinding, McpHost } from '../base/agent-host.ts';
import { proofAppListing, proofAppUri, readProofApp } from './proof-app.ts';

const mimeType = 'application/json';

const documents = [
  {
    uri: 'kb://predicates',
    name: 'predicates',
    title: 'Predicates',
    description: 'The vocabulary: every predicate with its arity, counts and an example.',
    operation: 'listPredicates',
  },
  {
    uri: 'kb://rules',
    name: 'rules',
    title: 'Rules',
    description: 'Every rule of the database, as text and as atoms.',
    operation: 'listRules',
  },
  {
    uri: 'kb://scopes',
    name: 'scopes',
    title: 'Scopes',
    description: 'Every scope, with its facts and rules counted.',
    operation: 'listScopes',
  },
] as const;

const factsPrefix = 'kb://facts/';
/** Maximum number of facts in one document: as many as on a page of GET /facts. */
const maxFacts = 1000;
/** Resources on one page of the list. */
const pageSize = 200;

/** The answer to `resources/templates/list`. */
export const resourceTemplates: ResourceTemplateType[] = [
  {
    uriTemplate: `${factsPrefix}{predicate}`,
    name: 'facts',
    title: 'Facts of a predicate',
    description: `The stored facts of one predicate, the most salient ${maxFacts} of them.`,
    mimeType,
  },
];

/** The address of the document about a predicate. */
function factsUri(predicate: string): string {
  return `${factsPrefix}${encodeURIComponent(predicate)}`;
}

/** The predicate of a document's address; null for any other address. */
function predicateIn(uri: string): string | null {
  if (!uri.startsWith(factsPrefix)) return null;
  try {
    const name = decodeURIComponent(uri.slice(factsPrefix.length));
    return name === '' ? null : name;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/** A page of all resources; `cursor` is that of the page before. Null if the cursor is invalid. */
export async function listResources(
  host: McpHost,
  caller: Caller,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string } | null> {
  const from = cursor === undefined ? 0 : Number(/^[0-9]{1,9}$/.exec(cursor)?.[0] ?? Number.NaN);
  if (Number.isNaN(from)) return null;
  const names = await predicateNames(host, caller);
  const all: Resource[] = [
    ...documents.map(({ operation: _, ...listing }) => ({ ...listing, mimeType })),
    proofAppListing,
    ...names.map((name) => ({
      uri: factsUri(name),
      name: `facts/${name}`,
      title: `Facts of ${name}`,
      mimeType,
    })),
  ];
  const resources = all.slice(from, from + pageSize);
  const end = from + resources.length;
  return end < all.length ? { resources, nextCursor: String(end) } : { resources };
}

/** The predicates with stored facts, each once, in the order of GET /predicates. */
export async function predicateNames(host: McpHost, caller: Caller): Promise<string[]> {
  const { predicates } = (await host.perform(
    'listPredicates',
    caller,
    {},
  )) as OperationOutput<'listPredicates'>;
  return [...new Set(predicates.filter(({ facts }) => facts > 0).map(({ name }) => name))];
}

/** The contents of the resource, or null if no resource has that address. Refuses with a plain error. */
export async function readResource(
  host: McpHost,
  caller: Caller,
  uri: string,
): Promise<TextResourceContents | null> {
  if (uri === proofAppUri) return readProofApp(host);
  const content = await contentOf(host, caller, uri);
  return content === null ? null : { uri, mimeType, text: JSON.stringify(content) };
}

async function contentOf(host: McpHost, caller: Caller, uri: string): Promise<unknown> {
  const document = documents.find((candidate) => candidate.uri === uri);
  try {
    if (document !== undefined) return await host.perform(document.operation, caller, {});
    const predicate = predicateIn(uri);
    if (predicate === null) return null;
    const query = { predicate, sort: 'salience', order: 'desc', limit: String(maxFacts) };
    return await host.perform('listFacts', caller, { query });
  } catch (error) {
    // An invalid predicate has no facts either.
    if (error instanceof EngineError && error.code === 'ValidationException') return null;
    if (error instanceof EngineError || caller.signal.aborted) throw error;
    host.logger.error({ err: error, requestId: caller.requestId }, 'reading a resource failed');
    throw new EngineError('Internal', `the log has more under request id ${caller.requestId}`);
  }
}

export interface Notice {
  /** Addresses of changed documents; null: any of them may have changed. */
  readonly uris: ReadonlySet<string> | null;
  /** Documents were added or removed. */
  readonly hasOthers: boolean;
}

type Listener = (notice: Notice) => void;

/** Milliseconds within which changes are reported together. */
const gatherMs = 100;
/** Addresses reported together; beyond that any document may have changed. */
const maxGathered = 1000;

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
      case 'fact.superseded':
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
      case 'declaration.changed':
        this.#touch('kb://predicates');
        break;
      case 'scope.changed':
        this.#touch('kb://scopes');
        break;
      case 'reset':
        this.#uris = null;
        this.#mayHaveOthers = true;
        break;
      case 'conclusion.withdrawn':
      case 'alias.changed':
      case 'test.changed':
      case 'constraint.changed':
      case 'constraint.violated':
      case 'constraint.satisfied':
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
    if ((this.#uris?.size ?? 0) > maxGathered) this.#uris = null;
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
