/**
 * The text beside a tool's structured content.
 *
 * Some clients give the model only the text, others only the structured content: so the text contains everything in the
 * content, in lines, each item once; of long chains in proofs it has the ends, and how to get the rest. The bounds of an
 * answer (maxFacts, maxChars, limit, the size of a tool's answer) apply to both. The text says nothing that does not follow
 * from the call and the structured content.
 */
import type {
  Answered,
  Forgotten,
  SlimEntry,
  SlimGoal,
  SlimWhyNot,
  StatementOutcome,
  Told,
} from '../../engine/contract/tool-contents.ts';
import type { ToolContents, ToolOperation } from '../../engine/contract/operations.ts';
import { proofSentences, withFoldedText } from '../../proof/proof-text.ts';

/** The arguments of the call, as interpreted. */
type Given = Readonly<Record<string, unknown>>;
type Texts = { readonly [Name in ToolOperation]: (content: ToolContents[Name], given: Given) => string };

/** The text of every tool's answer. */
export const toolTexts: Texts = {
  assertFact: (told) => {
    const text = withHints(told, toldLines(told));
    const { atom, status, hints = [] } = told;
    if (hints.length === 0 || atom === undefined || status !== 'asserted') return text;
    return `${text}\nIt is stored as given. If another fact was meant: call forget with ${JSON.stringify({ text: atom })} and tell that one.`;
  },
  assertRule: (taught) => {
    const known = taught.status === 'unchanged' ? 'Already known, unchanged' : 'Learnt';
    const lines = [`${known}: ${taught.rule} (id ${taught.id})`];
    if (!/[\s(,]\?/.test(taught.rule) && (taught.hints ?? []).length === 0)
      lines.push('It has no variable, so it concludes this one atom only: variables start with ?, as in ?x.');
    if (taught.status === 'asserted' && (taught.hints ?? []).length > 0)
      return `${withHints(taught, lines)}\nIt is stored as given. If another rule was meant: call forget with ${JSON.stringify({ ruleId: taught.id })} and teach that one.`;
    return withHints(taught, lines);
  },
  retractPattern: (forgotten) => withHints(forgotten, forgottenLines(forgotten)),
  ask: (answer, given) => withHints(answer, answerLines(answer, given)),
  listPredicates: (content) => {
    const { predicates, constraints = [] } = content;
    if (predicates.length === 0 && constraints.length === 0)
      return withHints(content, ['Nothing is stored yet: tell facts and teach rules first.']);
    const lines = predicates.map(({ name, arity, facts, rules, example, scopes = [], declared }) => {
      const sample = example === undefined ? '' : `, such as ${example}`;
      const where = scopes.length === 0 ? '' : `, in the scopes ${scopes.join(', ')}`;
      return `${name}/${arity}: ${count(facts, 'fact')}, ${count(rules, 'rule')}${sample}${where}${declared === undefined ? '' : `\n  ${declared}`}`;
    });
    const forbidden = constraints.length === 0 ? [] : ['Must not be true:', ...constraints];
    return withHints(content, [`${count(predicates.length, 'predicate')}:`, ...lines, ...forbidden]);
  },
  recall: (content) => {
    const { facts = [], text, totalFacts, returned } = content;
    if (returned === 0) return withHints(content, ['Nothing remembered fits.']);
    const lines = text === undefined ? facts.map(entryLine) : linesOf(text);
    return withHints(content, [
      `${returned} of ${count(totalFacts, 'fact')}:`,
      ...lines,
      ...argumentLines(content),
    ]);
  },
  search: ({ hits, mentions, matched, goalsLeftOut }) => {
    if (!matched) return 'Nothing matches these words: nothing is known by these names.';
    const lines = hits.map(({ kind, text, id, scope }) => {
      const where = scope === undefined ? '' : `, in ${scope}`;
      return `${kind}: ${text}${id === undefined || kind !== 'rule' ? '' : ` (${id})`}${where}`;
    });
    if (mentions.length > 0) lines.unshift(`Mentioned: ${mentions.join(', ')}`);
    if (goalsLeftOut !== undefined)
      lines.push(`${count(goalsLeftOut, 'goal')} not worked out: conclusions may be missing. Ask for them.`);
    return lines.join('\n');
  },
  optimizeContext: (content) => {
    const {
      entries = [],
      text,
      totalFactsIncluded,
      totalFactsAvailable,
      relevantRules,
      contradictions = [],
      omitted = [],
      goals = [],
    } = content;
    const aboutGoals = goals.map(goalLine);
    if (totalFactsIncluded === 0 && omitted.length === 0)
      return withHints(content, ['The window is empty: nothing known fits.', ...aboutGoals]);
    const lines = [
      ...aboutGoals,
      `${totalFactsIncluded} of ${count(totalFactsAvailable, 'fact')}:`,
      ...(text === undefined ? entries.map(entryLine) : linesOf(text)),
      ...argumentLines(content),
    ];
    if (relevantRules.length > 0) lines.push(`${count(relevantRules.length, 'rule')}:`, ...relevantRules);
    if (contradictions.length > 0)
      lines.push(
        `${count(contradictions.length, 'contradiction')}, told as true and as false:`,
        ...contradictions,
      );
    if (omitted.length > 0)
      lines.push('Left out:', ...omitted.map(({ atom, reason }) => `${atom} (${reason})`));
    return withHints(content, lines);
  },
  consolidate: (output) => {
    const skipped = (output.skipped ?? []).map(({ atom, reason }) => `Left alone: ${atom} (${reason})`);
    if (output.summaries.length === 0)
      return withHints(output, [
        'Nothing to consolidate: no group of alike episodes is large enough.',
        ...skipped,
      ]);
    const done = output.dryRun === true ? 'Would replace' : 'Replaced';
    const said = `${count(output.factsConsolidated, 'fact')} by ${count(output.summariesCreated, 'summary', 'summaries')}`;
    const lines = output.summaries.map(
      ({ atom, support, scope }) => `${atom} (of ${support}${scope === undefined ? '' : `, scope ${scope}`})`,
    );
    return [`${done} ${said}:`, ...lines, ...skipped].join('\n');
  },
  decay: (output) => {
    const done = output.dryRun === true ? 'Would evict' : 'Evicted';
    if (output.evicted === 0) return `Nothing to evict; ${count(output.remaining, 'fact')} remain.`;
    const said = `${output.expired} expired, ${output.lowSalience} faded; ${count(output.remaining, 'fact')} remain`;
    return [`${done} ${count(output.evicted, 'fact')} (${said}):`, ...output.atoms].join('\n');
  },
};

function withHints(
  { hints = [] }: { hints?: readonly string[] | undefined },
  lines: readonly string[],
): string {
  return [...lines, ...hints.map((hint) => `Hint: ${hint}`)].join('\n');
}

function argumentLines({ arguments: named = [] }: { arguments?: readonly string[] | undefined }): string[] {
  return named.length === 0 ? [] : [`Arguments: ${named.join(', ')}`];
}

const statusWords: Readonly<Record<string, string>> = {
  asserted: 'Stored',
  updated: 'Updated',
  unchanged: 'Already stored, unchanged',
  retracted: 'Retracted',
  absent: 'Not stored',
};

function toldLines({
  status,
  atom,
  rule,
  id,
  statements,
  asserted = 0,
  updated = 0,
  unchanged = 0,
}: Told): string[] {
  const word = statusWords[status] ?? status;
  if (rule !== undefined) return [`${word}: ${rule} (id ${id})`];
  if (atom !== undefined) return [`${word}: ${atom}`];
  const counts = [
    asserted > 0 || updated + unchanged === 0 ? [`${asserted} stored`] : [],
    updated > 0 ? [`${updated} updated`] : [],
    unchanged > 0 ? [`${unchanged} already stored`] : [],
  ].flat();
  return [
    `${counts.join(', ')}${statements === undefined ? '.' : ':'}`,
    ...(statements ?? []).map((outcome) => statementLine(outcome, asserted < (statements ?? []).length)),
  ];
}

function statementLine({ status, atom, rule, id }: StatementOutcome, isMixed: boolean): string {
  const written = rule === undefined ? (atom ?? '') : `${rule}${id === undefined ? '' : ` (id ${id})`}`;
  return isMixed ? `${statusWords[status] ?? status}: ${written}` : written;
}

function forgottenLines(output: Forgotten): string[] {
  const { status, rule, statements, retracted = 0, dryRun } = output;
  const done = dryRun === true ? 'Would retract' : 'Retracted';
  if (rule !== undefined)
    return status === 'absent'
      ? [`No such rule is stored: ${rule}`]
      : [`${done} the rule ${rule}`, ...dependentLines(output)];
  if (statements !== undefined)
    return [
      `${done} ${count(retracted, 'fact')} in all:`,
      ...statements.map((outcome) => {
        const word =
          dryRun === true && outcome.status === 'retracted' ? done : (statusWords[outcome.status] ?? '');
        const facts =
          outcome.retracted === undefined || outcome.status === 'absent'
            ? ''
            : ` (${count(outcome.retracted, 'fact')})`;
        return `${word}: ${outcome.rule ?? outcome.atom ?? ''}${facts}`;
      }),
      ...dependentLines(output),
    ];
  if (status === 'absent') return ['Nothing retracted: no stored fact matches.'];
  return [`${done} ${count(retracted, 'fact')}.`, ...dependentLines(output)];
}

function dependentLines(output: Forgotten): string[] {
  const { dependents = [], dependentsCount = 0, dependentsComplete, notWorkedOut = [], dryRun } = output;
  const named = notWorkedOut.length > 0 ? ` Not worked out: ${notWorkedOut.join(', ')}.` : '';
  const unsure =
    dependentsComplete === false ? [`There may be more conclusions that depended on it.${named}`] : [];
  if (dependentsCount === 0) return unsure;
  const said = dryRun === true ? 'Would no longer hold' : 'No longer holding';
  const more = dependentsCount - dependents.length;
  return [
    `${said}, ${count(dependentsCount, 'conclusion')}${dependents.length === 0 ? '.' : ':'}`,
    ...dependents,
    ...(more > 0 && dependents.length > 0 ? [`… and ${more} more.`] : []),
    ...unsure,
  ];
}

const goalWords: Readonly<Record<string, string>> = {
  proved: 'proved below',
  premises: 'its premises are below, not its whole proof',
  does_not_fit: 'proved, but it does not fit',
  no_answer: 'no answer follows',
  limit: 'not worked out: a limit was met',
};

function goalLine({ goal, status, facts, chars }: SlimGoal): string {
  const needs =
    facts === undefined || chars === undefined
      ? ''
      : ` (its first answer needs ${count(facts, 'fact')}, ${count(chars, 'character')})`;
  return `Goal ${goal}: ${goalWords[status] ?? status}${needs}.`;
}

/** The lines of a text, each of which ends with a line break. */
function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

function entryLine(entry: SlimEntry): string {
  const { atom, salience, category, scope, validFrom, validUntil, rule, premises = [] } = entry;
  const notes = [
    category?.replace('_', ' '),
    salience?.toFixed(2),
    scope === undefined ? undefined : `scope ${scope}`,
    validFrom === undefined ? undefined : `from ${validFrom}`,
    validUntil === undefined ? undefined : `until ${validUntil}`,
    rule === undefined ? undefined : `by ${rule} from ${premises.join(', ')}`,
  ];
  const said = notes.filter((note) => note !== undefined);
  return said.length === 0 ? atom : `${atom} (${said.join(', ')})`;
}

function answerLines(answer: Answered, given: Given): string[] {
  const { results, truncated, proof } = answer;
  if (results.length === 0) return noAnswer(answer, given);
  // The content has every step; a model that reads only the text can ask for those of a chain.
  const folded = proof === undefined ? undefined : withFoldedText(proof);
  const lines = [`${count(results.length, 'answer')}:`, ...proofSentences(results, folded)];
  if (folded !== proof) lines.push('Ask for a conclusion inside a chain to see its own steps.');
  if (truncated) lines.push('There are more answers: ask again with limit and offset.');
  return lines;
}

function noAnswer({ whyNot = [], hints = [] }: Answered, given: Given): string[] {
  const lines = [
    'No answer: it does not follow from the facts and rules.',
    ...whyNot.flatMap((each) => whyNotLines(each)),
  ];
  if (whyNot.length > 0 || hints.length > 0 || given['whyNot'] === true) return lines;
  return [
    ...lines,
    'See with predicates whether the name and the number of arguments are those in use, or ask with whyNot: true.',
  ];
}

/** What is missing of an atom that does not hold, by at most `most` rules. */
export function whyNotLines(
  { atom, attempts, blockedBy }: SlimWhyNot,
  most = Number.POSITIVE_INFINITY,
): string[] {
  const ways = attempts.slice(0, most).map(({ rule, satisfied, missing }) => {
    const has = satisfied.length === 0 ? '' : `; true: ${satisfied.join(', ')}`;
    return `- ${rule}: missing ${missing.join(', ')}${has}`;
  });
  const blocked = blockedBy.slice(0, most).map((detail) => `- ${detail}`);
  if (ways.length + blocked.length === 0) return [`${atom}: it is not stored, and no rule concludes it.`];
  return [`${atom} would follow by:`, ...ways, ...blocked];
}

/** `1 fact`, `2 facts`. */
export function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}
