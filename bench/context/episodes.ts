/** Whether a search finds the turns that answer a question: the share of them among the first 5, 10 and 20. */
import type { Engine } from '../../src/engine/index.ts';
import { searchInputSchema } from '../../src/engine/contract/search.ts';
import { table } from '../report.ts';
import type { Episodes } from './conversations.ts';
import { questionKinds } from './dialogue-topics.ts';
import { callerOf, candidatesOf, rendered, remembering, windowByQuery } from './judge.ts';
import { type Retriever, retrievers } from './retrievers.ts';

const tops = [5, 10, 20] as const;

/** A way from a question to rendered facts, best first. */
type Find = (question: string) => Promise<readonly string[]> | readonly string[];

/** The table of one set of conversations: rows are ways to find, columns kinds of questions and the mean of all. */
export async function episodesTable(episodes: Episodes): Promise<string> {
  const engine = await remembering(episodes.facts);
  const candidates = await candidatesOf(engine);
  const most = Math.max(...tops);
  const peer = ({ name, prepare }: Retriever): [string, Find] => {
    const ranking = prepare(candidates);
    return [name, (question) => ranking(question, most).map((fact) => fact.rendered)];
  };
  const ways: [string, Find][] = [
    ['Corollary: search', (question) => searched(engine, question, most)],
    [
      'Corollary: window',
      async (question) => (await windowByQuery(engine, question, { maxFacts: most })).map(rendered),
    ],
    ...retrievers.map(peer),
  ];
  const rows: string[][] = [];
  for (const [name, find] of ways) {
    const shares = await sharesOf(episodes, find);
    for (const [at, top] of tops.entries())
      rows.push([`${name}, top ${top}`, ...shares.map((each) => percent(each[at] as number))]);
  }
  await engine.close(0);
  const { length } = episodes.questions;
  const header = [
    `${episodes.name}: ${episodes.facts.length} turns, ${length} questions`,
    ...questionKinds,
    'mean',
  ];
  return table(header, rows);
}

async function searched(engine: Engine, text: string, limit: number): Promise<string[]> {
  const { hits } = await engine.search(
    callerOf('default'),
    searchInputSchema.parse({ text, limit, kinds: ['fact'] }),
  );
  return hits.flatMap(({ atom }) => atom ?? []);
}

/** By kind of question, then the mean over kinds: the share of answers among the first of each size. */
async function sharesOf({ questions }: Episodes, find: Find): Promise<number[][]> {
  const ofKinds = new Map(questionKinds.map((kind) => [kind, [] as number[][]]));
  for (const { kind, text, answers } of questions) {
    const found = await find(text);
    const gold = answers.map(rendered);
    const shares = tops.map((top) => {
      const first = new Set(found.slice(0, top));
      return gold.filter((turn) => first.has(turn)).length / gold.length;
    });
    ofKinds.get(kind)?.push(shares);
  }
  const mean = (rows: readonly number[][]): number[] =>
    tops.map((_, at) => rows.reduce((sum, row) => sum + (row[at] as number), 0) / Math.max(1, rows.length));
  const byKind = questionKinds.map((kind) => mean(ofKinds.get(kind) ?? []));
  return [...byKind, mean(byKind)];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`;
}
