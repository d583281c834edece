import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeSchema } from '../../engine/contract/administration.ts';
import type { FactOutcome } from '../../engine/contract/facts.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

interface Event {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

interface Stream {
  response: Response;
  next(): Promise<Event>;
  close(): void;
}

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});

afterAll(() => service.close());

async function listen(headers: Record<string, string> = {}, on = service): Promise<Stream> {
  const controller = new AbortController();
  const response = await fetch(`${on.address}/events`, {
    headers: { 'x-tenant-id': 'default', ...headers },
    signal: controller.signal,
  });
  const events = eventsOf(response);
  return {
    response,
    next: async () => {
      const { value, done } = await events.next();
      if (done === true) throw new Error('the stream has ended');
      return value;
    },
    close: () => controller.abort(),
  };
}

async function* eventsOf(response: Response): AsyncGenerator<Event, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)] as const),
      );
      text = text.slice(end + 2);
      const [id, event, data] = [fields.get('id'), fields.get('event'), fields.get('data')];
      if (id !== undefined && event !== undefined && data !== undefined)
        yield { id, event, data: JSON.parse(data) as Record<string, unknown> };
    }
  }
  return undefined;
}

function tell(argument: string, headers: Record<string, string> = {}) {
  return service.call<FactOutcome>('POST', '/tell', { predicate: 'seen', args: [argument] }, { headers });
}

it('sends changes as they happen, with id, kind and data of the schema', async () => {
  const stream = await listen();
  expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(stream.response.headers.get('x-request-id')).not.toBeNull();
  expect(stream.response.headers.get('x-api-version')).toBe('1');
  const { body } = await tell('one', { 'x-request-id': 'from-here' });
  const event = await stream.next();
  expect(event.event).toBe('fact.asserted');
  expect(event.id).toMatch(new RegExp(`^${body.generation}\\.\\d+$`));
  expect(event.data).toMatchObject({
    generation: body.generation,
    requestId: 'from-here',
    atom: 'seen(one)',
  });
  expect(changeSchema.safeParse(event.data).success).toBe(true);
  stream.close();
});

it('sends nothing of another tenant or database', async () => {
  await service.call('POST', '/databases', { name: 'aside' });
  const stream = await listen({ 'x-tenant-id': 'watched' });
  await tell('hidden', { 'x-tenant-id': 'unwatched' });
  await tell('hidden', { 'x-tenant-id': 'watched', 'x-database': 'aside' });
  await tell('shown', { 'x-tenant-id': 'watched' });
  expect((await stream.next()).data).toMatchObject({ atom: 'seen(shown)' });
  stream.close();
});

it('resumes after Last-Event-ID, and sends reset if it cannot', async () => {
  const first = await listen();
  await tell('before');
  const { id } = await first.next();
  first.close();
  await tell('meanwhile');
  const second = await listen({ 'last-event-id': id });
  expect((await second.next()).data).toMatchObject({ atom: 'seen(meanwhile)' });
  second.close();
  for (const unknown of ['999999.0', 'nonsense']) {
    const third = await listen({ 'last-event-id': unknown });
    expect((await third.next()).event).toBe('reset');
    third.close();
  }
});

it('sends atoms with line breaks without breaking the stream', async () => {
  const stream = await listen();
  await tell('a\n\nid: 7\nb');
  expect((await stream.next()).data).toMatchObject({ atom: String.raw`seen("a\n\nid: 7\nb")` });
  stream.close();
});

it('reports an expired fact and its consequences, even without any question', async () => {
  const tenant = { 'x-tenant-id': 'expiring' };
  await service.call('POST', '/teach', { text: 'awake(?x) :- shift(?x), not leave(?x)' });
  await service.call('POST', '/tell', { predicate: 'shift', args: ['ann'] }, { headers: tenant });
  const stream = await listen(tenant);
  const told = await service.call<FactOutcome>(
    'POST',
    '/tell',
    { predicate: 'shift', args: ['bob'], ttl: 2000 },
    { headers: tenant },
  );
  const question = { predicate: 'awake', args: ['?x'], withProof: true };
  const asked = await service.call<Answer>('POST', '/ask', question, { headers: tenant });
  expect(asked.body.results).toEqual(['awake(ann)', 'awake(bob)']);
  expect((await stream.next()).data['atom']).toBe('shift(bob)');
  const events = [await stream.next(), await stream.next()];
  expect(events.map(({ event, data }) => [event, data['atom'], data['requestId']])).toEqual([
    ['fact.retracted', 'shift(bob)', null],
    ['conclusion.withdrawn', 'awake(bob)', null],
  ]);
  expect(events[0]?.data['id']).toBe(told.body.id);
  for (const { data } of events) expect(changeSchema.safeParse(data).success).toBe(true);
  const leave = { predicate: 'leave', args: ['ann'] };
  await service.call('POST', '/tell', leave, { headers: { ...tenant, 'x-request-id': 'going' } });
  const next = [await stream.next(), await stream.next()];
  expect(next.map(({ event, data }) => [event, data['atom'], data['requestId']])).toEqual([
    ['fact.asserted', 'leave(ann)', 'going'],
    ['conclusion.withdrawn', 'awake(ann)', 'going'],
  ]);
  stream.close();
});

it('reports every kind of change: facts, derived facts, rules, scopes and evictions', async () => {
  const tenant = { 'x-tenant-id': 'kinds' };
  const stream = await listen(tenant);
  const change = async (method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await service.call<Record<string, unknown>>(method, path, body, {
      headers: tenant,
    });
    expect(status, path).toBe(200);
    return answer;
  };
  const fact = { predicate: 'p', args: ['a'] };
  const { id } = await change('POST', '/tell', fact);
  const rule = await change('POST', '/teach', { text: 'kinds_of(?x) :- p(?x)' });
  await change('POST', '/ask', { predicate: 'kinds_of', args: ['?x'] });
  await change('POST', '/retract', fact);
  await change('POST', '/tell', { predicate: 'q', args: ['b'], scope: 's' });
  await change('POST', '/scope/fork', { source: 's', target: 't' });
  await change('POST', '/tell', { predicate: 'q', args: ['faded'], metadata: { importance: 0 } });
  await change('POST', '/memory/decay');
  await change('DELETE', `/rules/${String(rule['id'])}`);
  await change('DELETE', '/scope/t');
  const wanted = [
    ['fact.asserted', { atom: 'p(a)', id, scope: null }],
    ['rule.changed', { id: rule['id'], rule: 'kinds_of(?x) :- p(?x)' }],
    ['fact.retracted', { atom: 'p(a)', id }],
    ['conclusion.withdrawn', { atom: 'kinds_of(a)' }],
    ['fact.asserted', { atom: 'q(b)', scope: 's' }],
    ['scope.changed', { scope: 't' }],
    ['fact.asserted', { atom: 'q(faded)' }],
    ['memory.evicted', { atom: 'q(faded)' }],
    ['rule.changed', { id: rule['id'], rule: 'kinds_of(?x) :- p(?x)' }],
    ['scope.changed', { scope: 't' }],
  ] as const;
  const seen: Event[] = [];
  while (seen.filter(({ event }) => event === 'scope.changed').length < 2) seen.push(await stream.next());
  for (const { data } of seen) expect(changeSchema.parse(data)).toEqual(data);
  let at = -1;
  for (const [event, data] of wanted) {
    at = seen.findIndex((each, index) => index > at && each.event === event);
    expect(at, `${event} of ${seen.map((each) => each.event).join(' ')}`).toBeGreaterThan(-1);
    expect(seen[at]?.data).toMatchObject(data);
  }
  for (const { id: place, data } of seen)
    expect(place).toMatch(new RegExp(`^${String(data['generation'])}\\.\\d+$`));
  expect(new Set(seen.map((each) => each.id)).size).toBe(seen.length);
  stream.close();
});

it('counts its subscribers', async () => {
  const count = async () =>
    /service_events_subscribers (\d+)/.exec((await service.call<string>('GET', '/metrics')).body)?.[1];
  await expect.poll(count).toBe('0');
  const stream = await listen();
  await expect.poll(count).toBe('1');
  stream.close();
  await expect.poll(count).toBe('0');
});

it('ends with the service', async () => {
  const other = await startServiceUnderTest();
  const stream = await listen({}, other);
  const ended = stream.next().catch((error: unknown) => String(error));
  await other.close();
  expect(await ended).toContain('ended');
});
