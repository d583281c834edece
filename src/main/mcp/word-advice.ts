/**
 * Suggests calls to a client that searches by words: puts matching names into a call that the tools take. It searches
 * only the vocabulary and the stored facts with one of the words in them.
 */
import { perform, type ToolContext } from './tool-run.ts';
import type { ToolArguments } from './tool-input.ts';

/** Fields in which clients write what they search for. */
const wordFields = [
  'query',
  'topic',
  'search',
  'text',
  'question',
  'q',
  'keywords',
  'subject',
  'about',
  'name',
  'names',
];

const maxWords = 6;
const maxGoals = 6;
const maxPredicates = 6;
/** Facts checked for one word. */
const factsOfWord = 20;
const maxCharacters = 400;

const stopWords: ReadonlySet<string> = new Set(
  'a about all an and any are as at be by do does for from have her his how i in is it know list me my of on or our show tell that the their them there they this to was we were what when where which who whose why with you your'.split(
    ' ',
  ),
);

/** The words that the arguments search for; null if they are no search. */
export function soughtWords(given: ToolArguments): string | null {
  for (const field of wordFields) {
    const value = given[field];
    const text = Array.isArray(value) ? value.filter((each) => typeof each === 'string').join(' ') : value;
    if (typeof text === 'string' && text.trim() !== '') return text.slice(0, maxCharacters);
  }
  return null;
}

/** The arguments without the field of words. */
export function withoutWords(given: ToolArguments): ToolArguments {
  return Object.fromEntries(Object.entries(given).filter(([field]) => !wordFields.includes(field)));
}

interface Place {
  readonly predicate: string;
  readonly args: readonly string[];
}

/**
 * The call to make: `context` with goals about the named constants, else `recall` of the named predicates, else
 * `predicates`. `others`: further arguments, which the tool takes.
 */
export async function callForWords(
  run: ToolContext,
  text: string,
  others: ToolArguments = {},
): Promise<{ readonly tool: string; readonly call: ToolArguments }> {
  const words = wordsOf(text);
  const { predicates } = await perform(run, 'listPredicates');
  const meant = predicates.filter(({ name }) =>
    wordsOf(name).some((part) => words.some((word) => isSame(word, part))),
  );
  const scope = typeof others['scope'] === 'string' ? { scope: others['scope'] } : {};
  const constants = new Map<string, Place>();
  for (const word of words) {
    const query = { q: word, limit: String(factsOfWord), ...scope };
    const { facts } = await perform(run, 'listFacts', { query });
    for (const { predicate, args } of facts)
      for (const [position, arg] of args.entries())
        if (arg.length <= maxCharacters && wordsOf(arg).includes(word))
          constants.set(`${predicate}/${args.length} ${position} ${arg}`, {
            predicate,
            args: args.map((_, index) => (index === position ? arg : `?x${index + 1}`)),
          });
  }
  const goals = goalsOf(meant, [...constants.values()]);
  if (goals.length > 0) return { tool: 'context', call: { goals, ...others } };
  if (meant.length > 0) {
    const { maxFacts } = others;
    const names = [...new Set(meant.map(({ name }) => name))].slice(0, maxPredicates);
    return {
      tool: 'recall',
      call: { predicates: names, ...(maxFacts === undefined ? {} : { maxFacts }), ...scope },
    };
  }
  return { tool: 'predicates', call: {} };
}

/**
 * Goals about the constants: of the named predicates, in every argument position, else of the predicates that have
 * them.
 */
function goalsOf(meant: readonly { name: string; arity: number }[], known: readonly Place[]): Place[] {
  const named = new Set(known.flatMap(({ args }) => args.filter((arg) => !arg.startsWith('?'))));
  const goals = meant.flatMap(({ name, arity }) =>
    [...named].flatMap((constant) =>
      Array.from({ length: arity }, (_, position) => ({
        predicate: name,
        args: Array.from({ length: arity }, (_value, index) =>
          index === position ? constant : `?x${index + 1}`,
        ),
      })),
    ),
  );
  return (goals.length > 0 ? goals : known).slice(0, maxGoals);
}

function wordsOf(text: string): string[] {
  const parts = text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  const words = parts.filter((word) => word.length > 1 && !stopWords.has(word));
  return [...new Set(words)].slice(0, maxWords);
}

/** Whether it is the same word, singular or plural. */
function isSame(one: string, other: string): boolean {
  const stem = (word: string): string => word.replace(/(?:ies|y)$/, 'i').replace(/(?<=..)s$/, '');
  return stem(one) === stem(other);
}
