import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import type { Caller } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';
import { predicateNames, resourceTemplates } from './resources.ts';

/** Values that one completion gives, as many as the protocol allows. */
const mostValues = 100;

/**
 * Completes the name of a predicate: in the address of its facts, and in an atom that is to be explained as long as its
 * arguments have not begun. Names that begin with what is there come first, then those that hold it.
 */
export async function complete(
  host: McpHost,
  caller: Caller,
  { ref, argument }: CompleteRequest['params'],
): Promise<CompleteResult> {
  const isPredicate =
    ref.type === 'ref/resource'
      ? resourceTemplates.some(({ uriTemplate }) => uriTemplate === ref.uri) && argument.name === 'predicate'
      : ref.name === 'explain_conclusion' && argument.name === 'atom';
  if (!isPredicate || argument.value.includes('('))
    return { completion: { values: [], total: 0, hasMore: false } };
  const wanted = argument.value.trim().toLowerCase();
  const names = await predicateNames(host, caller);
  const begin = names.filter((name) => name.toLowerCase().startsWith(wanted));
  const hold = names.filter((name) => !begin.includes(name) && name.toLowerCase().includes(wanted));
  const fitting = [...begin, ...hold];
  const values = fitting.slice(0, mostValues);
  return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } };
}
