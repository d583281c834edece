import { expect, test } from 'vitest';
import type { Searched } from '../../engine/contract/search.ts';
import { ApiError } from './problem.ts';
import { nothingTyped, SearchAsTyped, type TypedSearch, typingPauseMs } from './search-as-typed.ts';

interface Asked {
  readonly text: string;
  readonly part: number;
  readonly signal: AbortSignal;
  answer(...atoms: string[]): Promise<void>;
  fail(error: unknown): Promise<void>;
}

function answerOf(atoms: readonly string[]): Searched {
  const hits = atoms.map((atom) => ({
    kind: 'fact' as const,
    atom,
    id: atom,
    score: 1,
    why: [],
    scope: null,
    salience: 1,
  }));
  return { hits, mentions: [], matched: hits.length > 0, elapsedMs: 1 };
}

/** A search with a clock of the test's own, whose questions the test answers in any order. */
function harness(parts = 1) {
  const asked: Asked[] = [];
  const states: TypedSearch[] = [];
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const search = new SearchAsTyped({
    parts,
    ask: (text, part, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
        asked.push({
          text,
          part,
          signal,
          answer: async (...atoms) => {
            resolve(answerOf(atoms));
            await Promise.resolve();
          },
          fail: async (error) => {
            reject(error);
            await Promise.resolve();
          },
        });
      }),
    publish: (state) => states.push(state),
    wait(ms, then) {
      const timer = { at: now + ms, run: then };
      timers.push(timer);
      return () => (timers = timers.filter((each) => each !== timer));
    },
  });
  return {
    search,
    asked,
    shown: () => states.at(-1) ?? nothingTyped,
    states,
    pass(ms: number): void {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { run } of due) run();
    },
  };
}

const atoms = ({ hits }: TypedSearch) => hits.map(({ atom }) => atom);

test('one question is asked after a pause, for the last text', async () => {
  const { search, asked, pass, shown } = harness();
  search.type('c');
  pass(typingPauseMs - 1);
  search.type('ca');
  pass(typingPauseMs - 1);
  search.type('carol ');
  expect(asked).toEqual([]);
  expect(shown()).toMatchObject({ isSearching: true, hits: [] });
  pass(typingPauseMs);
  expect(asked.map(({ text }) => text)).toEqual(['carol']);
  await asked[0]?.answer('likes(carol)');
  expect(shown()).toMatchObject({ isSearching: false, failure: null });
  expect(atoms(shown())).toEqual(['likes(carol)']);
});

test('white space at the ends changes nothing', () => {
  const { search, asked, pass, states } = harness();
  search.type('carol');
  pass(typingPauseMs);
  const before = states.length;
  search.type(' carol ');
  pass(typingPauseMs);
  expect(asked).toHaveLength(1);
  expect(states).toHaveLength(before);
});

test('a question of an earlier text is cancelled and never shown, even if it answers last', async () => {
  const { search, asked, pass, shown } = harness();
  search.type('ann');
  pass(typingPauseMs);
  search.type('anna');
  expect(asked[0]?.signal.aborted).toBe(true);
  pass(typingPauseMs);
  await asked[1]?.answer('p(anna)');
  await asked[0]?.answer('p(ann)');
  expect(atoms(shown())).toEqual(['p(anna)']);
  expect(shown().isSearching).toBe(false);
});

test('what was found stays until there is an answer to the new text', async () => {
  const { search, asked, pass, shown } = harness();
  search.type('ann');
  pass(typingPauseMs);
  await asked[0]?.answer('p(ann)');
  search.type('anna');
  expect(shown().isSearching).toBe(true);
  expect(atoms(shown())).toEqual(['p(ann)']);
  pass(typingPauseMs);
  await asked[1]?.answer();
  expect(shown()).toEqual(nothingTyped);
});

test('parts show as they arrive, in their own order', async () => {
  const { search, asked, pass, shown } = harness(2);
  search.type('ann');
  pass(typingPauseMs);
  await asked[1]?.answer('slow(ann)');
  expect(atoms(shown())).toEqual(['slow(ann)']);
  expect(shown().isSearching).toBe(true);
  await asked[0]?.answer('fast(ann)');
  expect(atoms(shown())).toEqual(['fast(ann)', 'slow(ann)']);
  expect(shown().isSearching).toBe(false);
});

test('a part that fails is reported beside the others, and can be asked again', async () => {
  const { search, asked, pass, shown } = harness(2);
  search.type('ann');
  pass(typingPauseMs);
  await asked[0]?.answer('p(ann)');
  await asked[1]?.fail(
    new ApiError({
      code: 'InferenceLimitExceeded',
      status: 422,
      title: 'Limit',
      detail: 'It took too long',
      requestId: 'r',
      errors: [],
    }),
  );
  expect(atoms(shown())).toEqual(['p(ann)']);
  expect(shown()).toMatchObject({ isSearching: false, failure: { code: 'InferenceLimitExceeded' } });
  search.again();
  expect(asked).toHaveLength(4);
  await asked[2]?.answer('p(ann)');
  await asked[3]?.answer('q(ann)');
  expect(shown().failure).toBeNull();
  expect(atoms(shown())).toEqual(['p(ann)', 'q(ann)']);
});

test('an empty text clears everything at once, and nothing arrives after stop', async () => {
  const { search, asked, pass, shown, states } = harness();
  search.type('ann');
  pass(typingPauseMs);
  await asked[0]?.answer('p(ann)');
  search.type('  ');
  expect(shown()).toEqual(nothingTyped);
  search.again();
  expect(asked).toHaveLength(1);
  search.type('bob');
  search.stop();
  const count = states.length;
  pass(typingPauseMs);
  expect(asked).toHaveLength(1);
  expect(states).toHaveLength(count);
});
