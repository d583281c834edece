import '../../api/testing/browser.ts';
import { expect, test } from 'vitest';
import { parseRule } from '../../../engine/language/parse.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { call } from '../../api/client.ts';
import { historyOf, move } from '../../api/history.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import { allScopes } from '../../api/space.ts';
import { endScriptedServices, scriptedService } from '../../api/testing/scripted-service.ts';
import { changeKnowledge, type FactWhole, knowledgeWritesOf } from './knowledge-step.ts';
import type { DocumentRule } from './rule-document.ts';

endScriptedServices();

function ruleOf(text: string): DocumentRule {
  const rule = parseRule(text);
  return { rule, text: renderRule(rule), scope: null, name: null, description: null, enabled: true };
}

function factOf(predicate: string): FactWhole {
  const times = { validFrom: null, validUntil: 1_900_000_000_000 };
  return { predicate, args: ['a'], truthVal: true, scope: null, ...times, metadata: { source: 'book' } };
}

const declaration = { name: 'a', arity: 2, arguments: [{ name: 'of' }, { name: 'with' }] };
const predicates = [{ name: 'a', arity: 2, count: 0, derived: false, rules: 0, declaration }];

/** A service that keeps rules, gives a new id and entity tag to each write, and refuses an outdated one. */
async function serve(initial: readonly string[]) {
  let writes = 0;
  const rules = new Map(initial.map((text) => [`r${(writes += 1)}`, { text, etag: `"${writes}"` }]));
  const asked: string[] = [];
  const endpoint = await scriptedService((request, response, body) => {
    const { url = '', method = '', headers } = request;
    const id = /^\/rules\/(.+)$/.exec(url)?.[1];
    const said = (body === '' ? {} : JSON.parse(body)) as { text?: string };
    let answer: object = { status: 'pending' };
    if (!url.startsWith('/tx/') && method !== 'GET') asked.push(`${method} ${url} ${said.text ?? ''}`.trim());
    if (url === '/tx/begin') answer = { id: 'x', status: 'open', expiresAt: 0 };
    else if (url.startsWith('/tx/'))
      answer = { id: 'x', status: 'committed', operations: 1, generation: (writes += 1) };
    else if (id !== undefined && rules.get(id)?.etag !== headers['if-match']) {
      response.statusCode = 412;
      answer = { code: 'PreconditionFailed', detail: 'changed since', requestId: '', title: '' };
    } else if (id !== undefined && method === 'DELETE') rules.delete(id);
    else if (id !== undefined) rules.set(id, { text: said.text ?? '', etag: `"${(writes += 1)}"` });
    else if (url === '/assert/rule')
      rules.set(`r${(writes += 1)}`, { text: said.text ?? '', etag: `"${writes}"` });
    else if (url.startsWith('/predicates')) answer = { predicates, constraints: [] };
    else if (url.startsWith('/rules')) answer = { rules: [...rules].map(listed) };
    response.end(JSON.stringify(answer));
  });
  function listed([id, { text, etag }]: [string, { text: string; etag: string }]) {
    const plain = { scope: null, name: '', description: null, enabled: true, createdAt: 0, fired: 0 };
    return { id, etag, text, ...parseRule(text), ...plain };
  }
  const space = { database: `d${Math.random()}`, tenant: 't', scope: allScopes };
  const session: WorkbenchSession = {
    endpoint,
    present: endpoint,
    space,
    moment: null,
    call: (name, request, options) => call(endpoint, name, request, options),
  };
  return { session, asked, rules, texts: () => [...rules.values()].map(({ text }) => text).sort() };
}

const [p, q, r, s] = ['p(?x) :- a(?x)', 'q(?x) :- a(?x)', 'r(?x) :- a(?x)', 's(?x) :- a(?x)'] as const;

test('rules are taught, changed and removed as one step, which is undone and redone', async () => {
  const service = await serve([p, q]);
  const { session, texts } = service;
  const place = (id: string) => ({ id, etag: service.rules.get(id)?.etag ?? '' });
  await changeKnowledge(session, 'saved', {
    rules: [
      { place: place('r1'), before: ruleOf(p), after: ruleOf(r) },
      { place: place('r2'), before: ruleOf(q), after: null },
      { place: null, before: null, after: ruleOf(s) },
    ],
    facts: [],
    since: null,
  });
  expect(service.asked).toEqual(['DELETE /rules/r2', `PUT /rules/r1 ${r}`, `POST /assert/rule ${s}`]);
  expect(texts()).toEqual([r, s]);
  const store = historyOf(session.space);
  // Twice around: what is taught again has a new id, and every write a new entity tag.
  for (const _ of [1, 2]) {
    await move(store, 'undo');
    expect(store.getState().failure).toBeNull();
    expect(texts()).toEqual([p, q]);
    await move(store, 'redo');
    expect(texts()).toEqual([r, s]);
  }
});

test('a change made elsewhere since is not overwritten, by the step or by its undo', async () => {
  const service = await serve([p]);
  const { session } = service;
  const change = (etag: string) =>
    changeKnowledge(session, 'saved', {
      rules: [{ place: { id: 'r1', etag }, before: ruleOf(p), after: ruleOf(q) }],
      facts: [],
      since: null,
    });
  await expect(change('"0"')).rejects.toMatchObject({ code: 'PreconditionFailed' });
  await change(service.rules.get('r1')?.etag ?? '');
  service.rules.set('r1', { text: r, etag: '"theirs"' });
  const store = historyOf(session.space);
  await move(store, 'undo');
  expect(store.getState().failure?.detail).toContain('changed since');
  expect(service.texts()).toEqual([r]);
  // A new change is based on what is stored now, not on what this window did before.
  await change('"theirs"');
  expect(service.texts()).toEqual([q]);
});

test('facts are retracted before others are asserted, guarded, with all that is stored of them', () => {
  const writes = knowledgeWritesOf({
    rules: [{ place: null, before: null, after: ruleOf(p) }],
    facts: [
      { before: null, after: factOf('new') },
      { before: factOf('old'), after: null },
    ],
    since: 7,
  });
  expect(writes.map(({ operation }) => operation)).toEqual(['retract', 'assertRule', 'assertFact']);
  expect(writes[0]?.input).toEqual({
    body: { predicate: 'old', args: ['a'], truthVal: true, unscoped: true, ifGeneration: 7 },
  });
  expect(writes[2]?.input).toMatchObject({
    body: {
      predicate: 'new',
      validUntil: 1_900_000_000_000,
      metadata: { source: 'book' },
      scope: null,
      ifGeneration: 7,
    },
  });
});

test('a rule with arguments by name is stored with positions, and its change can be undone', async () => {
  const service = await serve([p]);
  const { session, texts } = service;
  const place = { id: 'r1', etag: service.rules.get('r1')?.etag ?? '' };
  const after = ruleOf('p(?x) :- a{with: b, of: ?x}');
  const rules = [{ place, before: ruleOf(p), after }];
  await changeKnowledge(session, 'saved', { rules, facts: [], since: null });
  expect(texts()).toEqual(['p(?x) :- a(?x, b)']);
  await move(historyOf(session.space), 'undo');
  expect(texts()).toEqual([p]);
});
