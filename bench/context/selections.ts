/**
 * What a window is compared with: other ways of selecting facts for a question, each in its usual form.
 *
 * All select among the stored facts, without rules, as retrieval does. Their selections are judged with all rules.
 */
import { Prng } from '../../src/engine/testing/prng.ts';
import type { StoredAtom } from './knowledge.ts';

export interface Candidate extends StoredAtom {
  readonly rendered: string;
  readonly createdAt: number;
  readonly salience: number;
}

export interface Selection {
  readonly name: string;
  /** Work that does not depend on the question is done once, before timing. */
  prepare(candidates: readonly Candidate[]): (goal: StoredAtom, budget: number) => readonly Candidate[];
}

export const random: Selection = {
  name: 'random',
  prepare: (candidates) => {
    const prng = new Prng(1);
    return (_, budget) => {
      const chosen = new Set<Candidate>();
      while (chosen.size < Math.min(budget, candidates.length))
        chosen.add(candidates[prng.below(candidates.length)] as Candidate);
      return [...chosen];
    };
  },
};

function best(name: string, value: (candidate: Candidate) => number): Selection {
  return {
    name,
    prepare: (candidates) => {
      const sorted = [...candidates].sort((a, b) => value(b) - value(a));
      return (_, budget) => sorted.slice(0, budget);
    },
  };
}

export const newest = best('newest', ({ createdAt }) => createdAt);
export const mostSalient = best('most salient', ({ salience }) => salience);

/** Words of a rendered atom: names are whole words, since they are what is searched for. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/**
 * Okapi BM25 with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza 2009), over rendered atoms; the question is the
 * rendered goal. Documents that share no word with it come last, in the order of their assertion.
 */
export const bm25: Selection = {
  name: 'BM25',
  prepare: (candidates) => {
    const k1 = 1.2;
    const b = 0.75;
    const lengths = candidates.map(({ rendered }) => wordsOf(rendered).length);
    const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
    const postings = new Map<string, Map<number, number>>();
    for (const [at, { rendered }] of candidates.entries())
      for (const word of wordsOf(rendered)) {
        const posting = postings.get(word) ?? new Map<number, number>();
        posting.set(at, (posting.get(at) ?? 0) + 1);
        postings.set(word, posting);
      }
    return (goal, budget) => {
      const scores = new Float64Array(candidates.length);
      for (const word of new Set(wordsOf(`${goal.predicate} ${goal.args.join(' ')}`))) {
        const posting = postings.get(word);
        if (posting === undefined) continue;
        const rarity = Math.log(1 + (candidates.length - posting.size + 0.5) / (posting.size + 0.5));
        for (const [at, frequency] of posting) {
          const norm = k1 * (1 - b + (b * (lengths[at] as number)) / meanLength);
          scores[at] = (scores[at] as number) + (rarity * frequency * (k1 + 1)) / (frequency + norm);
        }
      }
      const order = Array.from(scores.keys()).sort((x, y) => (scores[y] as number) - (scores[x] as number));
      return order.slice(0, budget).map((at) => candidates[at] as Candidate);
    };
  },
};

/**
 * The method of graph memories: from the constants of the question outwards, nearest first, each step's facts as
 * stored.
 */
export const graphWalk: Selection = {
  name: 'graph walk',
  prepare: (candidates) => {
    const around = new Map<string, Candidate[]>();
    for (const candidate of candidates)
      for (const arg of new Set(candidate.args)) around.set(arg, [...(around.get(arg) ?? []), candidate]);
    return (goal, budget) => {
      const chosen = new Set<Candidate>();
      const seen = new Set(goal.args);
      let front: readonly string[] = goal.args;
      while (front.length > 0 && chosen.size < budget) {
        const next: string[] = [];
        for (const constant of front)
          for (const candidate of around.get(constant) ?? []) {
            if (chosen.size < budget) chosen.add(candidate);
            for (const arg of candidate.args)
              if (!seen.has(arg)) {
                seen.add(arg);
                next.push(arg);
              }
          }
        front = next;
      }
      return [...chosen];
    };
  },
};

export const selections: readonly Selection[] = [random, newest, mostSalient, bm25, graphWalk];
