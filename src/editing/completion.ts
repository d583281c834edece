/**
 * Completions at a position: declared names of arguments, predicates with arity and counts, variables of the statement, keywords.
 *
 * Pure functions over text and knowledge; offsets are UTF-16 units. The editor shows the results.
 */
import type { Declaration } from '../engine/contract/declarations.ts';
import type { Literal, Rule } from '../engine/contract/language.ts';
import { renderDeclaration } from '../engine/language/declaration-text.ts';
import { isAggregate } from '../engine/language/terms.ts';
import { lexLine } from './lexer.ts';

/** A predicate as completion and hover describe it. */
export interface DescribedPredicate {
  readonly name: string;
  readonly arity: number;
  /** Stored facts, of both truth values. */
  readonly facts: number;
  /** Rules that conclude it. */
  readonly rules: number;
  readonly scopes: readonly (string | null)[];
  /** A rendered fact; null: none. */
  readonly example: string | null;
  readonly declaration?: Declaration | undefined;
  /** Names of the files that bring it; absent: it is stored. */
  readonly origins?: readonly string[];
}

/** The predicates and rules that completion and hover know, of a knowledge base or of a package. */
export interface DescribedKnowledge<Predicate extends DescribedPredicate = DescribedPredicate> {
  readonly predicates: readonly Predicate[];
  readonly rules: readonly (Rule & { readonly text: string })[];
}

/** One completion. */
export interface Suggestion {
  readonly kind: 'predicate' | 'variable' | 'argument' | 'keyword';
  readonly label: string;
  readonly detail: string;
  /** A snippet; `${1:?x}` marks placeholders. */
  readonly insert: string;
  readonly documentation?: string;
}

/** Completions at a position. */
export interface Completions {
  /** Start of the text that a suggestion replaces. */
  readonly from: number;
  readonly suggestions: readonly Suggestion[];
}

const none: Completions = { from: 0, suggestions: [] };
const variable = /\?[\p{L}\p{N}_]+/gu;
const wordBefore = /[^\s(){},;"'`<>=]*$/;

/** Returns the start of the statement at `offset`: after the last full stop that ends one. */
export function statementStart(text: string, offset: number): number {
  let start = 0;
  let isOpen = false;
  let at = 0;
  for (const line of text.slice(0, offset).split('\n')) {
    const lexed = lexLine(line, isOpen);
    isOpen = lexed.isOpen;
    for (const token of lexed.tokens)
      if (token.kind === 'operator' && line[token.start] === '.') start = at + token.end;
    at += line.length + 1;
  }
  return start;
}

/** Returns the variables of the statement at `offset`, by first occurrence. */
export function variablesAround(text: string, offset: number): string[] {
  const rest = text.slice(statementStart(text, offset));
  const end = rest.search(/\.(?:\s|$)/);
  const statement = end < 0 ? rest : rest.slice(0, end);
  return [...new Set(statement.match(variable) ?? [])];
}

/** The syntactic position at `offset`: in an argument list, at a literal, or in a string or comment. */
function placeAt(text: string, offset: number): 'argument' | 'literal' | 'nowhere' {
  let isOpen = false;
  const lines = text.slice(0, offset).split('\n');
  for (const [index, line] of lines.entries()) {
    const lexed = lexLine(line, isOpen);
    isOpen = lexed.isOpen;
    const last = lexed.tokens.at(-1);
    if (index < lines.length - 1 || last === undefined) continue;
    if (last.kind === 'comment') return 'nowhere';
    if (last.kind === 'string' && !/[^\\]"$/.test(line)) return 'nowhere';
  }
  return isOpen ? 'argument' : 'literal';
}

function amount(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

function predicateDetail(predicate: DescribedPredicate): string {
  const parts = [`/${predicate.arity}`, amount(predicate.facts, 'fact')];
  if (predicate.rules > 0) parts.push(amount(predicate.rules, 'rule'));
  if (predicate.origins !== undefined) parts.push(filesInWords(predicate.origins));
  return parts.join(' · ');
}

/** Files that are named; the rest is counted. */
const maxNamedFiles = 2;

function filesInWords(origins: readonly string[]): string {
  const more = origins.length - maxNamedFiles;
  return `${origins.slice(0, maxNamedFiles).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function escapeSnippet(text: string): string {
  return text.replace(/[\\$}]/g, '\\$&');
}

function documentationOf({ example, scopes, declaration }: DescribedPredicate): {
  documentation?: string;
} {
  const named = scopes.filter((scope) => scope !== null);
  const lines = [
    ...(declaration === undefined ? [] : [renderDeclaration(declaration)]),
    ...(example === null ? [] : [`For example ${example}`]),
    ...(named.length === 0 ? [] : [`In the scopes ${named.slice(0, 8).join(', ')}`]),
  ];
  return lines.length === 0 ? {} : { documentation: lines.join('\n') };
}

/** A predicate with placeholders for its arguments. */
export function predicateSuggestion(predicate: DescribedPredicate): Suggestion {
  const declared = predicate.declaration?.arguments.map(({ name }) => name) ?? [];
  const names = declared.length > 0 ? declared : ['x', 'y', 'z', 'u', 'v', 'w'];
  const places = Array.from(
    { length: predicate.arity },
    (_, index) => `\${${index + 1}:?${names[index] ?? `a${index + 1}`}}`,
  );
  return {
    kind: 'predicate',
    label: predicate.name,
    detail: predicateDetail(predicate),
    insert: `${escapeSnippet(predicate.name)}(${places.join(', ')})`,
    ...documentationOf(predicate),
  };
}

const keywords: readonly Suggestion[] = [
  { kind: 'keyword', label: 'not', detail: 'holds when nothing matches', insert: 'not ' },
  ...(['count', 'sum', 'min', 'max', 'avg'] as const).map(
    (name): Suggestion => ({
      kind: 'keyword',
      label: name,
      detail: 'aggregate',
      insert: `\${1:?n} = ${name} { \${2:?x} : $0 }`,
    }),
  ),
];

/** An atom with arguments by name that is still open: its predicate and what stands in its braces so far. */
const openBraces = /([^\s(){},;"'`]+)\{((?:[^{}"]|"(?:[^"\\]|\\.)*")*)$/;
/** Characters before the offset in which an open brace is looked for. */
const maxBraced = 4000;

/** The names of arguments that can stand at `offset`; null: it is not within braces, `value`: a value stands there. */
function argumentsAt(
  text: string,
  offset: number,
  { predicates }: DescribedKnowledge,
): Completions | 'value' | null {
  const before = text.slice(Math.max(statementStart(text, offset), offset - maxBraced), offset);
  const [, predicate = '', given = ''] = openBraces.exec(before) ?? [];
  const last = given.split(',').at(-1) ?? '';
  const declarations = predicates.flatMap(({ name, declaration }) =>
    name === predicate.replace(/^-/, '') && declaration !== undefined ? [declaration] : [],
  );
  if (declarations.length === 0) return null;
  if (!/^\s*[\p{L}\p{N}_]*$/u.test(last)) return 'value';
  const used = new Set([...given.matchAll(/([\p{L}\p{N}_]+)\s*:/gu)].map(([, name]) => name));
  const suggestions = new Map<string, Suggestion>();
  for (const { arguments: all } of declarations)
    for (const { name, type, description } of all) {
      if (used.has(name) || suggestions.has(name)) continue;
      suggestions.set(name, {
        kind: 'argument',
        label: name,
        detail: typeof type === 'string' ? type : type.oneOf.slice(0, 8).join(', '),
        insert: `${escapeSnippet(name)}: `,
        ...(description === null ? {} : { documentation: description }),
      });
    }
  return { from: offset - last.trimStart().length, suggestions: [...suggestions.values()] };
}

/** Returns the completions at `offset`: names of arguments in braces, variables in an argument list, otherwise predicates and keywords. */
export function completionsAt(text: string, offset: number, knowledge: DescribedKnowledge): Completions {
  const place = placeAt(text, offset);
  if (place === 'nowhere') return none;
  const named = argumentsAt(text, offset, knowledge);
  if (named !== null && named !== 'value') return named;
  const word = wordBefore.exec(text.slice(0, offset))?.[0] ?? '';
  const variables = variablesAround(text, offset)
    .filter((name) => name !== word)
    .map(
      (name): Suggestion => ({
        kind: 'variable',
        label: name,
        detail: 'variable',
        insert: escapeSnippet(name),
      }),
    );
  if (place === 'argument' || named === 'value' || word.startsWith('?'))
    return { from: offset - word.length, suggestions: variables };
  const sign = word.startsWith('-') ? 1 : 0;
  const predicates = [...knowledge.predicates]
    .sort((left, right) => right.facts + right.rules - left.facts - left.rules)
    .map(predicateSuggestion);
  return {
    from: offset - word.length + sign,
    suggestions: sign === 1 ? predicates : [...predicates, ...keywords],
  };
}

/** A predicate to describe; without `arity`, all predicates of that name. */
interface HoverSubject {
  readonly name: string;
  readonly arity: number | null;
  /** Rendered sample facts; if empty, the vocabulary's example is used. */
  readonly samples: readonly string[];
}

/** Maximum number of rules shown of each kind. */
const maxRules = 4;

function codeBlock(title: string, lines: readonly string[], count: number): string[] {
  if (lines.length === 0) return [];
  const more = count > lines.length ? `\n% ${count - lines.length} more` : '';
  return [`${title}\n\`\`\`corollary\n${lines.join('\n')}${more}\n\`\`\``];
}

function scopesInWords(scopes: readonly (string | null)[]): string {
  const named = scopes.filter((scope) => scope !== null);
  return named.length === 0 ? '' : ` · in ${amount(named.length, 'scope')}: ${named.slice(0, 5).join(', ')}`;
}

function readsFrom(body: readonly Literal[], name: string, arity: number): boolean {
  return body.some((literal) =>
    isAggregate(literal)
      ? readsFrom(literal.body, name, arity)
      : literal.predicate === name && literal.args.length === arity,
  );
}

/**
 * Returns a description of a predicate as Markdown; empty if unknown. `conclusionsOf`: the number of its conclusions in words;
 * null: it is not said.
 */
export function hoverAt<Predicate extends DescribedPredicate>(
  { name, arity, samples }: HoverSubject,
  knowledge: DescribedKnowledge<Predicate>,
  conclusionsOf: (predicate: Predicate) => string | null,
): string[] {
  const rows = knowledge.predicates.filter(
    (predicate) => predicate.name === name && (arity === null || predicate.arity === arity),
  );
  return rows.flatMap((predicate) => {
    const defining = knowledge.rules.filter(
      ({ head }) => head.predicate === name && head.args.length === predicate.arity,
    );
    const using = knowledge.rules.filter(({ body }) => readsFrom(body, name, predicate.arity));
    const example = predicate.example === null ? [] : [predicate.example];
    const facts = samples.length > 0 ? samples : example;
    const counts = [
      amount(predicate.facts, 'fact'),
      conclusionsOf(predicate),
      amount(predicate.rules, 'rule'),
    ]
      .filter((count) => count !== null)
      .join(' · ');
    const textOf = (rules: DescribedKnowledge['rules']) =>
      rules.slice(0, maxRules).map(({ text }) => `${text}.`);
    return [
      `**${name}/${predicate.arity}** — ${counts}${scopesInWords(predicate.scopes)}${predicate.origins === undefined ? '' : ` · in ${filesInWords(predicate.origins)}`}`,
      ...(predicate.declaration === undefined
        ? []
        : codeBlock('Declared', [renderDeclaration(predicate.declaration)], 1)),
      ...codeBlock(
        'Facts',
        facts.map((fact) => `${fact}.`),
        Math.max(facts.length, predicate.facts),
      ),
      ...codeBlock('Concluded by', textOf(defining), defining.length),
      ...codeBlock('Used by', textOf(using), using.length),
    ];
  });
}
