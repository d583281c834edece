/** Whether a window by the text of a question has all premises of the right answer, within a budget. */
import { type Engine, renderAtom } from '../../src/engine/index.ts';
import { table } from '../report.ts';
import { candidatesOf, Judge, rendered, remembering, windowByQuery } from './judge.ts';
import type { StoredAtom } from './knowledge.ts';
import { type Retriever, retrievers } from './retrievers.ts';
import type { Stories } from './stories.ts';

interface Budget {
  readonly maxFacts?: number;
  readonly maxChars?: number;
}

const budgets: readonly Budget[] = [
  { maxFacts: 20 },
  { maxFacts: 50 },
  { maxFacts: 100 },
  { maxChars: 500 },
  { maxChars: 1000 },
  { maxChars: 2000 },
];

/** Facts for a question within a budget, best first. */
type Choose = (question: string, budget: Budget) => Promise<readonly StoredAtom[]> | readonly StoredAtom[];

/** The table of some stories: rows are ways to choose, columns budgets. */
export async function storiesTable(told: Stories): Promise<string> {
  const engine = await remembering(told.facts, told.rules);
  const candidates = await candidatesOf(engine);
  const judge = await Judge.of({ ...told, goals: [] });
  const peer = ({ name, prepare }: Retriever): [string, Choose] => {
    const ranking = prepare(candidates);
    return [name, (question, budget) => within(ranking(question, budget.maxFacts ?? most), budget)];
  };
  const ways: [string, Choose][] = [['Corollary', ours(engine)], ...retrievers.map(peer)];
  const rows: string[][] = [];
  for (const [name, choose] of ways) rows.push([name, ...(await sharesOf(told, choose, judge))]);
  await judge.close();
  await engine.close(0);
  const title = `${told.name}: ${told.questions.length} questions, ${told.facts.length} facts`;
  return table([title, ...budgets.map(nameOf)], rows);
}

/** More facts than a budget of characters has room for. */
const most = 200;

function ours(engine: Engine): Choose {
  return (question, budget) => windowByQuery(engine, question, budget);
}

/** The facts for which there is room, in their order; what does not fit is passed over. */
function within(facts: readonly StoredAtom[], { maxFacts = most, maxChars }: Budget): StoredAtom[] {
  let left = maxChars ?? Number.POSITIVE_INFINITY;
  const chosen: StoredAtom[] = [];
  for (const fact of facts) {
    const { length } = rendered(fact);
    if (length > left || chosen.length === maxFacts) continue;
    left -= length;
    chosen.push(fact);
  }
  return chosen;
}

async function sharesOf({ questions }: Stories, choose: Choose, judge: Judge): Promise<string[]> {
  const shares: string[] = [];
  for (const budget of budgets) {
    let whole = 0;
    for (const { text, goal } of questions) {
      const chosen = await choose(text, budget);
      const isWhole = await judge.derives(goal, chosen);
      if (isWhole) whole++;
      else if (process.env['DEBUG']) console.log(text, renderAtom({...goal,args:[...goal.args],negated:false}), chosen.length);
    }
    shares.push(`${((whole / questions.length) * 100).toFixed(0)}%`);
  }
  return shares;
}

function nameOf({ maxFacts, maxChars }: Budget): string {
  return maxChars === undefined ? `${maxFacts} facts` : `${maxChars} characters`;
}
