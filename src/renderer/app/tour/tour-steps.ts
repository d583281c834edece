/**
 * The five steps of the tour: task, view, controls and completion check; its start, and the removal of its knowledge.
 *
 * The service decides when a step is done, from stored knowledge and the answers on screen, not from the user's
 * actions; any way to do it counts.
 */
import type {
  OperationName,
  OperationOutput,
  OperationRequest,
} from '../../../engine/contract/operations.ts';
import { parseAtom, parseBody } from '../../../engine/language/parse.ts';
import { readPatterns } from '../../api/question-text.ts';
import type { WorkbenchSession } from '../../api/session.tsx';
import type { ControlName } from './controls.ts';
import { type Before, resumeTour, setProgress, useTour } from './tour-store.ts';

/** Ids of the steps. */
export type StepId = 'assert' | 'teach' | 'ask' | 'why' | 'window';

/** Performs an operation in the space of the tour. */
export type Call = <Name extends OperationName>(
  name: Name,
  request: OperationRequest<Name>,
) => Promise<OperationOutput<Name>>;

/** The current page, by its address. */
export interface ShownPage {
  readonly path: string;
  readonly search: Readonly<Record<string, unknown>>;
}

/** One step of the tour. */
export interface TourStep {
  readonly id: StepId;
  readonly title: string;
  /** Why the step matters. */
  readonly purpose: string;
  /** Instructions, in order. */
  readonly doings: readonly string[];
  /** Text to type. */
  readonly text: string;
  readonly path: '/facts' | '/rules' | '/ask' | '/context';
  readonly tool: string;
  /** The controls in order of use; the tour points at the last one on screen. */
  readonly controls: readonly ControlName[];
  /** The result of the step. */
  readonly outcome: string;
  readonly isDone: (call: Call, shown: ShownPage) => Promise<boolean>;
}

/** Facts that the tour asserts. */
const tourFacts = [
  { predicate: 'parent', args: ['alice', 'bob'] },
  { predicate: 'parent', args: ['bob', 'carol'] },
] as const;
/** Conclusion that the tour explains. */
const tourConclusion = { predicate: 'grandparent', args: ['alice', 'carol'] } as const;

/** Rule that the tour teaches. */
const tourRule = 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).';
const question = 'grandparent(alice, ?who)';

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns what `read` makes of a typed text; null if it throws, since the view reports that itself. */
function readable<Read>(read: () => Read): Read | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return null;
  }
}

/** Returns true if the fact is stored. */
async function isStored(call: Call, fact: (typeof tourFacts)[number]): Promise<boolean> {
  const body = { predicate: fact.predicate, args: [...fact.args], truthVal: true };
  return (await call('query', { body })).length > 0;
}

async function areStored(call: Call): Promise<boolean> {
  for (const fact of tourFacts) if (!(await isStored(call, fact))) return false;
  return true;
}

async function isTaught(call: Call): Promise<boolean> {
  const { rules } = await call('listRules', { query: {} });
  if (!rules.some(({ head, enabled }) => enabled && head.predicate === tourConclusion.predicate))
    return false;
  const { predicate, args } = tourConclusion;
  return (await call('ask', { body: { predicate, args: [...args] } })).count > 0;
}

async function isAsked(call: Call, { path, search }: ShownPage): Promise<boolean> {
  const text = textOf(search['question']);
  if (path !== '/ask' || search['stored'] === 'true') return false;
  const body = readable(() => parseBody(text));
  const isAboutIt = body?.some((part) => 'predicate' in part && part.predicate === tourConclusion.predicate);
  return isAboutIt === true && (await call('ask', { body: { text } })).count > 0;
}

async function isExplained(call: Call, { path, search }: ShownPage): Promise<boolean> {
  const text = path === '/ask' ? textOf(search['why']) : path === '/proof' ? textOf(search['question']) : '';
  const atom = text === '' ? null : readable(() => parseAtom(text, 'goal'));
  if (atom === null || atom.predicate !== tourConclusion.predicate) return false;
  const { predicate, args, negated } = atom;
  const explained = await call('explain', { body: { predicate, args: [...args], negated, mode: 'why' } });
  return explained.holds && 'proof' in explained && explained.proof.steps.some(({ kind }) => kind === 'rule');
}

async function isChosen(call: Call, { path, search }: ShownPage): Promise<boolean> {
  const { patterns, problems } = readPatterns(path === '/context' ? textOf(search['goals']) : '');
  if (problems.length > 0 || !patterns.some(({ predicate }) => predicate === tourConclusion.predicate))
    return false;
  const goals = patterns.map(({ predicate, args, negated }) => ({ predicate, args: [...args], negated }));
  const { entries = [] } = await call('optimizeContext', { body: { goals } });
  return tourFacts.every((fact) =>
    entries.some(
      ({ predicate, args }) => predicate === fact.predicate && args.join('\n') === fact.args.join('\n'),
    ),
  );
}

/** The steps, in order. */
export const tourSteps: readonly TourStep[] = [
  {
    id: 'assert',
    title: 'Assert two facts',
    purpose: 'A fact is a predicate with its arguments. It is stored durably before you are told so.',
    doings: ['Choose Add facts.', 'Type these two statements.', 'Choose Assert 2 facts.'],
    text: 'parent(alice, bob).\nparent(bob, carol).',
    path: '/facts',
    tool: 'Facts',
    controls: [
      { role: 'button', name: 'Add facts' },
      { role: 'textbox', name: 'Facts as statements' },
      { role: 'button', name: 'Assert 2 facts' },
    ],
    outcome: 'Both facts are stored.',
    isDone: areStored,
  },
  {
    id: 'teach',
    title: 'Teach a rule',
    purpose: 'A rule says what follows. Variables start with a question mark; a comma means “and”.',
    doings: ['Type this rule into the editor.', 'Choose Teach.'],
    text: tourRule,
    path: '/rules',
    tool: 'Rules',
    controls: [
      { role: 'textbox', name: 'New rules and facts' },
      { role: 'button', name: 'Teach' },
    ],
    outcome: 'The rule is known, and grandparent(alice, carol) follows from it.',
    isDone: isTaught,
  },
  {
    id: 'ask',
    title: 'Ask a question',
    purpose: 'Nobody stored who is a grandparent. It is worked out when you ask.',
    doings: ['Type this question.', 'Choose Ask.'],
    text: question,
    path: '/ask',
    tool: 'Ask',
    controls: [
      { role: 'textbox', name: 'Question' },
      { role: 'button', name: 'Ask' },
    ],
    outcome: 'The answer was derived: ?who = carol.',
    isDone: isAsked,
  },
  {
    id: 'why',
    title: 'See why',
    purpose: 'Every answer has its proof: the rule, and the facts that it rests on.',
    doings: ['Ask again, if the answer is not on screen.', 'Choose Why beside the answer.'],
    text: question,
    path: '/ask',
    tool: 'Ask',
    controls: [
      { role: 'button', name: 'Ask' },
      { role: 'button', name: 'Why grandparent(alice, carol)' },
    ],
    outcome: 'The proof is open: one rule, two facts.',
    isDone: isExplained,
  },
  {
    id: 'window',
    title: 'Choose what an agent reads',
    purpose: 'A context window holds what matters for a goal, within a budget: whole proofs first.',
    doings: ['Type this goal.', 'Look at the window beside the form.'],
    text: question,
    path: '/context',
    tool: 'Context',
    controls: [{ role: 'textbox', name: 'Goals' }],
    outcome: 'The window holds both facts that the goal rests on.',
    isDone: isChosen,
  },
];

async function ruleIds(call: Call): Promise<string[]> {
  const { rules } = await call('listRules', { query: {} });
  return rules
    .filter(({ text }) => text.replace(/\.$/, '') === tourRule.replace(/\.$/, ''))
    .map(({ id }) => id);
}

/** Returns the part of the tour's knowledge that exists. */
async function knownOfTour(call: Call): Promise<Before> {
  const facts: number[] = [];
  for (const [index, fact] of tourFacts.entries()) if (await isStored(call, fact)) facts.push(index);
  return { facts, rules: await ruleIds(call) };
}

/** Resumes the tour, or starts it in the session's space. Throws the calls' errors. */
export async function takeTour({ call, space: { database, tenant } }: WorkbenchSession): Promise<void> {
  const { progress } = useTour.getState();
  if (progress !== null && progress.database === database && progress.tenant === tenant) {
    resumeTour();
    return;
  }
  setProgress({ isOpen: true, step: 0, database, tenant, before: await knownOfTour(call) });
}

/** Retracts the facts and deletes the rules that did not exist before the tour. */
export async function removeTourKnowledge(call: Call, before: Before): Promise<void> {
  const now = await knownOfTour(call);
  for (const id of now.rules)
    if (!before.rules.includes(id)) await call('deleteRule', { params: { id }, query: {} });
  for (const index of now.facts) {
    const fact = tourFacts[index];
    if (fact !== undefined && !before.facts.includes(index))
      await call('retract', {
        body: { predicate: fact.predicate, args: [...fact.args], truthVal: true },
      });
  }
}
