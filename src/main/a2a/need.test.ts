import { expect, it } from 'vitest';
import { messageNeed } from './need.ts';

const sent = (text: unknown, method = 'message/send') => ({
  method,
  params: { message: { parts: [{ kind: 'text', text }] } },
});

it.each([
  ['p(?x)', 'ask'],
  ['p(a)?\nq(?x), r(?x)?', 'ask'],
  ['p(a).', null],
  ['p(?x)\np(a).', null],
  ['forget p(?x)', null],
  ['who is it', null],
  [7, null],
])('a message %j needs %j', async (text, need) => {
  expect(await messageNeed(sent(text))).toBe(need);
  expect(await messageNeed(sent(text, 'SendMessage'))).toBe(need);
});

it('other methods, and what is no request, may do anything', async () => {
  expect(await messageNeed(sent('p(?x)', 'tasks/get'))).toBeNull();
  for (const other of [
    null,
    [],
    { method: 'message/send' },
    { method: 'message/send', params: { message: { parts: 7 } } },
  ])
    expect(await messageNeed(other)).toBeNull();
});
