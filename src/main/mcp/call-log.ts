/**
 * The last tool calls of agents, in memory.
 *
 * Bounded twice: in number, as the contract has it, and in bytes. Every call is kept as one piece of bytes, so that nothing of a
 * message stays alive beside it and its size is known. Ids ascend, so an id that was forgotten still says what is older.
 */
import { setImmediate } from 'node:timers/promises';
import { rememberedCalls, type ToolCallRecord } from '../../engine/contract/agents.ts';
import { Slices } from '../../engine/index.ts';
import type { Binding, ToolCall } from '../mcp-host.ts';
import { cutArguments, cutText } from './cut-arguments.ts';

/** Enough for as many calls as are remembered, all of them long, where they are written in Latin letters. */
const mostBytes = 32 * 1024 * 1024;

/** UTF-16 code units of the text that an agent was given. */
const mostOfResult = 800;

interface Kept extends Binding {
  /** The record as JSON, in UTF-8: a text in memory takes two bytes a character as soon as one character does. */
  readonly json: Buffer;
}

export interface CallLogLimits {
  readonly calls: number;
  readonly bytes: number;
}

export class CallLog {
  readonly #limits: CallLogLimits;
  /** The oldest first; those before `#start` are forgotten. */
  #kept: (Kept | undefined)[] = [];
  #start = 0;
  #bytes = 0;
  /** Calls so far; the id of the last. */
  #count = 0;

  constructor(limits: CallLogLimits = { calls: rememberedCalls, bytes: mostBytes }) {
    this.#limits = limits;
  }

  /** The call's id. */
  add(call: ToolCall, time: number): string {
    const { database, tenant } = call.caller;
    const id = String(++this.#count);
    const json = Buffer.from(JSON.stringify(recordOf(call, id, time)));
    this.#kept.push({ database, tenant, json });
    this.#bytes += json.length;
    while (this.#size > this.#limits.calls || (this.#bytes > this.#limits.bytes && this.#size > 1))
      this.#forgetOldest();
    return id;
  }

  /** The newest of those that are covered and older than `before`, a call's number; null: of all. */
  async list(
    covers: (place: Binding) => boolean,
    limit: number,
    before: number | null,
  ): Promise<ToolCallRecord[]> {
    const slices = new Slices(() => setImmediate());
    const found: Buffer[] = [];
    const newest = Math.min(this.#count, (before ?? Number.POSITIVE_INFINITY) - 1);
    const first = this.#count - this.#size + 1;
    for (let number = newest; number >= first && found.length < limit; number--) {
      const kept = this.#kept[this.#start + number - first];
      if (kept !== undefined && covers(kept)) found.push(kept.json);
    }
    const calls: ToolCallRecord[] = [];
    for (const json of found) {
      calls.push(JSON.parse(json.toString()) as ToolCallRecord);
      if ((calls.length & 0x3f) === 0) await slices.breathe();
    }
    return calls;
  }

  get #size(): number {
    return this.#kept.length - this.#start;
  }

  #forgetOldest(): void {
    this.#bytes -= this.#kept[this.#start]?.json.length ?? 0;
    this.#kept[this.#start++] = undefined;
    if (this.#start < this.#kept.length / 2) return;
    this.#kept = this.#kept.slice(this.#start);
    this.#start = 0;
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
    result: cutText(call.text, mostOfResult),
    database,
    tenant,
    requestId,
  };
}
