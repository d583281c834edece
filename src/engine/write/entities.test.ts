import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { declarationInputSchema } from '../contract/declarations.ts';
import {
  type AliasAdded,
  aliasInputSchema,
  type AliasRemoved,
  type EntitiesMerged,
  entityInputSchema,
  mergeEntitiesInputSchema,
} from '../contract/entities.ts';
import { EngineError } from '../base/errors.ts';
import { day, type Fields, openSession, startTime, type Session } from '../testing/engine-fixtures.ts';

/** Aliases and merges of entities: contract section 14. */

function addAlias({ engine, caller }: Session, entity: string, alias: string): Promise<AliasAdded> {
  return engine.addAlias(caller, aliasInputSchema.parse({ entity, alias }));
}

function removeAlias({ engine, caller }: Session, entity: string, alias: string): Promise<AliasRemoved> {
  return engine.removeAlias(caller, aliasInputSchema.parse({ entity, alias }));
}

function merge(
  { engine, caller }: Session,
  from: string,
  into: string,
  fields: Fields = {},
): Promise<EntitiesMerged> {
  return engine.mergeEntities(
    caller,
    mergeEntitiesInputSchema.parse({ from, into, timeoutMs: 600_000, ...fields }),
  );
}

function page({ engine, caller }: Session, constant: string) {
  return engine.entity(caller, entityInputSchema.parse({ constant }));
}

/** The code and detail of a refusal. */
async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'not refused',
    (reason: unknown) => reason,
  );
  return error instanceof EngineError ? `${error.code}: ${error.message}` : String(error);
}

async function facts(session: Session): Promise<string[]> {
  return (await session.list()).facts
    .map(
      ({ predicate, args, truthVal, scope }) =>
        `${scope ?? ''}:${truthVal ? '' : '-'}${predicate}(${args.join(', ')})`,
    )
    .sort();
}

describe('an alias', () => {
  it('is another name of an entity, until it is removed', async () => {
    const session = await openSession();
    await session.tell('born(ada, 1815)');
    expect(await addAlias(session, 'ada', 'Countess of Lovelace')).toEqual({
      status: 'added',
      entity: 'ada',
      alias: 'Countess of Lovelace',
      generation: 2,
    });
    expect(await addAlias(session, 'ada', 'Countess of Lovelace')).toMatchObject({
      status: 'unchanged',
      generation: 2,
    });
    await addAlias(session, 'ada', 'Ada Byron');
    const shown = await page(session, 'Countess of Lovelace');
    expect(shown).toMatchObject({ entity: 'ada', aliases: ['Ada Byron', 'Countess of Lovelace'] });
    expect(shown.totals.facts).toBe(1);
    expect(await removeAlias(session, 'bob', 'Ada Byron')).toMatchObject({ status: 'absent' });
    expect(await removeAlias(session, 'ada', 'Ada Byron')).toMatchObject({
      status: 'removed',
      generation: 4,
    });
    expect((await page(session, 'ada')).aliases).toEqual(['Countess of Lovelace']);
    expect((await page(session, 'Ada Byron')).entity).toBe('Ada Byron');
  });

  it('belongs to its tenant, and creates none where it is not', async () => {
    const session = await openSession();
    await addAlias(session, 'ada', 'countess');
    const other = session.as({ tenant: 'other' });
    expect((await page(other, 'countess')).entity).toBe('countess');
    expect(await removeAlias(other, 'ada', 'countess')).toMatchObject({ status: 'absent' });
    const { tenants } = await session.engine.tenants(session.caller, 'default');
    expect(tenants.map(({ name }) => name)).toEqual(['tenant']);
  });

  it.each([
    ['ada', 'ada', 'ValidationException', 'no alias of itself'],
    ['bob', 'countess', 'Conflict', 'countess is an alias of ada already'],
    ['countess', 'lady', 'Conflict', 'countess is itself an alias of ada'],
    ['countess', 'ada', 'Conflict', 'countess is itself an alias of ada'],
    ['eve', 'ada', 'Conflict', 'ada has aliases itself'],
    ['ada', 'bob', 'Conflict', 'bob is a constant of knows(bob, carol)'],
    ['ada', 'future', 'Conflict', 'future is a constant of -knows(future)'],
  ])('of %s named %s is refused', async (entity, alias, code, why) => {
    const session = await openSession();
    await session.tell('knows(bob, carol)', { scope: 'draft' });
    await session.tell('-knows(future)', { validFrom: startTime + day });
    await addAlias(session, 'ada', 'countess');
    const said = await refusal(addAlias(session, entity, alias));
    expect(said).toContain(code);
    expect(said).toContain(why);
  });

  it('may be what only an ended fact had', async () => {
    const session = await openSession();
    await session.tell('knows(robert)', { ttl: day });
    session.clock.advance(day);
    expect(await addAlias(session, 'bob', 'robert')).toMatchObject({ status: 'added' });
  });

  it('is bounded in length and number', async () => {
    expect(aliasInputSchema.safeParse({ entity: 'a', alias: 'x'.repeat(1025) }).success).toBe(false);
    expect(aliasInputSchema.safeParse({ entity: 'a', alias: '  ' }).success).toBe(false);
    const session = await openSession();
    for (let at = 0; at < 1000; at++) await addAlias(session, 'ada', `name ${at}`);
    expect(await refusal(addAlias(session, 'ada', 'one more'))).toContain('at most 1000 aliases');
  });

  it('survives a restart, from the log and from a snapshot, and goes with its tenant', async () => {
    const storageDir = await mkdtemp(join(tmpdir(), 'corollary-aliases-'));
    onTestFinished(() => rm(storageDir, { recursive: true, force: true }));
    let session = await openSession({ storageDir });
    await addAlias(session, 'ada', 'countess');
    await session.engine.close();
    session = await openSession({ storageDir });
    expect((await page(session, 'countess')).entity).toBe('ada');
    await session.engine.snapshot();
    await addAlias(session, 'ada', 'lady');
    await session.engine.close();
    session = await openSession({ storageDir });
    expect((await page(session, 'ada')).aliases).toEqual(['countess', 'lady']);
    await session.engine.nukeTenant(session.caller, 'default', 'tenant');
    expect((await page(session, 'countess')).entity).toBe('countess');
  });
});

describe('a merge of two entities', () => {
  async function twice(): Promise<Session> {
    const session = await openSession();
    await session.tellAll(['parent(ann, bob)', 'parent(bob, carol)', 'knows(robert, bob)']);
    await session.tell('parent(robert, dora)', { metadata: { source: 'letter' } });
    await session.tell('likes(robert, tea)', { scope: 'draft' });
    await session.tell('-likes(robert, tea)', { scope: 'draft', validFrom: startTime + day });
    await session.teach('grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)');
    await session.teach('special(?x) :- parent(robert, ?x)');
    return session;
  }

  it('rewrites the facts of every scope and truth value, and keeps the name as an alias', async () => {
    const session = await twice();
    await addAlias(session, 'robert', 'bobby');
    const merged = await merge(session, 'robert', 'bob');
    expect(await facts(session)).toEqual([
      ':knows(bob, bob)',
      ':parent(ann, bob)',
      ':parent(bob, carol)',
      ':parent(bob, dora)',
      'draft:-likes(bob, tea)',
      'draft:likes(bob, tea)',
    ]);
    expect(merged).toMatchObject({ from: 'robert', into: 'bob', facts: 4, joined: 0 });
    expect(merged.aliases).toEqual(['bobby', 'robert']);
    expect((await page(session, 'bobby')).entity).toBe('bob');
    const dora = (await session.list({ predicate: 'parent' })).facts.find(({ args }) => args[1] === 'dora');
    expect(dora?.metadata).toEqual({ source: 'letter' });
  });

  it('tells gained and lost conclusions and the rules that name the other', async () => {
    const session = await twice();
    const before = await session.results('grandparent(?x, ?y)');
    const merged = await merge(session, 'robert', 'bob');
    const after = await session.results('grandparent(?x, ?y)');
    expect(before).toEqual(['grandparent(ann, carol)']);
    expect(after).toEqual(['grandparent(ann, carol)', 'grandparent(ann, dora)']);
    expect(merged).toMatchObject({ gained: 1, lost: 1 });
    expect(merged.rulesMentioning.map(({ rule }) => rule)).toEqual(['special(?x) :- parent(robert, ?x)']);
    expect(await session.results('special(?x)')).toEqual([]);
  });

  it('answers a dry run as the real call would, and changes nothing', async () => {
    const session = await twice();
    const before = await facts(session);
    const tried = await merge(session, 'robert', 'bob', { dryRun: true });
    expect(await facts(session)).toEqual(before);
    expect((await page(session, 'bob')).aliases).toEqual([]);
    const { dryRun, generation, ...told } = tried;
    expect(dryRun).toBe(true);
    const { generation: written, ...merged } = await merge(session, 'robert', 'bob');
    expect(written).toBe(generation + 1);
    expect(told).toEqual(merged);
  });

  it('joins facts that become equal as KEEP_BOTH does', async () => {
    const session = await openSession();
    await session.tell('met(bob, eve)', {
      metadata: { place: 'oslo', year: 1 },
      validFrom: startTime,
      validUntil: startTime + day,
    });
    await session.tell('met(robert, eve)', { metadata: { place: 'bergen', note: 'x' } });
    const merged = await merge(session, 'robert', 'bob');
    expect(merged).toMatchObject({ facts: 1, joined: 1 });
    const [fact] = (await session.list()).facts;
    expect(fact).toMatchObject({
      args: ['bob', 'eve'],
      metadata: { place: 'oslo', year: 1, note: 'x', _source: { place: 'bergen' } },
      validFrom: null,
      validUntil: null,
    });
    expect(merged.rewritten).toEqual([
      {
        before: expect.objectContaining({ args: ['robert', 'eve'] }) as unknown,
        after: expect.objectContaining({ args: ['bob', 'eve'], metadata: fact?.metadata }) as unknown,
        joined: expect.objectContaining({ metadata: { place: 'oslo', year: 1 } }) as unknown,
      },
    ]);
  });

  it('shows the facts with the names of their arguments', async () => {
    const session = await openSession();
    const declared = declarationInputSchema.parse({ arguments: [{ name: 'who' }, { name: 'whom' }] });
    await session.engine.declare(session.caller, { ...declared, name: 'met', arity: 2 });
    await session.tellAll(['met(robert, eve)', 'saw(robert, eve)']);
    const { rewritten } = await merge(session, 'robert', 'bob');
    expect(rewritten.map(({ before, after }) => [before.named, after.named])).toEqual([
      [
        { who: 'robert', whom: 'eve' },
        { who: 'bob', whom: 'eve' },
      ],
      [undefined, undefined],
    ]);
  });

  it('joins what the two said of each other', async () => {
    const session = await openSession();
    await session.tellAll(['knows(bob, robert)', 'knows(robert, bob)', 'knows(robert, robert)']);
    expect(await merge(session, 'robert', 'bob')).toMatchObject({ facts: 3, joined: 2 });
    expect(await facts(session)).toEqual([':knows(bob, bob)']);
  });

  it('takes in later what was told under the alias', async () => {
    const session = await twice();
    await merge(session, 'robert', 'bob');
    await session.tell('likes(robert, jam)');
    expect((await page(session, 'bob')).facts.some(({ args }) => args[0] === 'robert')).toBe(true);
    expect(await merge(session, 'robert', 'bob')).toMatchObject({ facts: 1, aliases: ['robert'] });
    expect(await facts(session)).toContain(':likes(bob, jam)');
    const { generation } = await merge(session, 'robert', 'bob');
    expect((await merge(session, 'robert', 'bob')).generation).toBe(generation);
  });

  it.each([
    ['bob', 'bob', 'ValidationException', 'into itself'],
    ['eve', 'robert', 'Conflict', 'robert is an alias of bob'],
    ['robert', 'eve', 'Conflict', 'robert is an alias of bob'],
  ])('of %s into %s is refused', async (from, into, code, why) => {
    const session = await openSession();
    await addAlias(session, 'bob', 'robert');
    for (const dryRun of [true, false]) {
      const said = await refusal(merge(session, from, into, { dryRun }));
      expect(said).toContain(code);
      expect(said).toContain(why);
    }
  });

  it('is one generation for readers, and repeated by its key', async () => {
    const session = await twice();
    const idempotency = { key: 'once', fingerprint: 'same' };
    const keyed = session.as({ idempotency });
    const first = await merge(keyed, 'robert', 'bob');
    const again = await merge(keyed, 'robert', 'bob');
    expect(again).toMatchObject({ generation: first.generation, facts: first.facts, joined: first.joined });
    expect(again.consequencesComplete).toBe(false);
  });

  it('leaves other tenants alone', async () => {
    const session = await twice();
    const other = session.as({ tenant: 'other' });
    await other.tell('parent(robert, dora)');
    await merge(session, 'robert', 'bob');
    expect(await facts(other)).toEqual([':parent(robert, dora)']);
    expect((await page(other, 'robert')).entity).toBe('robert');
  });
});
