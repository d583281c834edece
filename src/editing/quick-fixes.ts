/**
 * Quick fixes of diagnostics, as text edits.
 *
 * Every fix resolves its own diagnostic; a fix is preferred only if there is no other sensible one. Pure: the editor's
 * light bulb and the problem list offer the same fixes.
 */
import type { Diagnostic } from '../engine/contract/rules.ts';
import { ruleProblems } from '../engine/language/check.ts';
import type { Span } from '../engine/language/source.ts';
import type { ParsedText, PredicateUse, TextEdit, VariableUse } from './read-text.ts';

/** A titled fix. */
export interface Fix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  readonly isPreferred: boolean;
}

type Vocabulary = readonly { readonly name: string; readonly arity: number }[];

/** A diagnostic in its context. */
interface Case {
  readonly text: string;
  readonly read: ParsedText;
  readonly place: Span;
  readonly known: Vocabulary;
  readonly diagnostic: Diagnostic;
}

/** Returns the offset of a line and column, both from 1. Lines end as in the checker. */
function offsetAt(text: string, line: number, column: number): number {
  let start = 0;
  const ends = /\r\n|\r|\n/g;
  for (let passed = 1; passed < line; passed++) {
    if (ends.exec(text) === null) break;
    start = ends.lastIndex;
  }
  return Math.min(text.length, start + column - 1);
}

/** Returns the edit distance of two words, counting a swap of neighbours as one; `most` + 1 if larger. */
function wordDistance(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) > most) return most + 1;
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const isSame = left[i - 1] === right[j - 1];
      const isSwap = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const swapped = isSwap ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (isSame ? 0 : 1),
        swapped,
      );
    }
    before = row;
    row = next;
  }
  return Math.min(most + 1, row[right.length] ?? 0);
}

/** The words similar enough to `word` to be meant, most similar first. */
function likest(word: string, words: Iterable<string>, count: number): string[] {
  const most = word.length < 5 ? 1 : 2;
  const scored = [...new Set(words)]
    .filter((other) => other !== word)
    .map((other) => ({ other, far: wordDistance(word.toLowerCase(), other.toLowerCase(), most) }))
    .filter(({ far }) => far <= most);
  scored.sort((left, right) => left.far - right.far || (left.other < right.other ? -1 : 1));
  return scored.slice(0, count).map(({ other }) => other);
}

function overlaps(span: Span, place: Span): boolean {
  return span.start <= place.end && place.start <= span.end;
}

function predicateOf({ read, place }: Case): PredicateUse | undefined {
  return read.predicates.find(({ span }) => span.start === place.start && span.end === place.end);
}

function variableOf({ read, place }: Case): VariableUse | undefined {
  return read.variables.find(({ span }) => span.start === place.start && span.end === place.end);
}

/** Edit that removes a statement with its line, or with the space after it. */
function statementEdit(text: string, { start, end }: Span): TextEdit {
  const before = /(?:^|\n)[ \t]*$/.test(text.slice(0, start));
  const after = /^[ \t]*(?:\r\n|\n|\r|$)/.exec(text.slice(end))?.[0];
  if (before && after !== undefined) {
    const lineStart = start - (/[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0);
    return { start: lineStart, end: end + after.length, text: '' };
  }
  return { start, end: end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0), text: '' };
}

function replace(place: Span, text: string): TextEdit {
  return { start: place.start, end: place.end, text };
}

function ofSyntax({ diagnostic, place }: Case): Fix[] {
  if (!diagnostic.message.endsWith('write . here')) return [];
  return [
    {
      title: 'End the statement with a full stop',
      edits: [{ start: place.end, end: place.end, text: '.' }],
      isPreferred: true,
    },
  ];
}

/** The variables of a statement that matched atoms bind. */
function boundIn(read: ParsedText, statement: number): string[] {
  const bound = read.variables.filter(
    (use) => use.statement === statement && use.within === 'atom' && use.depth === 0 && use.name !== '?_',
  );
  return [...new Set(bound.map(({ name }) => name))];
}

function otherVariables(found: Case, variable: VariableUse): Fix[] {
  const { read } = found;
  const others = boundIn(read, variable.statement).filter((name) => name !== variable.name);
  const like = likest(variable.name, others, 3);
  const used = new Set(
    read.variables
      .filter(({ statement, within }) => statement === variable.statement && within === 'head')
      .map(({ name }) => name),
  );
  const spare = others.filter((name) => !used.has(name));
  const offered = [...new Set([...like, ...spare, ...others])].slice(0, 3);
  return offered.map((name) => ({
    title: `Change ${variable.name} to ${name}`,
    edits: [replace(variable.span, name)],
    isPreferred: like.length === 1 && like[0] === name,
  }));
}

function ofUnsafe(found: Case): Fix[] {
  const variable = variableOf(found);
  const statement = found.read.statements.find(({ span }) => overlaps(span, found.place));
  if (variable === undefined) {
    // A fact with a variable is no parsed statement: only its position is known.
    const word = found.text.slice(found.place.start, found.place.end);
    if (!/^\?[\p{L}\p{N}_]+$/u.test(word) || word === '?_') return [];
    return [
      {
        title: `Write the constant ${word.slice(1)}`,
        edits: [replace(found.place, word.slice(1))],
        isPreferred: true,
      },
    ];
  }
  const fixes: Fix[] = [];
  if (variable.within === 'absence') {
    const isOnlyHere =
      found.read.variables.filter(
        ({ name, statement: index }) => name === variable.name && index === variable.statement,
      ).length === 1;
    fixes.push({
      title: `Let it be anything: write ?_ in place of ${variable.name}`,
      edits: [replace(variable.span, '?_')],
      isPreferred: isOnlyHere,
    });
  }
  return statement === undefined ? fixes : [...fixes, ...otherVariables(found, variable)];
}

function ofSingleton(found: Case): Fix[] {
  const variable = variableOf(found);
  if (variable === undefined) return [];
  const { name, span, within, statement } = variable;
  const like = likest(name, boundIn(found.read, statement), 2).map((other) => ({
    title: `Change ${name} to ${other}`,
    edits: [replace(span, other)],
    isPreferred: false,
  }));
  if (within !== 'atom' && within !== 'absence') return like;
  return [
    { title: `It may be anything: write ?_`, edits: [replace(span, '?_')], isPreferred: like.length === 0 },
    {
      title: `Keep the name: write ?_${name.slice(1)}`,
      edits: [replace(span, `?_${name.slice(1)}`)],
      isPreferred: false,
    },
    ...like,
  ];
}

/** The known arities of a predicate, apart from the diagnosed occurrence. */
function aritiesOf({ known, read, diagnostic }: Case, use: PredicateUse): number[] {
  const elsewhere = read.predicates.filter((other) => other.name === use.name && other !== use);
  const arities = new Set(
    [...known.filter(({ name }) => name === use.name), ...elsewhere].map(({ arity }) => arity),
  );
  return [...arities]
    .filter((arity) => diagnostic.message.includes(`${use.name}/${arity}`))
    .sort((a, b) => a - b);
}

function toArity(found: Case, use: PredicateUse, arity: number): Fix[] {
  const { text } = found;
  const { terms, span, whole, role, name } = use;
  const last = terms.at(-1);
  if (arity < terms.length) {
    const kept = terms[arity - 1];
    const from = kept === undefined ? span.end + 1 : kept.end;
    const taken = terms.slice(arity).map((term) => text.slice(term.start, term.end));
    return [
      {
        title: `Take out ${taken.join(', ')}: ${name}/${arity}`,
        edits: [{ start: from, end: last?.end ?? from, text: '' }],
        isPreferred: false,
      },
    ];
  }
  // A fact needs constants and a head bound variables, which only the user can supply.
  if (role !== 'body') return [];
  const added = Array.from({ length: arity - terms.length }, () => '?_').join(', ');
  const edit =
    last !== undefined
      ? { start: last.end, end: last.end, text: `, ${added}` }
      : { start: span.end, end: whole.end, text: `(${added})` };
  return [{ title: `Add ${added}: ${name}/${arity}`, edits: [edit], isPreferred: false }];
}

function ofArity(found: Case): Fix[] {
  const use = predicateOf(found);
  if (use === undefined) return [];
  const arities = aritiesOf(found, use).filter((arity) => arity !== use.arity);
  return arities.slice(0, 3).flatMap((arity) => toArity(found, use, arity));
}

function changeName(found: Case, use: PredicateUse, names: readonly string[]): Fix[] {
  return names.map((name) => ({
    title: `Change ${use.name} to ${name}`,
    edits: [replace(found.place, name)],
    isPreferred: names.length === 1,
  }));
}

function namesIn({ known, read }: Case, arity: number | null): string[] {
  const inText = read.predicates.filter(({ role }) => role !== 'body');
  return [...known, ...inText]
    .filter((predicate) => arity === null || predicate.arity === arity)
    .map(({ name }) => name);
}

function ofCase(found: Case): Fix[] {
  const use = predicateOf(found);
  if (use === undefined) return [];
  const lower = use.name.toLowerCase();
  const spellings = namesIn(found, null).filter((name) => name !== use.name && name.toLowerCase() === lower);
  return changeName(found, use, [...new Set(spellings)]);
}

function ofUnknown(found: Case): Fix[] {
  const use = predicateOf(found);
  if (use === undefined) return [];
  return changeName(found, use, likest(use.name, namesIn(found, use.arity), 3));
}

function ofDuplicate({ text, place, diagnostic }: Case): Fix[] {
  const title =
    diagnostic.severity === 'info' ? 'Take it out: it is taught already' : 'Take out the repetition';
  return [{ title, edits: [statementEdit(text, place)], isPreferred: true }];
}

/** Removes the premise that closes a cycle through negation, if the rule stays valid without it. */
function ofCycle({ text, read, place }: Case): Fix[] {
  const statement = read.statements.find(({ span }) => span.start <= place.start && place.end <= span.end);
  const rule = statement?.rule ?? null;
  if (statement === undefined || rule === null || rule.body.length < 2) return [];
  const index = statement.body.findIndex(({ span }) => span.start <= place.start && place.end <= span.end);
  const source = statement.body[index];
  const others = rule.body.filter((_, other) => other !== index);
  if (source === undefined || ruleProblems({ head: rule.head, body: others }).length > 0) return [];
  const next = statement.body[index + 1];
  const before = statement.body[index - 1];
  const span =
    next === undefined
      ? { start: before?.span.end ?? source.span.start, end: source.span.end }
      : { start: source.span.start, end: next.span.start };
  const premise = text.slice(source.span.start, source.span.end);
  return [{ title: `Break the cycle: take out ${premise}`, edits: [replace(span, '')], isPreferred: false }];
}

/** The declared name that the message proposes. */
function ofArgument({ diagnostic, place }: Case): Fix[] {
  const meant = /Did you mean ([\p{L}\p{N}_]+)\?$/u.exec(diagnostic.message)?.[1];
  if (meant === undefined) return [];
  return [{ title: `Change it to ${meant}`, edits: [replace(place, meant)], isPreferred: true }];
}

const fixesByCode: Record<Diagnostic['code'], (found: Case) => Fix[]> = {
  syntax: ofSyntax,
  unknown_argument: ofArgument,
  unsafe_variable: ofUnsafe,
  arity_drift: ofArity,
  unknown_predicate: ofUnknown,
  near_miss_case: ofCase,
  singleton_variable: ofSingleton,
  negative_cycle: ofCycle,
  duplicate: ofDuplicate,
};

/**
 * Returns a function from diagnostics to fixes, most likely first. `readText`: the text as it is parsed, called once;
 * `known`: the existing predicates.
 */
export function fixerOf(
  text: string,
  readText: () => ParsedText,
  known: Vocabulary,
): (diagnostic: Diagnostic) => Fix[] {
  let read: ParsedText | null = null;
  return (diagnostic) => {
    const place = {
      start: offsetAt(text, diagnostic.startLine, diagnostic.startColumn),
      end: offsetAt(text, diagnostic.endLine, diagnostic.endColumn),
    };
    read ??= readText();
    return fixesByCode[diagnostic.code]({ text, read, place, known, diagnostic });
  };
}
