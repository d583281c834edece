/** A question in plain words: the goals that it becomes, and what else has its words. */
import { useCallback } from 'react';
import type { ContextWindow } from '../../../engine/contract/context.ts';
import type { Mention } from '../../../engine/contract/mention.ts';
import type { SearchHit } from '../../../engine/contract/search.ts';
import { noteGeneration } from '../../api/live.ts';
import { noteAsked } from '../../api/questions.ts';
import { useSession } from '../../api/session.tsx';
import { scopeFieldsOf } from '../../api/space.ts';
import { type Run, useRunAtOnce } from '../../api/use-run.ts';

/** What plain words became. */
export interface WordsAnswer {
  readonly text: string;
  readonly mentions: readonly Mention[];
  readonly goals: ContextWindow['goals'];
  /** Goals that were not worked out or not kept. */
  readonly goalsLeftOut: number;
  /** Facts and rules that have the words, best first. */
  readonly hits: readonly SearchHit[];
  readonly generation: number;
  readonly elapsedMs: number;
}

/** Room in which nearly every goal of a question is proved, in facts. */
const maxFacts = 1_000;
const maxHits = 12;
/** Time limit, in milliseconds. */
const timeoutMs = 30_000;

/** Runs plain words at once; null: none. */
export function useWords(text: string | null): Run<WordsAnswer> & { again(): void } {
  const { call, space, moment } = useSession();
  const work = useCallback(
    async (signal: AbortSignal): Promise<WordsAnswer> => {
      const wanted = text ?? '';
      const scope = scopeFieldsOf(space.scope);
      const since = performance.now();
      const [window, found] = await Promise.all([
        call('optimizeContext', { body: { query: wanted, maxFacts, timeoutMs, ...scope } }, { signal }),
        call(
          'search',
          { body: { text: wanted, limit: maxHits, kinds: ['fact', 'rule'], ...scope } },
          { signal },
        ),
      ]);
      const { goals, goalsLeftOut = 0, mentions = [], knowledgeGeneration: generation } = window;
      noteGeneration(generation, moment);
      const answers = goals.reduce((sum, goal) => sum + goal.answers.found, 0);
      noteAsked(space, wanted, answers);
      const elapsedMs = performance.now() - since;
      return { text: wanted, mentions, goals, goalsLeftOut, hits: found.hits, generation, elapsedMs };
    },
    [call, space, moment, text],
  );
  return useRunAtOnce(text === null ? null : work);
}
