/**
 * Whether a message only asks, so that a node with a copy can answer it. Without the declared names of arguments a line that
 * uses them is not understood here; then the message counts as one that writes, and the node that has the log reads it.
 */
import { ArgumentNames } from '../../engine/index.ts';
import type { MessageNeed } from '../base/agent-host.ts';
import { readItems } from './lines.ts';

/** The methods of both revisions that send a message. */
const sends: ReadonlySet<unknown> = new Set(['message/send', 'SendMessage']);

const noNames = new ArgumentNames([]);

/** What a request of JSON-RPC needs. */
export async function messageNeed(request: unknown): Promise<MessageNeed> {
  if (!sends.has(fieldOf(request, 'method'))) return null;
  const parts = fieldOf(fieldOf(fieldOf(request, 'params'), 'message'), 'parts');
  if (!Array.isArray(parts)) return null;
  const texts = parts.map((part: unknown) => fieldOf(part, 'text'));
  if (!texts.every((text) => typeof text === 'string')) return null;
  // The body is short, so nothing has to breathe.
  const items = await readItems(texts.join('\n'), () => Promise.resolve(), noNames);
  return items !== null && items.every(({ kind }) => kind === 'ask') ? 'ask' : null;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
