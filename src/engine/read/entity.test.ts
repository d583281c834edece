import { describe, expect, it } from 'vitest';
import { entityInputSchema, type EntityPage } from '../contract/entities.ts';
import { factInput, type Fields, openSession, second, type Session } from '../testing/engine-fixtures.ts';

/** The page of an entity: contract section 14. */

function entity({ engine, caller }: Session, constant: string, fields: Fields = {}): Promise<EntityPage> {
  return engine.entity(caller, entityInputSchema.parse({ constant, ...fields }));
}

async function family(): Promise<Session> {
  const session = await openSession();
  await session.tellAll([
    'parent(ann, bob)',
    'parent(bob, carol)',
    '-likes(bob, tea)',
    'met(bob, bob, carol)',
  ]);
  await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
  await session.teach('tall(?x) :- parent(bob, ?x)');
  return session;
}

const factsOf = ({ facts }: EntityPage): string[] =>
  facts.map(({ predicate, args, truthVal }) => `${truthVal ? '' : '-'}${predicate}(${args.join(', ')})`);

describe('the page of an entity', () => {
  it('lists its facts, newest first, each once', async () => {
    const page = await entity(await family(), 'bob');
    expect(page.entity).toBe('bob');
    expect(factsOf(page)).toEqual([
      'met(bob, bob, carol)',
      '-likes(bob, tea)',
      'parent(bob, carol)',
      'parent(ann, bob)',
    ]);
    expect(page.totals).toMatchObject({ facts: 4, mentionsInRules: 1 });
  });

  it('says at which arguments it occurs', async () => {
    const { asArgument } = await entity(await family(), 'bob');
    expect(asArgument.map(({ name: _name, ...each }) => Object.values(each).join(' '))).toEqual([
      'likes 2 0 1 0',
      'met 3 0 1 0',
      'met 3 1 1 0',
      'parent 2 0 1 0',
      'parent 2 1 1 0',
    ]);
  });

  it('counts neighbours by predicate, most first', async () => {
    const session = await family();
    await session.tell('met(carol, ann, bob)');
    const { neighbours } = await entity(session, 'bob');
    expect(neighbours).toEqual([
      { entity: 'carol', via: 'met', count: 2 },
      { entity: 'ann', via: 'met', count: 1 },
      { entity: 'ann', via: 'parent', count: 1 },
      { entity: 'carol', via: 'parent', count: 1 },
      { entity: 'tea', via: 'likes', count: 1 },
    ]);
  });

  it('knows conclusions that were derived, and derives all with infer', async () => {
    const session = await family();
    const before = await entity(session, 'carol');
    expect(before.conclusions).toEqual([]);
    expect(before.conclusionsComplete).toBe(false);
    await session.ask('grandparent(?x, ?y)');
    const known = await entity(session, 'carol');
    expect(known.conclusions.map(({ atom }) => atom)).toEqual(['grandparent(ann, carol)']);
    const all = await entity(session, 'carol', { infer: true });
    expect(all.conclusions.map(({ atom }) => atom)).toEqual(['grandparent(ann, carol)', 'tall(carol)']);
    expect(all.conclusionsComplete).toBe(true);
    expect(all.asArgument.filter(({ derived }) => derived > 0).map(({ predicate }) => predicate)).toEqual([
      'grandparent',
      'tall',
    ]);
    expect(all.neighbours).toContainEqual({ entity: 'ann', via: 'grandparent', count: 1 });
  });

  it('counts what is both stored and derived as stored', async () => {
    const session = await family();
    await session.tell('tall(carol)');
    const page = await entity(session, 'carol', { infer: true });
    expect(page.conclusions.map(({ atom }) => atom)).toEqual(['grandparent(ann, carol)']);
    expect(page.asArgument).toContainEqual(
      expect.objectContaining({ predicate: 'tall', count: 1, derived: 0 }),
    );
  });

  it('finds conclusions about a constant that only arithmetic makes', async () => {
    const session = await openSession();
    await session.tell('size(box, 3)');
    await session.teach('double(?x, ?d) :- size(?x, ?s), ?d = ?s * 2');
    const page = await entity(session, '6', { infer: true });
    expect(page.conclusions.map(({ atom }) => atom)).toEqual(['double(box, 6)']);
    expect(page.neighbours).toEqual([{ entity: 'box', via: 'double', count: 1 }]);
  });

  it('shows what was found where deriving takes too long', async () => {
    const session = await openSession();
    await session.tell('n(1)');
    await session.teach('n(?y) :- n(?x), ?y = ?x + 1');
    const page = await entity(session, '1', { infer: true, timeoutMs: 50 });
    expect(page.conclusionsComplete).toBe(false);
    expect(page.notWorkedOut).toEqual(['n/1']);
    expect(factsOf(page)).toEqual(['n(1)']);
  });

  it('lists rules that name it, with those inside aggregates', async () => {
    const session = await family();
    await session.teach('lonely(bob) :- ?n = count { ?y : met(bob, ?y, ?_) }, ?n < 1', { name: 'lonely' });
    const { mentionsInRules } = await entity(session, 'bob');
    expect(mentionsInRules.map(({ rule, name }) => [rule, name])).toEqual([
      ['tall(?x) :- parent(bob, ?x)', null],
      ['lonely(bob) :- ?n = count { ?y : met(bob, ?y, ?_) }, ?n < 1', 'lonely'],
    ]);
  });

  it('tells the changes of its facts, newest first', async () => {
    const session = await family();
    await session.tell('parent(bob, carol)', { metadata: { source: 'register' } });
    const { history } = await entity(session, 'carol');
    expect(history.map(({ change, atom, generation }) => `${generation} ${change} ${atom}`)).toEqual([
      '4 updated parent(bob, carol)',
      '1 asserted met(bob, bob, carol)',
      '1 asserted parent(bob, carol)',
    ]);
  });

  it('reads the view of a scope, and of no scope', async () => {
    const session = await family();
    await session.tell('parent(bob, dora)', { scope: 'draft' });
    await session.teach('young(?x) :- parent(bob, ?x)', { scope: 'draft' });
    const draft = await entity(session, 'bob', { scope: 'draft', infer: true });
    expect(factsOf(draft)).toEqual(['parent(bob, dora)']);
    expect(draft.mentionsInRules).toHaveLength(2);
    const unscoped = await entity(session, 'bob', { unscoped: true });
    expect(unscoped.totals.facts).toBe(4);
    expect(unscoped.mentionsInRules).toHaveLength(1);
    expect((await entity(session, 'bob')).totals.facts).toBe(5);
    const about = await entity(session, 'dora', { scope: 'draft', infer: true });
    expect(about.conclusions.map(({ atom }) => atom)).toEqual(['tall(dora)', 'young(dora)']);
  });

  it('shows only what is visible now', async () => {
    const session = await openSession();
    await session.tell('on(lamp)', { ttl: second });
    await session.tell('sold(lamp)');
    await session.forget('sold(lamp)');
    expect((await entity(session, 'lamp')).totals.facts).toBe(1);
    session.clock.advance(second);
    expect(await entity(session, 'lamp')).toMatchObject({ facts: [], history: [], asArgument: [] });
  });

  it('is empty for an unknown constant, and leaves nothing behind', async () => {
    const session = await family();
    const page = await entity(session, 'nobody', { infer: true });
    expect(page).toMatchObject({
      entity: 'nobody',
      aliases: [],
      asArgument: [],
      facts: [],
      conclusions: [],
      neighbours: [],
      mentionsInRules: [],
      history: [],
      nextOffset: null,
    });
    const fresh = await openSession();
    expect((await entity(fresh, 'bob')).totals).toEqual({
      facts: 0,
      conclusions: 0,
      neighbours: 0,
      mentionsInRules: 0,
    });
  });

  it.each(['', '.', 'a/b%2F', 'with "quotes" and, commas', 'Ærø 東京 🏔', ' ', 'x'.repeat(60_000), '-1.5'])(
    'takes the constant %.20j',
    async (constant) => {
      const session = await openSession();
      await session.engine.tellAll(session.caller, [{ ...factInput('p(a)'), args: [constant, 'other'] }]);
      const page = await entity(session, constant);
      expect(page.facts[0]?.args).toEqual([constant, 'other']);
      expect(page.neighbours).toEqual([{ entity: 'other', via: 'p', count: 1 }]);
    },
  );

  it('pages every list alike, without gap or repeat', async () => {
    const session = await openSession();
    const facts = Array.from({ length: 25 }, (_, at) => `p(hub, x${String(at).padStart(2, '0')})`);
    await session.tellAll(facts);
    await session.teach('q(?y, ?x) :- p(?x, ?y)');
    const whole = await entity(session, 'hub', { infer: true, limit: 1000 });
    const pages: EntityPage[] = [];
    for (let offset: number | null = 0; offset !== null; ) {
      const page: EntityPage = await entity(session, 'hub', { infer: true, limit: 10, offset });
      pages.push(page);
      offset = page.nextOffset;
    }
    expect(pages.map(({ facts: of }) => of.length)).toEqual([10, 10, 5, 0, 0]);
    for (const list of ['facts', 'conclusions', 'neighbours', 'history'] as const)
      expect(pages.flatMap((page) => page[list] as unknown[])).toEqual(whole[list]);
    expect(whole.totals).toEqual({ facts: 25, conclusions: 25, neighbours: 50, mentionsInRules: 0 });
    expect(whole.nextOffset).toBeNull();
  });
});
