/**
 * Hints of answers that found nothing, beside those that the operation gives: a scope that there is not, a predicate that
 * is spelt otherwise, a goal without an answer. A look at what is there, and no use of any fact.
 */
import { perform, type ToolRun } from './tool-run.ts';
import type {
  Answered,
  Forgotten,
  SlimConsolidated,
  SlimRecalled,
  SlimWindow,
} from '../../engine/contract/tool-contents.ts';
import type { ToolArguments } from './tool-input.ts';
import type { ToolOperation } from './tool-operation.ts';

const maxHints = 5;
/** Predicates and goals that are looked at. */
const maxLookedAt = 5;
const maxScopesNamed = 5;

/** The content, with hints where it found nothing and something is likely to have been meant. */
export async function withHintsOfNothing<Content extends object>(
  run: ToolRun,
  operation: ToolOperation,
  given: ToolArguments,
  content: Content,
): Promise<Content & { hints?: string[] }> {
  if (!isEmpty(operation, content)) return content;
  const own = 'hints' in content && Array.isArray(content.hints) ? (content.hints as string[]) : [];
  const hints = [
    ...(await scopeHints(run, given)),
    ...own,
    ...(await predicateHints(run, given)),
    ...(await goalHints(run, given)),
  ];
  if (hints.length === 0) return content;
  return { ...content, hints: [...new Set(hints)].slice(0, maxHints) };
}

function isEmpty(operation: ToolOperation, content: object): boolean {
  switch (operation) {
    case 'ask':
      return (content as Answered).count === 0;
    case 'retractPattern':
      return (content as Forgotten).status === 'absent';
    case 'recall':
      return (content as SlimRecalled).returned === 0;
    case 'optimizeContext':
      return !(content as SlimWindow).entries.some(({ category }) => category === 'goal_relevant');
    case 'consolidate':
      return (content as SlimConsolidated).patternsFound === 0;
    default:
      return false;
  }
}

async function scopeHints(run: ToolRun, { scope }: ToolArguments): Promise<string[]> {
  if (typeof scope !== 'string') return [];
  const { scopes } = await perform(run, 'listScopes');
  if (scopes.some(({ name }) => name === scope)) return [];
  const names = scopes.slice(0, maxScopesNamed).map(({ name }) => name);
  const others = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
  return [`there is no scope ${scope}: ${others}; without scope everything is looked at`];
}

async function predicateHints(run: ToolRun, { predicates }: ToolArguments): Promise<string[]> {
  const names = Array.isArray(predicates) ? predicates.filter((name) => typeof name === 'string') : [];
  const hints: string[] = [];
  for (const predicate of names.slice(0, maxLookedAt)) {
    const listed = await perform(run, 'listFacts', { query: { predicate, limit: '1' } });
    if (listed.total === 0) hints.push(...(listed.hints ?? []));
  }
  return hints;
}

async function goalHints(run: ToolRun, { goals, scope }: ToolArguments): Promise<string[]> {
  if (!Array.isArray(goals)) return [];
  const hints: string[] = [];
  for (const goal of (goals as object[]).slice(0, maxLookedAt)) {
    const body = { ...goal, ...(scope === undefined ? {} : { scope }), limit: 1 };
    const answer = await perform(run, 'ask', { body });
    if (answer.count === 0) hints.push(...(answer.hints ?? []));
  }
  return hints;
}
