/** Whether a window by the text of a question has all premises of the right answer, within a budget. */
import type { Engine } from '../../src/engine/index.ts';
import { table } from '../report.ts';
import { candidatesOf, rendered, remembering, windowByQuery } from './judge.ts';
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
  const peer = ({ name, prepare }: Retriever): [string, Choose] => {
    const ranking = prepare(candidates);
    const ranked = new Map<string, readonly StoredAtom[]>();
    return [
      name,
      (question, budget) => {
        const facts = ranked.get(question) ?? ranking(question, most);
        ranked.set(question, facts);
        return within(facts, budget);
      },
    ];
  };
  const ways: [string, Choose][] = [['Corollary', ours(engine)], ...retrievers.map(peer)];
  const rows: string[][] = [];
  for (const [name, choose] of ways) rows.push([name, ...(await sharesOf(told, choose))]);
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

async function sharesOf({ questions }: Stories, choose: Choose): Promise<string[]> {
  const shares: string[] = [];
  for (const budget of budgets) {
    let complete = 0;
    for (const { text, premises } of questions) {
      const chosen = new Set((await choose(text, budget)).map(rendered));
      if (premises.every((premise) => chosen.has(rendered(premise)))) complete++;
    }
    shares.push(`${((complete / questions.length) * 100).toFixed(0)}%`);
  }
  return shares;
}

function nameOf({ maxFacts, maxChars }: Budget): string {
  return maxChars === undefined ? `${maxFacts} facts` : `${maxChars} characters`;
}
