import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { optimizeInputSchema } from '../contract/context.ts';
import { searchInputSchema } from '../contract/search.ts';
import { factInput, type Fields, openSession, type Session } from '../testing/engine-fixtures.ts';
import type { Embedded, Embedder } from './meaning.ts';

/** Meaning: contract section 13. */

const topics = [
  ['pet', 'dog', 'cat', 'animal'],
  ['drink', 'coffee', 'tea', 'beverage'],
  ['city', 'town', 'paris'],
];

/** A model that knows three topics, and one thing that every text has. */
class TopicModel implements Embedder {
  readonly model: string;
  readonly asked: string[][] = [];
  answer: ((texts: readonly string[]) => Embedded) | null = null;

  constructor(model = 'topics') {
    this.model = model;
  }

  embed(texts: readonly string[]): Promise<Embedded> {
    this.asked.push([...texts]);
    return Promise.resolve(this.answer?.(texts) ?? { kind: 'vectors', vectors: texts.map(vectorOf) });
  }
}

function vectorOf(text: string): number[] {
  const words = text.toLowerCase().match(/\w+/g) ?? [];
  return [0.2, ...topics.map((topic) => words.filter((word) => topic.includes(word)).length)];
}

async function meaning(embedder: TopicModel, options: Fields = {}): Promise<Session> {
  return openSession({ embeddings: { embedder, minScore: 0.5 }, ...options });
}

async function embedded({ engine }: Session): Promise<void> {
  await vi.waitFor(() => expect(engine.embeddingsState()).toBe('ready'), { timeout: 60_000 });
}

function search({ engine, caller }: Session, text: string, fields: Fields = {}) {
  return engine.search(caller, searchInputSchema.parse({ text, ...fields }));
}

async function found(session: Session, text: string, fields?: Fields): Promise<string[]> {
  return (await search(session, text, fields)).hits.map(({ atom = '' }) => atom);
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'corollary-meaning-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

describe('facts that mean something similar', () => {
  it('are found without a word in common, with the cosine as the reason', async () => {
    const session = await meaning(new TopicModel());
    await session.tellAll(['keeps(ann, dog)', 'likes(bob, coffee)', 'lives_in(carol, paris)']);
    await embedded(session);
    const { hits, matched } = await search(session, 'which animal');
    expect(matched).toBe(true);
    expect(hits.map(({ atom, why }) => [atom, why.map(({ signal, rank }) => [signal, rank])])).toEqual([
      [
        'keeps(ann, dog)',
        [
          ['meaning', 1],
          ['salience', 1],
        ],
      ],
    ]);
    expect(hits[0]?.why[0]?.detail).toBe('1.000');
    expect(await found(session, 'a beverage')).toEqual(['likes(bob, coffee)']);
  });

  it('are those that the caller may see and asked for', async () => {
    const session = await meaning(new TopicModel());
    await session.tell('keeps(ann, dog)');
    await session.tell('keeps(bob, cat)', { scope: 'private' });
    await session.tell('owns(carol, dog)');
    await session.engine.tell({ ...session.caller, tenant: 'other' }, factInput('keeps(dave, cat)'));
    await embedded(session);
    expect((await found(session, 'animal')).toSorted()).toEqual([
      'keeps(ann, dog)',
      'keeps(bob, cat)',
      'owns(carol, dog)',
    ]);
    expect(await found(session, 'animal', { scope: 'private' })).toEqual(['keeps(bob, cat)']);
    expect(await found(session, 'animal', { predicates: ['owns'] })).toEqual(['owns(carol, dog)']);
  });

  it('are only those of the least cosine', async () => {
    const session = await meaning(new TopicModel());
    await session.tellAll(['keeps(ann, dog)', 'near(dog_tea, city_coffee_tea)']);
    await embedded(session);
    expect(await found(session, 'animal')).toEqual(['keeps(ann, dog)']);
  });

  it('come into windows', async () => {
    const session = await meaning(new TopicModel());
    await session.tellAll(['keeps(ann, dog)', 'likes(bob, coffee)']);
    await embedded(session);
    const input = optimizeInputSchema.parse({ query: 'which animal' });
    const { entries } = await session.engine.optimizeContext(session.caller, input);
    expect(entries).toMatchObject([{ predicate: 'keeps', args: ['ann', 'dog'] }]);
  });

  it('are found by their words until they are embedded', async () => {
    const model = new TopicModel();
    model.answer = () => ({ kind: 'failed', why: 'it sleeps', retryAfterMs: null });
    const session = await meaning(model);
    await session.tell('keeps(ann, dog)');
    await vi.waitFor(() => expect(session.engine.embeddingsState()).toBe('failed'));
    expect(await found(session, 'dog', { kinds: ['fact'] })).toEqual(['keeps(ann, dog)']);
    expect(await found(session, 'animal')).toEqual([]);
    model.answer = null;
    await embedded(session);
    expect(await found(session, 'animal')).toEqual(['keeps(ann, dog)']);
  });
});

describe('the background work', () => {
  it('embeds what says the same once, and a text that is refused never again', async () => {
    const model = new TopicModel();
    model.answer = (texts) =>
      texts.some((text) => text.includes('bad'))
        ? { kind: 'refused' }
        : { kind: 'vectors', vectors: texts.map(vectorOf) };
    const session = await meaning(model);
    await session.tellAll(['keeps(ann, dog)', 'keeps(bad, dog)', 'keeps(bob, cat)']);
    await session.tell('keeps(ann, dog)', { scope: 'copy' });
    await embedded(session);
    expect((await found(session, 'animal')).toSorted()).toEqual([
      'keeps(ann, dog)',
      'keeps(ann, dog)',
      'keeps(bob, cat)',
    ]);
    const asked = model.asked.flat().filter((text) => text.includes('ann'));
    expect(asked.length).toBeLessThanOrEqual(2);
    const calls = model.asked.length;
    await session.tell('keeps(carol, dog)');
    await embedded(session);
    expect(model.asked.slice(calls).flat()).toContain('keeps: carol, dog');
    expect(model.asked.slice(calls).flat()).not.toContain('keeps: bad, dog');
  });

  it('sends few texts at once, none of them too long', async () => {
    const model = new TopicModel();
    const session = await meaning(model);
    await session.tellAll(Array.from({ length: 100 }, (_, at) => `n(c${at})`));
    await session.tell(`said(ann, "${'dog '.repeat(10_000)}")`);
    await embedded(session);
    expect(Math.max(...model.asked.map((texts) => texts.length))).toBe(32);
    expect(Math.max(...model.asked.flat().map((text) => text.length))).toBe(8_000);
    expect(model.asked.flat().length).toBe(101);
  });
});

describe('the file of vectors', () => {
  it('spares the work after a restart, unless the model changes', async () => {
    const storageDir = await folder();
    const first = await meaning(new TopicModel(), { storageDir });
    await first.tellAll(Array.from({ length: 150 }, (_, at) => `keeps(ann${at}, dog)`));
    await embedded(first);
    await first.engine.close();
    const again = new TopicModel();
    const second = await meaning(again, { storageDir });
    await second.tell('keeps(new, cat)');
    await embedded(second);
    expect(again.asked.flat()).toEqual(['keeps: new, cat']);
    expect(await found(second, 'animal', { limit: 1_000 })).toHaveLength(151);
    await second.engine.close();
    const other = new TopicModel('other');
    const third = await meaning(other, { storageDir });
    await embedded(third);
    expect(other.asked.flat()).toHaveLength(151);
    expect(await found(third, 'animal', { limit: 1_000 })).toHaveLength(151);
  });

  it('is made again where the model has other dimensions than before', async () => {
    const model = new TopicModel();
    const session = await meaning(model);
    await session.tell('keeps(ann, dog)');
    await embedded(session);
    model.answer = (texts) => ({ kind: 'vectors', vectors: texts.map((text) => [...vectorOf(text), 0]) });
    await session.tell('keeps(bob, cat)');
    await embedded(session);
    expect((await found(session, 'any animal')).toSorted()).toEqual(['keeps(ann, dog)', 'keeps(bob, cat)']);
  });

  it('has no vector of a tenant that is gone', async () => {
    const storageDir = await folder();
    const session = await meaning(new TopicModel(), { storageDir });
    await session.tellAll(['keeps(ann, dog)', 'keeps(bob, cat)']);
    await embedded(session);
    await vi.waitFor(async () =>
      expect((await readFile(join(storageDir, 'vectors'))).includes(Buffer.from([25, 127, 0, 0]))).toBe(true),
    );
    await session.engine.nukeTenant(session.caller, 'default', session.caller.tenant);
    await session.engine.tell({ ...session.caller, tenant: 'other' }, factInput('likes(dave, tea)'));
    const hasPets = async (): Promise<boolean> =>
      (await readFile(join(storageDir, 'vectors'))).includes(Buffer.from([25, 127, 0, 0]));
    await vi.waitFor(async () => expect(await hasPets()).toBe(false), { timeout: 60_000 });
    await embedded(session);
    expect(session.engine.figures().embeddings.vectors).toBe(1);
  });

  it('has no vector of a forgotten entity, also while the provider fails', async () => {
    const storageDir = await folder();
    const model = new TopicModel();
    const session = await meaning(model, { storageDir });
    await session.tellAll(['keeps(ann, dog)', 'likes(bob, coffee)', 'likes(eve, coffee)']);
    await embedded(session);
    await found(session, 'what is it that ann keeps');
    model.answer = () => ({ kind: 'failed', why: 'it is away', retryAfterMs: 3_600_000 });
    await session.tell('likes(ann, tea)');
    await vi.waitFor(() => expect(session.engine.embeddingsState()).toBe('failed'));
    const { caller, engine } = session;
    const input = { database: caller.database, tenant: caller.tenant, entity: 'ann', dryRun: false };
    await engine.forgetEntity({ ...caller, requestId: 'forget' }, input);
    expect(engine.figures().embeddings.vectors).toBe(2);
    const bytes = await readFile(join(storageDir, 'vectors'));
    expect(bytes.includes(Buffer.from([25, 127, 0, 0]))).toBe(false);
    expect(bytes.includes(Buffer.from([25, 0, 127, 0]))).toBe(true);
    await engine.close();
  });
});
