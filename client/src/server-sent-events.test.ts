import { describe, expect, test } from 'vitest';
import { createServerSentEventReader } from './server-sent-events.ts';

const stream = [
  ': heartbeat',
  '',
  'id: 3.0',
  'event: fact.asserted',
  'data: {"a":1}',
  '',
  'data: first',
  'data:second',
  '',
  'id: 4.0',
  '',
  'event: reset',
  'data',
  '',
  '',
];

function readInPieces(text: string, size: number) {
  const reader = createServerSentEventReader();
  const events = [];
  for (let at = 0; at < text.length; at += size) events.push(...reader.push(text.slice(at, at + size)));
  return events;
}

describe('reading server-sent events', () => {
  const expected = [
    { id: '3.0', kind: 'fact.asserted', data: '{"a":1}' },
    { id: '3.0', kind: 'message', data: 'first\nsecond' },
    { id: '4.0', kind: 'reset', data: '' },
  ];

  test.each(['\n', '\r\n', '\r'])('splits lines that end with %j, cut anywhere', (end) => {
    const text = stream.join(end);
    for (let size = 1; size <= text.length; size += 1) expect(readInPieces(text, size)).toEqual(expected);
  });

  test('waits for the empty line that ends an event', () => {
    const reader = createServerSentEventReader();
    expect(reader.push('data: x\n')).toEqual([]);
    expect(reader.push('\n')).toHaveLength(1);
  });
});
