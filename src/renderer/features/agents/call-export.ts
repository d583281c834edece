/** Calls as a file: one JSON object a line, or one JSON document. */
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';

export const callFormats = { ndjson: 'NDJSON', json: 'JSON' } as const;
export type CallFormat = keyof typeof callFormats;

const types = { ndjson: 'application/x-ndjson', json: 'application/json' } as const;

/** The calls in the order given, as pieces of a file. */
export function callPieces(calls: readonly ToolCallRecord[], format: CallFormat): string[] {
  if (format === 'ndjson') return calls.map((call) => `${JSON.stringify(call)}\n`);
  if (calls.length === 0) return ['{"calls": []}\n'];
  // The form of GET /mcp/calls, one call a line.
  const last = calls.length - 1;
  const lines = calls.map((call, index) => `${JSON.stringify(call)}${index === last ? '' : ','}\n`);
  return ['{"calls": [\n', ...lines, ']}\n'];
}

export function callFile(calls: readonly ToolCallRecord[], format: CallFormat): Blob {
  return new Blob(callPieces(calls, format), { type: types[format] });
}

/** `at`: epoch ms. `tool-calls-2026-07-28T12-00-00Z.ndjson`. */
export function callFileName(format: CallFormat, at: number): string {
  const stamp = new Date(at)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  return `tool-calls-${stamp}.${format}`;
}
