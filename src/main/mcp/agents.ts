/**
 * The agents that use the service: the log of their tool calls and the list of connected clients.
 *
 * Both cover the agents of every tenant, so a caller sees only the databases and tenants that its credential covers.
 * The transports list the clients that they have connected; testing the bridge is left to `test-bridge.ts`.
 *
 * The log keeps the latest calls in memory and, once opened, in a journal of the storage folder. It is bounded in number,
 * as the contract says, and in bytes. Each call is one buffer, so that it keeps no other part of a message alive and its
 * size is known. Ids ascend, across restarts too, so the id of a dropped call still orders it. The log is an observation
 * without a guarantee: a call reaches the folder a moment after it has ended.
 */
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { placeAdvice } from '../../engine/contract/agent-setup.ts';
import {
  type AgentClient,
  type AgentSetup,
  type BridgeTested,
  type CallList,
  type ClientList,
  type ListCallsQuery,
  rememberedCalls,
  type TestBridgeInput,
  type ToolCallRecord,
  toolCallSchema,
  workbenchClientName,
} from '../../engine/contract/agents.ts';
import { type Caller, type Engine, invalid, type Journal, serving, Slices } from '../../engine/index.ts';
import type { ConnectionBinding, ToolCall } from '../base/agent-host.ts';
import { ssePath, statelessRevision, streamablePath } from './mount.ts';
import { tools } from './tools.ts';
import { cutText } from '../../proof/proof-text.ts';
import { cutArguments } from './cut-arguments.ts';

interface AgentsParts {
  /** Notifies subscribers of a noted call, by its id. */
  readonly tell: (place: Pick<Caller, 'database' | 'tenant' | 'requestId'>, id: string) => void;
  /** Sends a call to the node that has the log of calls; resolves with whether it has it. null: this one has. */
  readonly sendCall: (call: ToolCallRecord) => Promise<boolean> | null;
  /** The parts of the setup that depend on where the service runs. Read on demand. */
  readonly place: () => Pick<AgentSetup, 'address' | 'bridge' | 'bundle'>;
  readonly testBridge: (caller: Caller, input: TestBridgeInput) => Promise<BridgeTested>;
}

/** The log of calls and the connected clients of one service. */
export class KnownAgents {
  readonly #parts: AgentsParts;
  readonly #log = new ToolCallLog();
  #connected: () => readonly AgentClient[] = () => [];

  constructor(parts: AgentsParts) {
    this.#parts = parts;
  }

  /** Loads the earlier calls from the engine's folder, and stores new ones there. */
  async open(engine: Pick<Engine, 'journal' | 'hasDatabase'>): Promise<void> {
    await this.#log.open(engine.journal('mcp-calls'), ({ database }) => engine.hasDatabase(database));
  }

  /** Erases the calls in a database, or in one tenant of it: their arguments contain what was erased there. */
  async eraseCalls(database: string, tenant: string | null): Promise<void> {
    await this.#log.erase(
      (place) => place.database === database && (tenant ?? place.tenant) === place.tenant,
    );
  }

  /** Notes a finished call, here or at the node that has the log of calls, then notifies subscribers. */
  called(call: ToolCall): void {
    const record = recordOf(call, '0', Date.now());
    const sent = this.#parts.sendCall(record);
    if (sent === null) this.received(record);
    else
      void sent.then((isThere) => {
        if (!isThere) this.received(record);
      });
  }

  /** Notes a call, which another node may have answered. */
  received(record: ToolCallRecord): void {
    this.#parts.tell(record, this.#log.addRecord(record));
  }

  /** Sets the source of the connected clients. */
  listFrom(connected: () => readonly AgentClient[]): void {
    this.#connected = connected;
  }

  /** The calls in databases and tenants that the caller's credential covers, newest first. */
  async calls(caller: Caller, { limit, before }: ListCallsQuery): Promise<CallList> {
    const than = before === null ? null : numberOf(before);
    const most = limit ?? Number.POSITIVE_INFINITY;
    return { calls: await this.#log.list((place) => isCovered(caller, place), most, than) };
  }

  /** Number of connected clients of all callers, without the workbench's own tests. */
  get connectedCount(): number {
    return this.#connected().filter(({ name }) => name !== workbenchClientName).length;
  }

  /** The clients of databases and tenants that the caller's credential covers, in the order of connecting. */
  clients(caller: Caller): ClientList {
    const clients = this.#connected().filter((client) => isCovered(caller, client));
    return { clients: clients.toSorted((left, right) => Number(left.id) - Number(right.id)) };
  }

  setup(): AgentSetup {
    return {
      ...this.#parts.place(),
      streamable: streamablePath,
      sse: ssePath,
      revisions: [statelessRevision, ...SUPPORTED_PROTOCOL_VERSIONS],
      tools: [...tools.keys()],
      advice: placeAdvice,
    };
  }

  /** Starts the bridge as a client would, performs the handshake, lists its tools and ends it. */
  testBridge(caller: Caller, input: TestBridgeInput): Promise<BridgeTested> {
    return this.#parts.testBridge(caller, input);
  }
}

/** The number of a call from its id. Refuses an invalid id. */
function numberOf(id: string): number {
  if (!/^\d{1,15}$/.test(id)) throw invalid('before', 'is not the id of a call');
  return Number(id);
}

function isCovered({ databases, tenants }: Caller, { database, tenant }: ConnectionBinding): boolean {
  const isAmong = (names: readonly string[], name: string) => names.length === 0 || names.includes(name);
  return isAmong(databases, database) && isAmong(tenants, tenant);
}

/** Enough for the maximum number of calls, all of them long, in Latin letters. */
const maxBytes = 32 * 1024 * 1024;

/** UTF-16 code units stored of the text that the agent received. */
const maxOfResult = 800;

interface StoredCall extends ConnectionBinding {
  readonly number: number;
  /** The record as JSON in UTF-8: a string takes two bytes per character as soon as one character needs them. */
  readonly json: Buffer;
}

interface CallLogLimits {
  readonly calls: number;
  readonly bytes: number;
}

/** A bounded log of tool calls. */
export class ToolCallLog {
  readonly #limits: CallLogLimits;
  /** Oldest first; the entries before `#start` have been dropped. */
  #calls: (StoredCall | undefined)[] = [];
  #start = 0;
  #bytes = 0;
  /** The id of the last call. */
  #last = 0;
  #journal: Journal | null = null;

  constructor(limits: CallLogLimits = { calls: rememberedCalls, bytes: maxBytes }) {
    this.#limits = limits;
  }

  /** Loads earlier calls, except those of databases or tenants that no longer exist, and stores new ones there. */
  async open(journal: Journal, isThere: (place: ConnectionBinding) => boolean): Promise<void> {
    const slices = new Slices(serving.pauseOf(null, 'list calls'));
    let isErased = false;
    for (const record of await journal.load(() => this.#calls.slice(this.#start).flatMap(jsonOf))) {
      await slices.breathe();
      const call = storedCallOf(record);
      if (call === null) continue;
      this.#last = Math.max(this.#last, call.number);
      if (isThere(call)) this.#keep(call);
      else isErased = true;
    }
    this.#journal = journal;
    if (isErased) journal.rewrite();
  }

  /** Erases the calls of these databases and tenants; resolves when they are gone from the folder. */
  async erase(isErased: (place: ConnectionBinding) => boolean): Promise<void> {
    const calls = this.#calls.slice(this.#start);
    this.#calls = [];
    this.#start = 0;
    this.#bytes = 0;
    for (const each of calls) if (each !== undefined && !isErased(each)) this.#keep(each);
    if (this.#calls.length === calls.length) return;
    this.#journal?.rewrite();
    await this.#journal?.flush(true);
  }

  /** Notes a call and returns its id. */
  add(call: ToolCall, time: number): string {
    return this.addRecord(recordOf(call, '0', time));
  }

  /** The same of a record; its id is a new one. */
  addRecord(record: ToolCallRecord): string {
    const { database, tenant } = record;
    const number = ++this.#last;
    const id = String(number);
    const json = Buffer.from(JSON.stringify({ ...record, id }));
    this.#keep({ number, database, tenant, json });
    this.#journal?.append(json);
    return id;
  }

  /** The newest covered calls older than `before`, the number of a call; null: the newest of all. */
  async list(
    covers: (place: ConnectionBinding) => boolean,
    limit: number,
    before: number | null,
  ): Promise<ToolCallRecord[]> {
    const slices = new Slices(serving.pauseOf(null, 'list calls'));
    const found: Buffer[] = [];
    const end = before ?? Number.POSITIVE_INFINITY;
    for (let at = this.#calls.length - 1; at >= this.#start && found.length < limit; at--) {
      const call = this.#calls[at];
      if (call !== undefined && call.number < end && covers(call)) found.push(call.json);
    }
    const calls: ToolCallRecord[] = [];
    for (const json of found) {
      calls.push(JSON.parse(json.toString()) as ToolCallRecord);
      if ((calls.length & 0x3f) === 0) await slices.breathe();
    }
    return calls;
  }

  get #size(): number {
    return this.#calls.length - this.#start;
  }

  #keep(call: StoredCall): void {
    this.#calls.push(call);
    this.#bytes += call.json.length;
    while (this.#size > this.#limits.calls || (this.#bytes > this.#limits.bytes && this.#size > 1))
      this.#forgetOldest();
  }

  #forgetOldest(): void {
    this.#bytes -= this.#calls[this.#start]?.json.length ?? 0;
    this.#calls[this.#start++] = undefined;
    if (this.#start < this.#calls.length / 2) return;
    this.#calls = this.#calls.slice(this.#start);
    this.#start = 0;
  }
}

function jsonOf(call: StoredCall | undefined): Buffer[] {
  return call === undefined ? [] : [call.json];
}

/** A call stored by an earlier process; null: its format is different. */
function storedCallOf(record: Uint8Array): StoredCall | null {
  const json = Buffer.from(record.buffer, record.byteOffset, record.byteLength);
  try {
    const call = toolCallSchema.safeParse(JSON.parse(json.toString()));
    if (!call.success) return null;
    const { id, database, tenant } = call.data;
    const number = Number(id);
    return Number.isSafeInteger(number) ? { number, database, tenant, json } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function recordOf(call: ToolCall, id: string, time: number): ToolCallRecord {
  const { database, tenant, client, requestId } = call.caller;
  const { value, isCut } = cutArguments(call.arguments);
  return {
    id,
    time,
    client,
    tool: call.tool,
    arguments: value,
    argumentsCut: isCut,
    outcome: call.outcome,
    elapsedMs: Math.round(call.elapsedMs * 1000) / 1000,
    resultChars: call.resultChars,
    result: cutText(call.text, maxOfResult),
    database,
    tenant,
    requestId,
  };
}
