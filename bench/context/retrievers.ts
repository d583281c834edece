/**
 * What a search is compared with: other ways from the text of a question to facts, each in its usual form and over the
 * same facts. All cut, fold and stem words as our search does, and leave out the same function words.
 */
import { foldedName, isStopWord, stemOf, termsOf, wordsOf } from '../../src/engine/search/words.ts';
import { type Candidate, mostSalient, newest } from './selections.ts';

/** Ranks facts for a question. */
type Ranking = (question: string, count: number) => readonly Candidate[];

export interface Retriever {
  readonly name: string;
  /** Work that does not depend on the question is done once, before timing. */
  prepare(candidates: readonly Candidate[]): Ranking;
}

/** The terms of a question. */
function termsOfQuestion(question: string): Set<string> {
  const words = wordsOf(question).map(({ text }) => text);
  const telling = words.filter((word) => !isStopWord(word));
  return new Set((telling.length > 0 ? telling : words).map(stemOf));
}

function ranked(
  scores: ReadonlyMap<number, number>,
  candidates: readonly Candidate[],
  count: number,
): Candidate[] {
  return [...scores]
    .sort(([left, a], [right, b]) => b - a || left - right)
    .slice(0, count)
    .map(([at]) => candidates[at] as Candidate);
}

/** Okapi BM25 with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza 2009); a document is the rendered atom. */
const bm25OfText: Retriever = {
  name: 'BM25',
  prepare: (candidates) => {
    const k1 = 1.2;
    const b = 0.75;
    const postings = new Map<string, Map<number, number>>();
    const lengths = candidates.map(({ rendered }, at) => {
      const terms = termsOf(rendered);
      for (const term of terms) {
        let posting = postings.get(term);
        if (posting === undefined) postings.set(term, (posting = new Map()));
        posting.set(at, (posting.get(at) ?? 0) + 1);
      }
      return terms.length;
    });
    const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
    return (question, count) => {
      const scores = new Map<number, number>();
      for (const term of termsOfQuestion(question)) {
        const posting = postings.get(term);
        if (posting === undefined) continue;
        const rarity = Math.log(1 + (candidates.length - posting.size + 0.5) / (posting.size + 0.5));
        for (const [at, times] of posting) {
          const norm = k1 * (1 - b + (b * (lengths[at] as number)) / meanLength);
          scores.set(at, (scores.get(at) ?? 0) + (rarity * times * (k1 + 1)) / (times + norm));
        }
      }
      return ranked(scores, candidates, count);
    };
  },
};

/** The facts of each constant, and the constants that a text names: longest names first, by folded letters. */
class FactGraph {
  readonly facts: readonly Candidate[];
  readonly ofConstant = new Map<string, number[]>();
  readonly #named = new Map<string, string[]>();

  constructor(candidates: readonly Candidate[]) {
    this.facts = candidates;
    for (const [at, { args }] of candidates.entries())
      for (const constant of new Set(args)) {
        const facts = this.ofConstant.get(constant);
        if (facts !== undefined) facts.push(at);
        else {
          this.ofConstant.set(constant, [at]);
          const name = foldedName(constant);
          this.#named.set(name, [...(this.#named.get(name) ?? []), constant]);
        }
      }
  }

  mentioned(question: string): string[] {
    const words = wordsOf(question);
    const found = new Set<string>();
    const isCovered = words.map(() => false);
    for (let length = Math.min(8, words.length); length > 0; length--)
      for (let first = 0; first + length <= words.length; first++) {
        const run = words.slice(first, first + length);
        if (isCovered.slice(first, first + length).includes(true)) continue;
        if (length === 1 && isStopWord(run[0]?.text ?? '')) continue;
        const constants = this.#named.get(run.map(({ text }) => text).join(''));
        if (constants === undefined) continue;
        for (const constant of constants) found.add(constant);
        isCovered.fill(true, first, first + length);
      }
    return [...found];
  }

  /** By constant, the number of facts from the nearest of these. */
  distances(from: readonly string[], most: number): Map<string, number> {
    const distances = new Map(from.map((constant) => [constant, 0]));
    let front = [...from];
    for (let distance = 1; front.length > 0 && distance <= most; distance++) {
      const next: string[] = [];
      for (const constant of front)
        for (const at of this.ofConstant.get(constant) ?? [])
          for (const other of this.facts[at]?.args ?? [])
            if (!distances.has(other)) {
              distances.set(other, distance);
              next.push(other);
            }
      front = next;
    }
    return distances;
  }
}

/** The facts of the constants that the question names, then those of their neighbours. */
const twoHops: Retriever = {
  name: 'two hops',
  prepare: (candidates) => {
    const graph = new FactGraph(candidates);
    return (question, count) => {
      const chosen = new Set<number>();
      const mentioned = graph.mentioned(question);
      for (const [constant] of graph.distances(mentioned, 1)) {
        for (const at of graph.ofConstant.get(constant) ?? []) chosen.add(at);
        if (chosen.size >= count) break;
      }
      return Array.from(chosen, (at) => candidates[at] as Candidate).slice(0, count);
    };
  },
};

/** Personalised PageRank (Page et al. 1999) over the whole graph, damping 0.85, 20 steps; a fact has its constants' mean. */
const personalisedPageRank: Retriever = {
  name: 'PageRank',
  prepare: (candidates) => {
    const graph = new FactGraph(candidates);
    return (question, count) => {
      const start = graph.mentioned(question);
      let mass = new Map(start.map((constant) => [constant, 1 / start.length]));
      for (let step = 0; step < 20; step++) {
        const next = new Map(start.map((constant) => [constant, 0.15 / start.length]));
        for (const [constant, own] of mass) {
          const facts = graph.ofConstant.get(constant) ?? [];
          for (const at of facts) {
            const { args } = candidates[at] as Candidate;
            const each = (0.85 * own) / facts.length / args.length;
            for (const other of args) next.set(other, (next.get(other) ?? 0) + each);
          }
        }
        mass = next;
      }
      const scores = new Map<number, number>();
      for (const constant of mass.keys())
        for (const at of graph.ofConstant.get(constant) ?? []) {
          const { args } = candidates[at] as Candidate;
          scores.set(at, args.reduce((sum, each) => sum + (mass.get(each) ?? 0), 0) / args.length);
        }
      return ranked(scores, candidates, count);
    };
  },
};

const longestPath = 12;

/** The facts on the shortest paths between every two constants that the question names, then two hops. */
const shortestPaths: Retriever = {
  name: 'shortest paths',
  prepare: (candidates) => {
    const graph = new FactGraph(candidates);
    const around = twoHops.prepare(candidates);
    return (question, count) => {
      const mentioned = graph.mentioned(question);
      const chosen = new Set<Candidate>();
      const distances = mentioned.map((constant) => graph.distances([constant], longestPath));
      for (let one = 0; one < mentioned.length; one++)
        for (let other = one + 1; other < mentioned.length; other++)
          for (const fact of onPaths(
            graph,
            mentioned[other] as string,
            distances[one] as Map<string, number>,
          ))
            chosen.add(fact);
      for (const fact of around(question, count)) chosen.add(fact);
      return [...chosen].slice(0, count);
    };
  },
};

/** The facts on all shortest paths from the constant to where the distance is 0. */
function* onPaths(
  graph: FactGraph,
  from: string,
  distances: ReadonlyMap<string, number>,
): Generator<Candidate> {
  if (!distances.has(from)) return;
  let front = new Set([from]);
  for (let left = distances.get(from) as number; left > 0; left--) {
    const next = new Set<string>();
    for (const constant of front)
      for (const at of graph.ofConstant.get(constant) ?? []) {
        const fact = graph.facts[at] as Candidate;
        const nearer = fact.args.filter((other) => distances.get(other) === left - 1);
        if (nearer.length > 0) yield fact;
        for (const other of nearer) next.add(other);
      }
    front = next;
  }
}

const noGoal = { predicate: '', args: [] };

function regardless({ name, prepare }: typeof newest): Retriever {
  return {
    name,
    prepare: (candidates) => {
      const select = prepare(candidates);
      return (_, count) => select(noGoal, count);
    },
  };
}

/** Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) of the best 200 of each. */
function fusionOf(retrievers: readonly Retriever[]): Retriever {
  return {
    name: 'fusion of these',
    prepare: (candidates) => {
      const rankings = retrievers.map((retriever) => retriever.prepare(candidates));
      return (question, count) => {
        const scores = new Map<Candidate, number>();
        for (const ranking of rankings)
          for (const [at, fact] of ranking(question, 200).entries())
            scores.set(fact, (scores.get(fact) ?? 0) + 1 / (61 + at));
        return [...scores]
          .sort(([, left], [, right]) => right - left)
          .slice(0, count)
          .map(([fact]) => fact);
      };
    },
  };
}

const single = [
  bm25OfText,
  regardless(newest),
  regardless(mostSalient),
  twoHops,
  personalisedPageRank,
  shortestPaths,
];

/** The ways that our search and our windows by query are compared with. */
export const retrievers: readonly Retriever[] = [...single, fusionOf(single)];
