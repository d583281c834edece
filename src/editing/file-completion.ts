/**
 * Completions in a file of a package, or in a text of tests: those of statements, and the words of declarations and tests.
 *
 * Reads only the text near the offset, so that it takes no longer in a large file.
 */
import { typeWords } from '../engine/contract/declarations.ts';
import {
  type Completions,
  completionsAt,
  type DescribedKnowledge,
  type DescribedPredicate,
  predicateSuggestion,
  statementStart,
  type Suggestion,
} from './completion.ts';
import { lexLine } from './lexer.ts';
import type { DescribedPackage } from './package-symbols.ts';

/** Characters around the offset that are read. */
const maxBefore = 20_000;
const maxAfter = 2_000;

/** Predicates, rules, and names that an expected violation can have. */
type KnownToFile = DescribedKnowledge & Pick<DescribedPackage, 'violations'>;

/**
 * Returns the completions at `offset`. `isTest`: a text of tests, which has nothing else; `isTriggered`: a character such as
 * a brace asks for them, not a letter or a person.
 */
export function fileCompletionsAt(
  text: string,
  offset: number,
  knowledge: KnownToFile,
  isTest: boolean,
  isTriggered = false,
): Completions {
  const start = windowStart(text, offset);
  const near = text.slice(start, offset + maxAfter);
  const { from, suggestions } = completionsNear(near, offset - start, knowledge, isTest);
  // Enter behind the brace of a test breaks the line.
  if (isTest && isTriggered && suggestions.some((each) => each === test || each === given))
    return { from: offset, suggestions: [] };
  return { from: from + start, suggestions };
}

/** The beginning of a line from which reading begins: one that a statement begins, if there is any. */
function windowStart(text: string, offset: number): number {
  if (offset <= maxBefore) return 0;
  const before = text.slice(offset - maxBefore, offset);
  const begins = /(?:\.|^[%#].*|^)[ \t]*(?:\r\n|\r|\n)(?=\S)/m.exec(before);
  return offset - maxBefore + (begins === null ? 0 : begins.index + begins[0].length);
}

function completionsNear(text: string, offset: number, knowledge: KnownToFile, isTest: boolean): Completions {
  const before = text.slice(0, offset);
  const [word = ''] = /[^\s(){},;"'`<>=]*$/.exec(before) ?? [];
  const declaration = isTest ? null : openDeclaration(before);
  if (declaration !== null) return inDeclaration(declaration, word, offset, knowledge);
  const plain = completionsAt(text, offset, knowledge);
  // Nothing at all: a comment or a quoted text.
  if (plain.suggestions.length === 0) return plain;
  const from = offset - word.length;
  if (isTest) return inTests(before, word, from, plain, knowledge);
  return openStatement(before) === word && !word.startsWith('-')
    ? { from, suggestions: [...plain.suggestions, declare] }
    : plain;
}

/** `plain`: what can stand in a goal. */
function inTests(
  before: string,
  word: string,
  from: number,
  plain: Completions,
  { violations }: KnownToFile,
): Completions {
  const statement = openTest(before)?.trimStart();
  if (statement === undefined) return { from, suggestions: openStatement(before) === word ? [test] : [] };
  if (statement === word) return { from, suggestions: [given, expect] };
  if (/^expect\s+(?:not\s+)?violation\s+\S*$/.test(statement))
    return { from, suggestions: violations.map((name) => keyword(name, 'violation', name)) };
  return /^expect\s+(?:not\s+)?\S*$/.test(statement) && !word.startsWith('-')
    ? { ...plain, suggestions: [...plain.suggestions, violation] }
    : plain;
}

/** The statement that is open at the end of the text, outside of tests and declarations; those may end without a full stop. */
function openStatement(before: string): string {
  const rest = before
    .slice(statementStart(before, before.length))
    .replace(/^\s*\}/, '')
    .replace(/^(?:\s*[%#][^\r\n]*[\r\n])+/, '')
    .trimStart();
  return rest.startsWith(':declare') ? rest.slice(Math.max(0, rest.search(/[^\r\n]*$/))) : rest;
}

function keyword(label: string, detail: string, insert: string): Suggestion {
  return { kind: 'keyword', label, detail, insert: insert.replace(/[\\$}]/g, '\\$&') };
}

const declare: Suggestion = {
  kind: 'keyword',
  label: ':declare',
  detail: 'names and types of arguments, keys',
  insert: ':declare ${1:predicate}(${2:name}: ${3:any})$0',
};
const test: Suggestion = {
  kind: 'keyword',
  label: 'test',
  detail: 'what must follow',
  insert: 'test "${1:name}" {\n  given ${2:fact}.\n  expect ${3:goal}.\n\\}',
};
const given = keyword('given', 'supposes facts', 'given ');
const expect = keyword('expect', 'what must follow', 'expect ');
const violation = keyword('violation', 'of a constraint, a key or a shape', 'violation ');

const clauses: readonly Suggestion[] = [
  keyword('key', 'one fact for each of these arguments', 'key '),
  keyword('on conflict', 'warn, supersede or reject', 'on conflict '),
  keyword('check', 'warn or reject', 'check '),
];
const modes = {
  'on conflict': ['warn', 'supersede', 'reject'],
  check: ['warn', 'reject'],
} as const;
const types = typeWords.filter((name) => name !== 'oneOf');

/** What a declaration has so far, from its `:declare`: on this line, or begun before lines that are indented; null: none. */
function openDeclaration(before: string): string | null {
  const lines = before.split(/\r\n|\r|\n/);
  let at = lines.length - 1;
  while (at > 0 && /^[ \t]/.test(lines[at] ?? '') && !/^\s*:declare\b/.test(lines[at] ?? '')) at--;
  const text = lines.slice(at).join('\n').trimStart();
  return /^:declare\s/.test(text) && !/\.\s*$/.test(lines.slice(at, -1).join('\n')) ? text : null;
}

function inDeclaration(
  declaration: string,
  word: string,
  offset: number,
  { predicates }: DescribedKnowledge,
): Completions {
  // A type follows its colon directly, or after white space.
  const typed = /[^:]*$/.exec(word)?.[0] ?? '';
  const outside = declaration.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  if ((outside.match(/"/g) ?? []).length % 2 === 1) return { from: offset, suggestions: [] };
  const isOpen = outside.lastIndexOf('(') > outside.lastIndexOf(')');
  const from = offset - typed.length;
  if (isOpen)
    return {
      from,
      suggestions: /[(,][^(,:]*:\s*[a-z]*$/.test(outside)
        ? types.map((name) => keyword(name, 'type', name))
        : [],
    };
  if (/^:declare\s+\S*$/.test(outside))
    return {
      from: offset - word.length,
      suggestions: predicates.filter((each) => each.declaration === undefined).map(undeclared),
    };
  for (const [clause, words] of Object.entries(modes))
    if (new RegExp(`\\b${clause.replace(' ', '\\s+')}\\s+[a-z]*$`).test(outside))
      return { from, suggestions: words.map((name) => keyword(name, clause, name)) };
  if (/\bkey\s+(?:[\p{L}\p{N}_]+\s*,\s*)*[\p{L}\p{N}_]*$/u.test(outside)) {
    const names = [...outside.matchAll(/[(,]\s*([\p{L}\p{N}_]+)/gu)].map(([, name = '']) => name);
    return {
      from,
      suggestions: names.map((name) => ({ ...keyword(name, 'argument', name), kind: 'argument' })),
    };
  }
  return { from: offset - word.length, suggestions: clauses };
}

/** A predicate as a declaration names it: its arguments need names. */
function undeclared(predicate: DescribedPredicate): Suggestion {
  const suggestion = predicateSuggestion(predicate);
  return { ...suggestion, insert: suggestion.insert.replaceAll(':?', ':') };
}

/** The statement that is open in the test at the end of the text; null: no test is open. */
function openTest(before: string): string | null {
  const headers = [...before.matchAll(/^[ \t]*test\s+"(?:[^"\\\n]|\\.)*"\s*\{/gm)];
  const header = headers.at(-1);
  if (header === undefined) return null;
  const inside = before.slice(header.index + header[0].length);
  let depth = 1;
  let isOpen = false;
  let start = 0;
  let at = 0;
  for (const line of inside.split('\n')) {
    const lexed = lexLine(line, isOpen);
    isOpen = lexed.isOpen;
    for (const token of lexed.tokens) {
      const text = line.slice(token.start, token.end);
      if (token.kind === 'comment') start = at + token.end;
      if (token.kind !== 'operator') continue;
      if (text === '{') depth++;
      if (text === '}') depth--;
      if (depth === 0) return null;
      if (text === '.') start = at + token.end;
    }
    at += line.length + 1;
  }
  return inside.slice(start);
}
