/**
 * `npm run bench -- context`: whether a window contains what an answer needs.
 *
 * For true goals in generated knowledge: can the goal be derived from the facts of the window alone (and the rules)?
 * How much of its proof's premises is included, in how many characters, selected in what time? In comparison with other
 * ways of selecting as many facts. Only the stored facts in our window count, not its conclusions.
 *
 * Then with the text of a question in place of the goal: windows over kinship stories, and the search of conversations,
 * each beside BM25, recency, salience, two hops, personalised PageRank, shortest paths and the fusion of these. Last the
 * times of searches of many facts.
 */
import { parseArgs } from 'node:util';
import { assert, type Engine } from '../../src/engine/index.ts';
import { median } from '../contestants/contestant.ts';
import { figure, table } from '../report.ts';
import { colleaguesTalk, friendsTalk } from './conversations.ts';
import { episodesTable } from './episodes.ts';
import { callerOf, candidatesOf, type Case, casesOf, Judge, knowing, rendered } from './judge.ts';
import { distractors, kinship, type Knowledge, organisation, type StoredAtom } from './knowledge.ts';
import { largeSearchTable } from './large-search.ts';
import { storiesTable } from './question-windows.ts';
import { selections } from './selections.ts';
import { stories } from './stories.ts';

const help = `npm run bench -- context [options]
  --parts A,B           some of goals, stories, episodes, searches (all of them)
  --distractors A,B     how many facts that do not matter (0,100,1000,10000)
  --budgets A,B         how many facts a window holds (10,25,50)
  --goals N             goals for each kind of knowledge (40)
  --large N             then windows over so many facts, timed only (100000); 0: none
  --facts N             facts that are searched for the times of a search (1000000)
  --help`;

interface Figures {
  readonly name: string;
  /** Of the goals whose proof fits, by goal. */
  readonly complete: boolean[];
  readonly recall: number[];
  readonly characters: number[];
  readonly ms: number[];
}

type Choose = (goal: StoredAtom, budget: number) => Promise<readonly StoredAtom[]> | readonly StoredAtom[];

const ours = 'Corollary';

async function window(
  engine: Engine,
  { predicate, args }: StoredAtom,
  maxFacts: number,
): Promise<StoredAtom[]> {
  const { entries } = await engine.optimizeContext(callerOf('default'), {
    maxFacts,
    maxChars: null,
    maxTokens: null,
    goals: [{ predicate, args: [...args], negated: false }],
    query: null,
    fill: false,
    proofs: 'auto',
    relevanceBuckets: null,
    scope: null,
    unscoped: false,
    predicates: null,
    sessionId: null,
    autoResolveContradictions: true,
    maxFactsPerPredicate: null,
    includeInferred: false,
    explainOmitted: false,
    format: 'json',
    timeoutMs: 60_000,
  });
  return entries.filter(({ provenance }) => provenance === null);
}

async function measure(
  figures: Figures,
  choose: Choose,
  cases: readonly Case[],
  budget: number,
  judge: Judge,
): Promise<void> {
  for (const { goal, proofAtoms, gold } of cases) {
    const startedAt = performance.now();
    const chosen = await choose(goal, budget);
    figures.ms.push(performance.now() - startedAt);
    assert(chosen.length <= budget, 'a selection exceeds the budget');
    const texts = chosen.map(rendered);
    figures.characters.push(texts.reduce((sum, text) => sum + text.length, 0));
    const held = new Set(texts);
    figures.recall.push([...gold].filter((fact) => held.has(fact)).length / gold.size);
    if (proofAtoms <= budget) figures.complete.push(await judge.derives(goal, chosen));
  }
}

function newFigures(name: string): Figures {
  return { name, complete: [], recall: [], characters: [], ms: [] };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const percent = (share: number): string => `${(share * 100).toFixed(0)}%`;

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function rowOf(label: string, { name, complete, recall, characters, ms }: Figures): string[] {
  const share = percent(mean(complete.map(Number)));
  const times = `${figure(median(ms))} / ${figure(percentile(ms, 0.95))}`;
  return [label, name, share, percent(mean(recall)), mean(characters).toFixed(0), times];
}

async function rowsFor(
  worlds: readonly Knowledge[],
  count: number,
  budgets: readonly number[],
  goals: number,
): Promise<string[][]> {
  const names = [ours, ...selections.map(({ name }) => name)];
  const byBudget = budgets.map((budget) => ({ budget, fit: 0, all: 0, figures: names.map(newFigures) }));
  for (const [seed, knowledge] of worlds.entries()) {
    const facts = [...knowledge.facts, ...distractors(knowledge, count, seed + 1)];
    const engine = await knowing(knowledge, facts, seed + 1);
    // A question here counts as a use of facts: the engine that selects must not have seen it.
    const reference = await knowing(knowledge, facts, seed + 1);
    const cases = await casesOf(reference, knowledge, goals, seed + 1);
    await reference.close(0);
    const judge = await Judge.of(knowledge);
    const candidates = await candidatesOf(engine);
    assert(candidates.length === facts.length, 'not every fact can be selected');
    const choices: Choose[] = [
      (goal, budget) => window(engine, goal, budget),
      ...selections.map((selection) => selection.prepare(candidates)),
    ];
    for (const measured of byBudget) {
      measured.fit += cases.filter(({ proofAtoms }) => proofAtoms <= measured.budget).length;
      measured.all += cases.length;
      for (const [at, choose] of choices.entries())
        await measure(measured.figures[at] as Figures, choose, cases, measured.budget, judge);
    }
    await judge.close();
    await engine.close(0);
  }
  return byBudget.flatMap(({ budget, fit, all, figures }) =>
    figures.map((each) => rowOf(`${count}, ${budget} (${fit} of ${all})`, each)),
  );
}

async function large(count: number, goals: number): Promise<string> {
  const knowledge = kinship(1);
  const facts = [...knowledge.facts, ...distractors(knowledge, count - knowledge.facts.length, 1)];
  const engine = await knowing(knowledge, facts, 1);
  const cases = await casesOf(engine, knowledge, goals, 1);
  const ms: number[] = [];
  for (let round = 0; round < 3; round++)
    for (const { goal } of cases) {
      const startedAt = performance.now();
      await window(engine, goal, 50);
      ms.push(performance.now() - startedAt);
    }
  await engine.close(0);
  const times = [median(ms), percentile(ms, 0.95), Math.max(...ms)].map((value) => figure(value));
  return `A window of 50 over ${facts.length} facts, ${ms.length} of them, ms: median ${times[0]}, p95 ${times[1]}, most ${times[2]}`;
}

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'goals,stories,episodes,searches' },
    facts: { type: 'string', default: '1000000' },
    distractors: { type: 'string', default: '0,100,1000,10000' },
    budgets: { type: 'string', default: '10,25,50' },
    goals: { type: 'string', default: '40' },
    large: { type: 'string', default: '100000' },
    help: { type: 'boolean', default: false },
  },
});

function numbers(text: string): number[] {
  const parts = text.split(',').map(Number);
  assert(
    parts.every((part) => Number.isInteger(part) && part >= 0),
    'the options take whole numbers',
  );
  return parts;
}

async function goalTables(): Promise<void> {
  const worlds = [kinship(1), organisation(2)];
  const goals = numbers(values.goals)[0] ?? 40;
  const rows: string[][] = [];
  for (const count of numbers(values.distractors))
    rows.push(...(await rowsFor(worlds, count, numbers(values.budgets), goals)));
  const header = [
    'distractors, budget (proofs that fit)',
    'choice',
    'complete',
    'recall',
    'characters',
    'ms median / p95',
  ];
  console.log(table(header, rows));
  for (const count of numbers(values.large)) if (count > 0) console.log(`\n${await large(count, goals)}`);
}

async function storyTables(): Promise<void> {
  for (const [seed, names] of (['no shared words', 'shared words'] as const).entries())
    console.log(`\n${await storiesTable(stories(names, 50, 10_000, seed + 1))}`);
}

async function episodeTables(): Promise<void> {
  for (const talk of [friendsTalk(1), colleaguesTalk(2)]) console.log(`\n${await episodesTable(talk)}`);
}

const parts = new Map([
  ['goals', goalTables],
  ['stories', storyTables],
  ['episodes', episodeTables],
  ['searches', async () => console.log(`\n${await largeSearchTable(numbers(values.facts)[0] ?? 1_000_000)}`)],
]);

if (values.help) console.log(help);
else
  for (const name of values.parts.split(',')) {
    const part = parts.get(name);
    assert(part !== undefined, `there is no part ${name}`);
    await part();
  }
