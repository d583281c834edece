/**
 * A file of a package as editors see it: its items, the position of every name in them, and what it brings.
 *
 * Extends `ParsedText`, so that whatever works on the text of an editor works on a file. Every expectation and every
 * `given` of a test is a statement of its own, since its variables are.
 */
import type { Declaration } from '../engine/contract/declarations.ts';
import type { Rule } from '../engine/contract/language.ts';
import { importedDeclarationSchema } from '../engine/contract/transfer.ts';
import type { ArgumentNames } from '../engine/language/argument-names.ts';
import type { DeclarationStatement } from '../engine/language/declaration-text.ts';
import {
  type KnowledgeItem,
  type KnowledgeText,
  knowledgeTextSteps,
} from '../engine/language/knowledge-text.ts';
import { renderAtom, renderConstraint, renderRule, ruleIdentity } from '../engine/language/print.ts';
import type { LiteralSource, Span } from '../engine/language/source.ts';
import type { Expectation, ExpectedAnswer, KnowledgeTest } from '../engine/language/test-text.ts';
import { type ParsedText, type ReadStatement, SymbolUses } from './read-text.ts';

/** A declaration of a file. */
export interface DeclaredInFile {
  readonly declaration: Declaration;
  readonly statement: DeclarationStatement;
}

/** A fact of a file, and its text as the language renders it. */
export type FactInFile = Extract<KnowledgeItem, { readonly kind: 'fact' }> & { readonly text: string };

/** A rule of a file. */
export interface RuleInFile extends Rule {
  readonly text: string;
  /** Equal for rules that are the same. */
  readonly identity: string;
  readonly span: Span;
}

/** What can be parsed and is refused all the same. */
export interface RefusedStatement {
  readonly message: string;
  readonly span: Span;
}

/** What a file says of one predicate. */
export interface PredicateInFile {
  readonly name: string;
  readonly arity: number;
  facts: number;
  rules: number;
  /** The first facts as text. */
  readonly samples: string[];
}

/** A file as far as it could be parsed. */
export interface KnowledgeFile extends ParsedText {
  readonly text: string;
  readonly isTest: boolean;
  readonly parsed: KnowledgeText;
  readonly declared: readonly DeclaredInFile[];
  /** Where the file is not text, wrong declarations, and what cannot stand in a file of tests. */
  readonly wrong: readonly RefusedStatement[];
  /** Predicates that a fact, a rule's head or a declaration has, by name/arity. */
  readonly concluded: ReadonlyMap<string, PredicateInFile>;
  readonly rules: readonly RuleInFile[];
  /** In text order. */
  readonly facts: readonly FactInFile[];
  /** Equal to that of an earlier version of the file if nothing changed that other files are checked against. */
  readonly signature: string;
}

/** Facts that a description of a predicate shows. */
export const maxSamples = 3;
const itemsOfStep = 256;

/** The name of a predicate among predicates of any arity. */
export function predicateKey({ name, arity }: { readonly name: string; readonly arity: number }): string {
  return `${name}/${arity}`;
}

/**
 * Reads a file in small steps. `names`: of the arguments that the package declares; `cutOff`: why the text ends before the
 * file does.
 */
export function* knowledgeFileSteps(
  text: string,
  isTest: boolean,
  names: ArgumentNames,
  cutOff: string | null = null,
): Generator<'more', KnowledgeFile, undefined> {
  const parsed = yield* knowledgeTextSteps(text, { tests: isTest, names, maxErrors: 1000 });
  const reading = new FileReading(text, isTest);
  if (cutOff !== null)
    reading.wrong.push({ message: cutOff, span: { start: text.length, end: text.length } });
  for (const [index, item] of parsed.items.entries()) {
    if (index % itemsOfStep === 0) yield 'more';
    reading.item(item);
  }
  const { statements, uses, declared, wrong, concluded, rules, facts } = reading;
  const signature = [
    ...[...concluded.keys()].sort(),
    ...declared.map(({ declaration }) => JSON.stringify(declaration)),
    ...rules.map((rule) => rule.text),
    ...parsed.items.flatMap((item) =>
      item.kind === 'constraint' ? [renderConstraint(item.literals), item.reason ?? ''] : [],
    ),
  ].join('\n');
  return {
    text,
    isTest,
    parsed,
    statements,
    predicates: uses.predicates,
    variables: uses.variables,
    isWhole: parsed.errors.length === 0,
    declared,
    wrong,
    concluded,
    rules,
    facts,
    signature,
  };
}

type TestGoal = Extract<Expectation, { readonly goal: unknown }>;

/** Collects what a file says. */
class FileReading {
  readonly statements: ReadStatement[] = [];
  readonly uses = new SymbolUses(0);
  readonly declared: DeclaredInFile[] = [];
  readonly wrong: RefusedStatement[] = [];
  readonly concluded = new Map<string, PredicateInFile>();
  readonly rules: RuleInFile[] = [];
  readonly facts: FactInFile[] = [];
  readonly #text: string;
  readonly #isTest: boolean;

  constructor(text: string, isTest: boolean) {
    this.#text = text;
    this.#isTest = isTest;
  }

  item(item: KnowledgeItem): void {
    const { uses } = this;
    if (this.#isTest && item.kind !== 'test') {
      const message = `a file of tests has tests alone: suppose this ${item.kind} with given, or write it in another file`;
      this.wrong.push({ message, span: item.span });
      return;
    }
    const index = this.statements.length;
    switch (item.kind) {
      case 'fact': {
        const predicate = this.#predicate(item.atom.predicate, item.atom.args.length);
        const text = renderAtom(item.atom);
        predicate.facts++;
        if (predicate.samples.length < maxSamples) predicate.samples.push(text);
        this.facts.push({ ...item, text });
        uses.atom(item.atom, item.head, 'fact', index);
        this.#add('fact', item.span, { atom: item.atom });
        return;
      }
      case 'rule': {
        const { rule, head, body, span } = item;
        this.#predicate(rule.head.predicate, rule.head.args.length).rules++;
        this.rules.push({ ...rule, text: renderRule(rule), identity: ruleIdentity(rule), span });
        uses.atom(rule.head, head, 'head', index);
        uses.terms(rule.head.args, head.terms, { within: 'head', statement: index, depth: 0 });
        uses.body(rule.body, body, index, 0);
        this.#add('rule', span, { atom: rule.head, rule, body });
        return;
      }
      case 'constraint':
        uses.body(item.literals, item.body, index, 0);
        this.#add('constraint', item.span, { body: item.body });
        return;
      case 'declaration':
        this.#declaration(item, index);
        return;
      case 'test':
        this.#test(item);
    }
  }

  #add(
    kind: ReadStatement['kind'],
    span: Span,
    { atom = null, rule = null, body = [] }: Partial<Pick<ReadStatement, 'atom' | 'rule' | 'body'>>,
  ): void {
    this.statements.push({ kind, span, atom, rule, body });
  }

  #predicate(name: string, arity: number): PredicateInFile {
    const key = predicateKey({ name, arity });
    const known = this.concluded.get(key);
    if (known !== undefined) return known;
    const added = { name, arity, facts: 0, rules: 0, samples: [] };
    this.concluded.set(key, added);
    return added;
  }

  #declaration(statement: DeclarationStatement, index: number): void {
    const { declared, name: span, span: whole } = statement;
    const { name, arity } = declared;
    this.#predicate(name, arity);
    this.uses.predicates.push({
      kind: 'predicate',
      name,
      arity,
      negated: false,
      role: 'declaration',
      span,
      whole,
      terms: statement.arguments,
      statement: index,
    });
    this.#add('declaration', whole, {});
    const checked = importedDeclarationSchema.safeParse({ declare: declared });
    if (checked.success) {
      this.declared.push({ declaration: checked.data, statement });
      return;
    }
    for (const { message, path } of checked.error.issues) {
      const [, field, at] = path;
      const argument = field === 'arguments' && typeof at === 'number' ? statement.arguments[at] : undefined;
      this.wrong.push({ message, span: argument ?? span });
    }
  }

  #test({ statements }: KnowledgeTest): void {
    for (const statement of statements) {
      const { kind, span } = statement;
      const index = this.statements.length;
      switch (kind) {
        case 'given':
          for (const { atom, source } of statement.atoms) this.uses.atom(atom, source, 'given', index);
          this.#add('given', span, {});
          break;
        case 'violation':
        case 'noViolation':
          this.#add('question', span, {});
          break;
        case 'answers':
          this.#goal(statement, index);
          for (const answer of statement.answers) this.#answer(answer, index);
          break;
        case 'answer':
        case 'noAnswer':
          this.#goal(statement, index);
      }
    }
  }

  #goal({ goal, body, span }: TestGoal, index: number): void {
    this.uses.body(goal, body, index, 0);
    this.#add('question', span, { body });
  }

  /** The predicate of an answer that is an atom; its arguments are constants. */
  #answer(answer: ExpectedAnswer, statement: number): void {
    if (answer.kind !== 'atom') return;
    const { atom, span } = answer;
    const start = span.start + (this.#text[span.start] === '-' ? 1 : 0);
    const source: LiteralSource = {
      span,
      name: { start, end: start + atom.predicate.length },
      terms: [],
      body: [],
    };
    this.uses.atom(atom, source, 'answer', statement);
  }
}
