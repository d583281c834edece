import { expect, test } from 'vitest';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { callListSchema } from '../../../engine/contract/agents.ts';
import { callFileName, callPieces } from './call-export.ts';

const call: ToolCallRecord = {
  id: '7',
  time: 5,
  client: null,
  tool: 'tell',
  arguments: { predicate: 'p', args: ['line\nbreak', '\u2028'] },
  argumentsCut: false,
  outcome: 'error',
  elapsedMs: 0.25,
  resultChars: 3,
  result: 'no\n',
  database: 'default',
  tenant: 'acme',
  requestId: 'r-1',
};

test('calls are exported as one JSON object a line', () => {
  const lines = callPieces([call, { ...call, id: '6' }], 'ndjson')
    .join('')
    .split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[2]).toBe('');
  expect(lines.slice(0, 2).map((line) => JSON.parse(line) as unknown)).toEqual([call, { ...call, id: '6' }]);
});

test('calls are exported as the list that the service answers', () => {
  for (const calls of [[], [call], [call, { ...call, id: '6' }]]) {
    const text = callPieces(calls, 'json').join('');
    expect(callListSchema.parse(JSON.parse(text))).toEqual({ calls });
  }
});

test('the file is named by when it was made, in letters that every system takes', () => {
  expect(callFileName('ndjson', 0)).toBe('tool-calls-1970-01-01T00-00-00Z.ndjson');
});
