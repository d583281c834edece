/**
 * Parses the text of a message line by line: what each line tells, teaches, asks or forgets.
 *
 * A line counts only as a whole. A line that is neither statements nor a question is natural language, which this agent
 * does not read: it becomes a reason that says how to write it. Parsing carries nothing out, so a message with too many
 * items is refused before anything is done.
 */
import type { Atom, Literal, Rule } from '../../engine/contract/language.ts';
import {
  type ArgumentNames,
  EngineError,
  parseBody,
  parseFreeTextLine,
  parseFreeTextQuestion,
  parseProgram,
  type Statement,
} from '../../engine/index.ts';

/** Maximum number of statements, questions and unreadable lines in one message. */
export const maxItems = 10_000;

/** Maximum length of a line in UTF-16 code units: parsing a line blocks the thread. */
export const maxLineUnits = 100_000;

/** What to do for a line, or for one of several statements on it. `line` counts from 1. */
export type MessageItem = { readonly line: number } & (
  | { readonly kind: 'tell'; readonly atom: Atom }
  | { readonly kind: 'teach'; readonly text: string }
  | { readonly kind: 'forget'; readonly atom: Atom }
  | { readonly kind: 'unteach'; readonly rule: Rule }
  | { readonly kind: 'ask'; readonly text: string; readonly body: readonly Literal[] }
  | { readonly kind: 'unknown'; readonly reason: string }
);

/**
 * The items in the order of the text, arguments by name in the order of `names`; null if there are more than `maxItems`.
 * `breathe` yields to other work.
 */
export async function readItems(
  text: string,
  breathe: () => Promise<void>,
  names: ArgumentNames,
): Promise<MessageItem[] | null> {
  const items: MessageItem[] = [];
  for (const { written, line } of linesOf(text)) {
    await breathe();
    for (const item of itemsOf(written, line, names)) {
      if (items.length === maxItems) return null;
      items.push(item);
    }
  }
  return items;
}

/** The non-empty lines, trimmed. A line ends at LF, CR LF or a lone CR. */
function* linesOf(text: string): Generator<{ readonly written: string; readonly line: number }> {
  let line = 1;
  let start = 0;
  let isBlank = true;
  // Counts code units, so that a text of line breaks alone takes no longer than any other.
  for (let at = 0; at <= text.length; at++) {
    const unit = at === text.length ? lineFeed : text.charCodeAt(at);
    if (unit !== lineFeed && unit !== carriageReturn) {
      isBlank &&= unit <= space;
      continue;
    }
    const written = isBlank ? '' : text.slice(start, at).trim();
    if (written !== '') yield { written, line };
    if (unit === carriageReturn && text.charCodeAt(at + 1) === lineFeed) at++;
    start = at + 1;
    line++;
    isBlank = true;
  }
}

const lineFeed = 10;
const carriageReturn = 13;
const space = 32;

function itemsOf(written: string, line: number, names: ArgumentNames): MessageItem[] {
  try {
    return readableItems(written, line, names);
  } catch (error) {
    // Arguments by name that fit no declaration.
    if (!(error instanceof EngineError)) throw error;
    return [{ line, kind: 'unknown', reason: columnOf(error) }];
  }
}

function readableItems(written: string, line: number, names: ArgumentNames): MessageItem[] {
  if (written.length > maxLineUnits)
    return [{ line, kind: 'unknown', reason: `it has more than ${maxLineUnits} characters` }];
  const forgotten = /^forget\s+(?=\S)/i.exec(written);
  if (forgotten !== null) return forgettingOf(written.slice(forgotten[0].length), line, names);
  const statements = parseFreeTextLine(written, names);
  if (statements !== null)
    return statements.map((statement) =>
      statement.kind === 'fact'
        ? { line, kind: 'tell', atom: statement.atom }
        : { line, kind: 'teach', text: written.slice(statement.span.start, statement.span.end) },
    );
  const body = parseFreeTextQuestion(written, names);
  if (body !== null) return [{ line, kind: 'ask', text: written, body }];
  return [{ line, kind: 'unknown', reason: reasonOf(written) }];
}

/** What follows the word: statements, or one atom whose variables match everything to forget. */
function forgettingOf(written: string, line: number, names: ArgumentNames): MessageItem[] {
  const statements = statementsOf(written, names);
  if (statements !== null)
    return statements.map((statement) =>
      statement.kind === 'fact'
        ? { line, kind: 'forget', atom: statement.atom }
        : { line, kind: 'unteach', rule: statement.rule },
    );
  const [literal, ...others] = parseFreeTextQuestion(written.replace(/\s*[.?]$/, ''), names) ?? [];
  if (literal !== undefined && others.length === 0 && 'args' in literal && !literal.naf)
    return [{ line, kind: 'forget', atom: literal }];
  const reason =
    'write forget before what to forget, as in forget parent(ann, bob). or forget parent(ann, ?_).';
  return [{ line, kind: 'unknown', reason }];
}

/** The statements of a line; null: it has none, or leaves out names of arguments, as only a pattern may. */
function statementsOf(written: string, names: ArgumentNames): Statement[] | null {
  try {
    return parseFreeTextLine(written, names);
  } catch (error) {
    // Read as a pattern, it is refused again if that is not what is wrong.
    if (error instanceof EngineError) return null;
    throw error;
  }
}

const howToWrite =
  'tell with a full stop, as in parent(ann, bob). or mortal(?x) :- human(?x). and ask with a question mark, as in ' +
  'parent(?x, bob)? and forget as in forget parent(ann, bob).';

/** Why the line cannot be read. For text that looks like natural language, a position would only mislead. */
function reasonOf(written: string): string {
  const problem = /[({]/.test(written) ? problemIn(written) : null;
  return problem === null ? howToWrite : `${problem}; ${howToWrite}`;
}

function problemIn(written: string): string | null {
  if (written.endsWith('.')) {
    const [first] = parseProgram(written, { maxErrors: 1 }).errors;
    return first === undefined
      ? 'every literal has its parentheses'
      : `column ${first.range.startColumn}: ${first.message}`;
  }
  if (!written.endsWith('?')) return 'it ends with neither a full stop nor a question mark';
  try {
    parseBody(written.slice(0, -1), 'question');
    return 'every literal has its parentheses';
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return columnOf(error);
  }
}

/** The message of a line that cannot be parsed, with its column. */
function columnOf({ members }: EngineError): string {
  return `column ${String(members['column'])}: ${members.errors?.[0]?.message.replace(/^line 1, column \d+: /, '') ?? ''}`;
}
