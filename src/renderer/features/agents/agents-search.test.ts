import { expect, test } from 'vitest';
import { agentsSearchOf, filterOf, noFilter } from './agents-search.ts';

test('selects the part, the filters, the call and the program by the address', () => {
  const search = {
    part: 'connect',
    client: 'Cursor',
    tool: 'ask',
    outcome: 'error',
    q: 'ada',
    call: '17',
    program: 'vs-code',
    trying: 'tell',
    from: '3',
  };
  expect(agentsSearchOf({ ...search, other: 'x' })).toEqual(search);
  expect(filterOf(agentsSearchOf(search))).toEqual({
    client: 'Cursor',
    tool: 'ask',
    outcome: 'error',
    text: 'ada',
  });
});

test('drops unknown search parameters', () => {
  expect(agentsSearchOf({ part: 'calling', outcome: 'maybe', program: 'emacs', q: '', call: 7 })).toEqual({});
});

test('passes every call without filters', () => {
  const search = agentsSearchOf({ ...agentsSearchOf({ client: 'x', q: 'y' }), ...noFilter });
  expect(filterOf(search)).toEqual({ client: null, tool: null, outcome: null, text: '' });
});
