/**
 * A service with authentication on, several keys, and in each place words that may never be visible outside of it.
 *
 * The words are in predicates, arguments, scopes, metadata, rules, names and descriptions. Every byte of every answer
 * is searched for them; those of the request's own place must occur, or the search would find nothing.
 */
import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { operations } from '../../../engine/contract/operations.ts';
import type { OperationSpec } from '../../../engine/contract/operation-spec.ts';
import { type Problem, problems } from '../../../engine/contract/problems.ts';
import { pendingSchema } from '../../../engine/contract/transactions.ts';
import type { Chance } from './chance.ts';
import { type HostileRequest, hostileRequest, type Seen } from './hostile-requests.ts';

export interface Target {
  readonly port: number;
  /** Of an unrestricted admin, as API_KEY. */
  readonly apiKey: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
  readonly isAdmin: boolean;
}

interface Place {
  readonly database: string;
  /** null: any of the database, whose rules they are. */
  readonly tenant: string | null;
  /** Words that exist only there. */
  readonly canary: string;
}

const places: readonly Place[] = [
  { database: 'default', tenant: 'a', canary: 'zzcanary-default-a' },
  { database: 'default', tenant: 'b', canary: 'zzcanary-default-b' },
  { database: 'other', tenant: 'a', canary: 'zzcanary-other-a' },
  { database: 'other', tenant: null, canary: 'zzcanary-rules-of-other' },
  { database: 'zzcanary-name', tenant: 'zzcanary-name', canary: 'zzcanary-unreachable' },
];
/** In names of databases and tenants and in descriptions of keys: visible only to an unrestricted admin. */
const nameCanary = 'zzcanary-name';
/** A request without an answer for this long has failed. */
const patienceMs = 300_000;

export class HostileWorld {
  readonly #target: Target;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  readonly #credentials: Credential[] = [];
  readonly #keptIds = new Set<string>();
  readonly #seen: Seen = new Map();
  /** The headers with which sessions of agents were opened: they give the place of messages that name none. */
  readonly #sessions = new Map<string, Readonly<Record<string, string>>>();
  /** Answers by status. */
  readonly statuses = new Map<number, number>();
  /** Answers that contained a word of their own place. */
  ownWords = 0;

  constructor(target: Target) {
    this.#target = target;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Creates databases, tenants, keys and the words in them. Existing ones stay. */
  async plant(): Promise<void> {
    for (const name of ['other', 'scratch', 'zzcanary-name']) await this.#asAdmin('/databases', { name });
    for (const { database, tenant, canary } of places) {
      const place = { 'x-database': database, 'x-tenant-id': tenant ?? 'a' };
      if (tenant === null) {
        const text = `ancestor(?x, ?y) :- parent(?x, ?y), not ${canary}(?x)`;
        await this.#asAdmin('/teach', { text, description: canary }, place);
        continue;
      }
      const fact = (predicate: string, ...args: string[]) => ({
        predicate,
        args,
        metadata: { note: canary },
      });
      const facts = [
        fact('parent', 'alice', 'bob'),
        fact('parent', 'bob', canary),
        fact('person', canary),
        fact(`${canary}-predicate`, 'alice'),
        { ...fact('person', 'alice'), scope: `${canary}-scope` },
        { ...fact('visited', 'alice', canary), scope: 'plan' },
      ];
      await this.#asAdmin('/assert/facts', { facts }, place);
    }
    this.#credentials.push({
      headers: { authorization: `Bearer ${this.#target.apiKey}` },
      databases: [],
      tenants: [],
      isAdmin: true,
    });
    await this.#addKey('writer', ['default'], ['a']);
    await this.#addKey('reader', ['default'], []);
    await this.#addKey('admin', ['scratch'], []);
    await this.#addKey('replica', [], []);
    this.#credentials.push({ headers: {}, databases: [], tenants: [], isAdmin: false });
    this.#credentials.push({ headers: { 'x-api-key': 'wrong' }, databases: [], tenants: [], isAdmin: false });
    await this.#asAdmin('/auth/keys', { role: 'reader', databases: ['other'], description: nameCanary });
  }

  /** Makes one request and checks its answer; returns the error, or null. */
  async step(chance: Chance): Promise<string | null> {
    // The admin, the writer and the reader mostly.
    const usual = this.#credentials[chance.pick([0, 0, 0, 0, 0, 1, 1, 1, 2])] as Credential;
    const credential = chance.is(0.92) ? usual : chance.pick(this.#credentials);
    const headers: Record<string, string> = { ...credential.headers };
    if (chance.is(0.25))
      headers['x-database'] = chance.pick(['default', 'other', 'other', 'nowhere', 'a b', '', '\u00e9']);
    if (chance.is(0.97))
      headers['x-tenant-id'] = chance.is(0.75)
        ? 'a'
        : chance.pick(['b', 'b', '', 'x y', '..', 'y'.repeat(257), 'new']);
    const request = hostileRequest(chance, this.#seen, headers);
    let answer: Answer;
    try {
      answer = await this.send(request);
    } catch (error) {
      return describe(request, null, `no answer: ${String(error)}`);
    }
    this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
    const flaw = flawOf(request, answer) ?? this.#leakIn(request, credential, answer);
    if (flaw !== null) return describe(request, answer, flaw);
    this.#remember(request, answer);
    return null;
  }

  /** Fails without an answer within the time; of a stream of changes the beginning is enough. */
  async send({ method, path, headers, body }: Omit<HostileRequest, 'operation'>): Promise<Answer> {
    const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          agent: this.#agent,
          host: '127.0.0.1',
          port: this.#target.port,
          method,
          path,
          headers: { ...headers, ...length },
        },
        (response) => {
          const chunks: Buffer[] = [];
          const done = (): void => {
            clearTimeout(timer);
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
          };
          // A stream of changes continues; one that answers a message ends by itself.
          if (response.headers['content-type']?.startsWith('text/event-stream') === true && method === 'GET')
            setTimeout(() => sent.destroy(), 20);
          response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('close', done);
          response.on('error', done);
        },
      );
      const timer = setTimeout(() => sent.destroy(new Error('it took five minutes')), patienceMs);
      sent.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      sent.end(body ?? undefined);
    });
  }

  async #asAdmin(path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
    const own = { 'x-api-key': this.#target.apiKey, 'content-type': 'application/json' };
    const answer = await this.send({
      method: 'POST',
      path,
      headers: { ...own, ...headers },
      body: JSON.stringify(body),
    });
    if (answer.status >= 300 && answer.status !== 409) throw new Error(`${path}: ${answer.body}`);
    return JSON.parse(answer.body);
  }

  async #addKey(role: string, databases: string[], tenants: string[]): Promise<void> {
    const made = await this.#asAdmin('/auth/keys', { role, databases, tenants, description: 'of the test' });
    const { id, key } = made as { id: string; key: string };
    this.#keptIds.add(id);
    this.#credentials.push({ headers: { 'x-api-key': key }, databases, tenants, isAdmin: false });
  }

  #leakIn({ headers, operation }: HostileRequest, credential: Credential, answer: Answer): string | null {
    const bytes = `${JSON.stringify(answer.headers)}\n${answer.body}`;
    if (!bytes.includes('zzcanary')) return null;
    const { databases, tenants, isAdmin } = credential;
    if (
      operation !== null &&
      givesEverything(operations[operation]) &&
      databases.length + tenants.length === 0
    )
      return null;
    if (bytes.includes(nameCanary) && !isAdmin && operation !== 'whoami') return `it contains ${nameCanary}`;
    const opened = this.#sessions.get(headers['mcp-session-id'] ?? '');
    const database = headers['x-database'] ?? opened?.['x-database'] ?? 'default';
    const tenant = headers['x-tenant-id'] ?? opened?.['x-tenant-id'];
    for (const place of places) {
      if (!bytes.includes(place.canary)) continue;
      const isCovered =
        (databases.length === 0 || databases.includes(place.database)) &&
        (tenants.length === 0 || place.tenant === null || tenants.includes(place.tenant));
      const isAskedFor = place.database === database && (place.tenant === null || place.tenant === tenant);
      if (!isCovered || !isAskedFor) return `it contains ${place.canary}`;
      this.ownWords++;
    }
    return null;
  }

  /** Ids and the like, for later requests. */
  #remember({ operation, headers: sent }: HostileRequest, { status, headers, body }: Answer): void {
    const session = headers['mcp-session-id'];
    if (typeof session === 'string') {
      this.#seen.set('mcp-session-id', [session]);
      if (!this.#sessions.has(session)) this.#sessions.set(session, sent);
    }
    if (operation === null || status >= 300 || !body.startsWith('{') || body.length > 1_000_000) return;
    let value: Record<string, unknown>;
    try {
      value = JSON.parse(body) as Record<string, unknown>;
    } catch {
      // Lines of an import: their last one has the id.
      value = JSON.parse(body.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>;
    }
    for (const name of ['id', 'etag', 'nextCursor', 'windowId']) {
      const text = value[name];
      // A cursor contains its position, which may be a word that is searched for.
      if (typeof text !== 'string' || text === '' || text.includes('zzcanary')) continue;
      if (this.#keptIds.has(text)) continue;
      const kind = name === 'id' && operation === 'beginTransaction' ? 'transaction' : name;
      this.#seen.set(kind, [text, ...(this.#seen.get(kind) ?? [])].slice(0, 30));
    }
    const facts = value['facts'];
    if (!Array.isArray(facts)) return;
    for (const fact of facts.slice(0, 5) as { id?: unknown }[])
      if (typeof fact?.id === 'string')
        this.#seen.set('id', [fact.id, ...(this.#seen.get('id') ?? [])].slice(0, 30));
  }
}

function describe(
  { operation, method, path, headers, body }: HostileRequest,
  answer: Answer | null,
  flaw: string,
) {
  const sent = `${operation ?? 'beside the table'}: ${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(body?.toString().slice(0, 3000) ?? null)}`;
  const got =
    answer === null
      ? ''
      : `\n${answer.status} ${JSON.stringify(answer.headers)} ${answer.body.slice(0, 2000)}`;
  return `${flaw}\n${sent}${got}`;
}

/** How an answer violates the contract, for any caller; null: not at all. */
function flawOf(request: HostileRequest, { status, headers, body }: Answer): string | null {
  const given = request.headers['x-request-id'];
  const id = headers['x-request-id'];
  if (headers['x-api-version'] !== '1') return 'no X-API-Version';
  if (typeof id !== 'string' || id === '') return 'no X-Request-ID';
  if (given !== undefined && /^[\x20-\x7e]{1,128}$/.test(given) && given.trim() !== '' && id !== given.trim())
    return 'the request id is not echoed';
  // Within MCP errors in a message are reported in its own protocol.
  const isMessage =
    request.path.startsWith('/mcp') && headers['content-type']?.startsWith('application/json') === true;
  if (status >= 400 && !(isMessage && status < 500))
    return flawOfProblem(request, { status, headers, body }, id);
  if (request.operation === null) return null;
  const spec: OperationSpec = operations[request.operation];
  if (request.method !== spec.method || status === 204) return null;
  if (status !== (spec.status ?? 200)) return 'another status of success';
  if (spec.stream === 'file' || spec.stream === 'events' || spec.answer === 'text') return null;
  const texts = spec.stream === 'lines' ? body.trim().split('\n') : [body];
  const isPending = spec.transaction === 'write' && request.headers['x-transaction-id'] !== undefined;
  const schema = isPending ? pendingSchema : spec.output;
  for (const text of texts) {
    const outcome = schema.safeParse(JSON.parse(text));
    if (!outcome.success) return `does not match its schema: ${outcome.error.message}`;
  }
  return null;
}

function flawOfProblem(
  { method }: HostileRequest,
  { status, headers, body }: Answer,
  id: string,
): string | null {
  if (headers['content-type'] !== 'application/problem+json') return 'not a problem';
  if (method === 'HEAD') return null;
  const problem = JSON.parse(body) as Problem;
  const known = problems[problem.code];
  if (known === undefined || known.status !== status || problem.status !== status)
    return 'another code or status';
  if (problem.requestId !== id || problem.title !== known.title || problem.detail === '')
    return 'not a complete problem';
  if (status < 500) return null;
  const words = ['LLM provider not configured', 'LLM extraction is disabled'];
  return problem.code === 'LlmUnavailable' && words.includes(problem.detail)
    ? null
    : 'a failure of the service';
}

/** A backup, or a follower's download: whoever may have it has every place. */
function givesEverything({ role, isOfEverything }: OperationSpec): boolean {
  return role === 'replica' || isOfEverything === true;
}
