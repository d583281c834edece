/**
 * What a service is asked to get warm: small knowledge with each kind of rule, told, asked, proved and taken back.
 *
 * Which requests, and how many, is measured: more of them take longer than they save.
 */

export interface WarmUpRequest {
  readonly path: string;
  readonly body: object;
}

const rounds = 8;
const people = 24;

const rules = [
  'ancestor(?x, ?y) :- parent(?x, ?y)',
  'ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z)',
  'sibling(?x, ?y) :- parent(?z, ?x), parent(?z, ?y), ?x != ?y',
  'childless(?x) :- person(?x), not parent(?x, ?_)',
  'children(?x, ?n) :- person(?x), ?n = count { ?y : parent(?x, ?y) }',
];

export function* warmUpRequests(): Generator<WarmUpRequest> {
  yield { path: '/assert/facts', body: { facts: family() } };
  for (const text of rules) yield { path: '/teach', body: { text } };
  const clientInfo = { name: 'warm-up', version: '1' };
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  yield { path: '/mcp', body: { jsonrpc: '2.0', id: 0, method: 'initialize', params: opening } };
  yield { path: '/mcp', body: { jsonrpc: '2.0', method: 'notifications/initialized' } };
  yield { path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } };
  for (let round = 0; round < rounds; round++) yield* roundOf(round);
}

/** The facts of a family tree: the parent of each, and who there is. */
function family(): object[] {
  const numbers = Array.from({ length: people }, (_, at) => at + 1);
  return numbers.flatMap((number) => [
    { predicate: 'person', args: [nameOf(number)] },
    { predicate: 'parent', args: [nameOf(number), nameOf(2 * number)] },
    { predicate: 'parent', args: [nameOf(number), nameOf(2 * number + 1)] },
  ]);
}

function nameOf(number: number): string {
  return `p${number}`;
}

function* roundOf(round: number): Generator<WarmUpRequest> {
  const who = nameOf(1 + (round % people));
  const late = { predicate: 'parent', args: [who, `late${round}`] };
  yield { path: '/tell', body: late };
  yield { path: '/query', body: { predicate: 'parent', args: [who, '?x'] } };
  yield { path: '/ask', body: { predicate: 'ancestor', args: [who, '?x'] } };
  yield { path: '/ask', body: { predicate: 'ancestor', args: [who, '?x'], withProof: true } };
  yield { path: '/ask', body: { predicate: 'ancestor', args: ['?x', '?y'] } };
  yield { path: '/ask', body: { predicate: 'sibling', args: [who, '?x'] } };
  yield { path: '/ask', body: { predicate: 'childless', args: ['?x'] } };
  yield { path: '/ask', body: { predicate: 'children', args: [who, '?n'] } };
  yield toolCall(2 * round + 2, 'ask', { predicate: 'ancestor', args: [who, '?x'] });
  yield toolCall(2 * round + 3, 'tell', { predicate: 'met', args: [who, `late${round}`] });
  yield { path: '/retract', body: late };
}

function toolCall(id: number, name: string, given: object): WarmUpRequest {
  const params = { name, arguments: given };
  return { path: '/mcp', body: { jsonrpc: '2.0', id, method: 'tools/call', params } };
}
