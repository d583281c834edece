/**
 * The calls of one agent in one go, in the order in which they came.
 *
 * The log names clients, not sessions: calls of a client in one tenant belong together until it pauses for a while. Pure.
 */
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { clientNameOf } from './call-log.ts';

/** A longer pause ends a session, in milliseconds. */
export const pauseMs = 15 * 60_000;

/** Calls of a client that came in one go. */
export interface AgentSession {
  /** The id of its first call. */
  readonly id: string;
  readonly client: string;
  readonly database: string;
  readonly tenant: string;
  /** Epoch milliseconds: when the first call came, and when the last one had ended. */
  readonly from: number;
  readonly until: number;
  readonly errors: number;
  /** Milliseconds spent in calls. */
  readonly busyMs: number;
  /** Oldest first. */
  readonly calls: readonly ToolCallRecord[];
}

/** `time` is when a call ended; the log has it beside its duration. */
export function startOf({ time, elapsedMs }: Pick<ToolCallRecord, 'time' | 'elapsedMs'>): number {
  return time - elapsedMs;
}

function sessionOf(calls: readonly ToolCallRecord[]): AgentSession | null {
  const [first] = calls;
  if (first === undefined) return null;
  return {
    id: first.id,
    client: clientNameOf(first),
    database: first.database,
    tenant: first.tenant,
    from: calls.reduce((least, call) => Math.min(least, startOf(call)), Infinity),
    until: calls.reduce((most, { time }) => Math.max(most, time), 0),
    errors: calls.filter(({ outcome }) => outcome === 'error').length,
    busyMs: calls.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
    calls,
  };
}

/** Returns the sessions of calls, newest first. `calls`: newest first, as the log has them. */
export function sessionsOf(calls: readonly ToolCallRecord[]): AgentSession[] {
  const open = new Map<string, ToolCallRecord[]>();
  const ended: ToolCallRecord[][] = [];
  for (const call of [...calls].reverse()) {
    const key = JSON.stringify([call.client, call.database, call.tenant]);
    const current = open.get(key);
    const last = current?.at(-1);
    if (current !== undefined && last !== undefined && startOf(call) - last.time <= pauseMs) {
      current.push(call);
      continue;
    }
    if (current !== undefined) ended.push(current);
    open.set(key, [call]);
  }
  return [...ended, ...open.values()]
    .flatMap((each) => sessionOf(each) ?? [])
    .sort((left, right) => right.until - left.until);
}

/** Least duration that a bar tells apart, in milliseconds. */
const leastMs = 0.1;

/** Returns the length of a duration's bar, from 0 to 1, on a logarithmic scale up to the longest of the session. */
export function durationShare(elapsedMs: number, longestMs: number): number {
  const decades = Math.log10(Math.max(longestMs, leastMs * 10) / leastMs);
  return Math.min(1, Math.max(0, Math.log10(Math.max(elapsedMs, leastMs) / leastMs) / decades));
}

/** Where a call lies within its session: beginning and length, each from 0 to 1. */
export function spanOf(
  call: Pick<ToolCallRecord, 'time' | 'elapsedMs'>,
  { from, until }: Pick<AgentSession, 'from' | 'until'>,
): { readonly start: number; readonly length: number } {
  const whole = Math.max(1e-6, until - from);
  return { start: (startOf(call) - from) / whole, length: Math.min(1, call.elapsedMs / whole) };
}
