/**
 * Diagnostics of the files of a package: of each file for itself, against what the others bring.
 *
 * What is there twice is shown where it comes the second time, in the order of the files. A cycle through several files is
 * shown in each of them, at its own rules. What only tests suppose is known to that file alone.
 */
import type { Declaration } from '../engine/contract/declarations.ts';
import type { Diagnostic } from '../engine/contract/rules.ts';
import { isOfType, misfit } from '../engine/language/argument-types.ts';
import { ruleProblems } from '../engine/language/check.ts';
import { diagnosisOf, type PredicateOccurrence } from '../engine/language/diagnose.ts';
import { renderConstraint } from '../engine/language/print.ts';
import { type NegativeCycle, negativeCycles } from '../engine/language/stratify.ts';
import type { Span } from '../engine/language/source.ts';
import { type KnowledgeFile, predicateKey } from './knowledge-file.ts';

/** A file with its name among those of its package. */
export interface EditedFile {
  readonly name: string;
  readonly file: KnowledgeFile;
}

/** A problem of a file; facts and tests can be at odds with declarations, too. */
export interface FileDiagnostic extends Omit<Diagnostic, 'code'> {
  readonly code: Diagnostic['code'] | 'wrong_type' | 'key_conflict' | 'unknown_violation';
}

interface Finding extends Pick<FileDiagnostic, 'severity' | 'code' | 'message'> {
  readonly span: Span;
}

interface KnownPredicate {
  readonly name: string;
  readonly arity: number;
  isDeclared: boolean;
  /** Files that have a fact, a rule or a declaration of it. */
  files: number;
}

/** Facts and rules looked at between two yields. */
const statementsOfStep = 256;

/** What the files of a package are diagnosed against, worked out once for all of them. */
export class PackageContext {
  readonly #cycles: readonly NegativeCycle[];
  /** By name in lower case, then by name and arity. */
  readonly #predicates = new Map<string, Map<string, KnownPredicate>>();
  readonly #declarations = new Map<string, Declaration>();
  readonly #violations = new Set<string>();
  /** What earlier files have already. */
  readonly #twice = new Map<EditedFile, Finding[]>();
  readonly #signature: string;

  private constructor(files: readonly EditedFile[]) {
    const bringing = files.filter(({ file }) => !file.isTest);
    this.#cycles = cyclesOf(bringing);
    this.#signature = files.map(({ name, file }) => `${name}\n${file.signature}`).join('\n');
    for (const { file } of bringing) this.#know(file);
  }

  /** Reads the files of a package, in the order of their names, in small steps. */
  static *of(files: readonly EditedFile[]): Generator<'more', PackageContext, undefined> {
    const context = new PackageContext(files);
    const earlier = new EarlierStatements(context.#declarations);
    for (const each of files) context.#twice.set(each, yield* earlier.alsoIn(each));
    return context;
  }

  #know(file: KnowledgeFile): void {
    for (const { declaration } of file.declared) {
      const key = predicateKey(declaration);
      if (!this.#declarations.has(key)) this.#declarations.set(key, declaration);
      this.#violations.add(declaration.name);
    }
    for (const [key, { name, arity }] of file.concluded) {
      const lower = name.toLowerCase();
      const spelled = this.#predicates.get(lower) ?? new Map<string, KnownPredicate>();
      const known = spelled.get(key) ?? { name, arity, isDeclared: false, files: 0 };
      known.files++;
      this.#predicates.set(lower, spelled.set(key, known));
    }
    for (const { declaration } of file.declared) {
      const known = this.#predicates.get(declaration.name.toLowerCase())?.get(predicateKey(declaration));
      if (known !== undefined) known.isDeclared = true;
    }
    for (const item of file.parsed.items) {
      if (item.kind !== 'constraint') continue;
      this.#violations.add(renderConstraint(item.literals));
      if (item.reason !== null) this.#violations.add(item.reason);
    }
  }

  /** Equal to that of an earlier package if the same file has the same diagnostics. */
  environmentOf(edited: EditedFile): string {
    const twice = this.#twice.get(edited) ?? [];
    return [this.#signature, ...twice.map(({ message }) => message)].join('\n');
  }

  /** Finds the problems of one file of the package in small steps, in text order. */
  *diagnose(edited: EditedFile): Generator<'more', FileDiagnostic[], undefined> {
    const { file } = edited;
    const { items, errors, lines } = file.parsed;
    const brings = file.isTest ? [] : items;
    const parsed = {
      statements: brings.filter((item) => item.kind === 'fact' || item.kind === 'rule'),
      constraints: brings.filter((item) => item.kind === 'constraint'),
      errors,
      lines,
    };
    const known = { predicates: this.#elsewhere(file), rules: [], cycles: this.#cycles };
    const { diagnostics } = yield* diagnosisOf(parsed, known, occurrencesOf(file));
    const findings = [
      ...file.wrong.map((each): Finding => ({ severity: 'error', code: 'syntax', ...each })),
      ...(this.#twice.get(edited) ?? []),
      ...misfitsIn(file, this.#declarations),
      ...this.#unknownViolations(file),
    ];
    return [
      ...findings.map(({ span, ...each }): FileDiagnostic => ({ ...each, ...lines.range(span) })),
      ...diagnostics,
    ].sort((left, right) => left.startLine - right.startLine || left.startColumn - right.startColumn);
  }

  /** The predicates with names that the file uses, however spelled, which are declared or which another file has. */
  *#elsewhere(file: KnowledgeFile): Generator<{ readonly name: string; readonly arity: number }> {
    for (const lower of new Set(file.predicates.map(({ name }) => name.toLowerCase())))
      for (const [key, known] of this.#predicates.get(lower) ?? []) {
        const own = !file.isTest && file.concluded.has(key) ? 1 : 0;
        if (known.isDeclared || known.files > own) yield known;
      }
  }

  #unknownViolations(file: KnowledgeFile): Finding[] {
    return file.parsed.items.flatMap((item) =>
      (item.kind === 'test' ? item.expectations : []).flatMap((each): Finding[] =>
        (each.kind !== 'violation' && each.kind !== 'noViolation') || this.#violations.has(each.name)
          ? []
          : [
              {
                severity: 'warning',
                code: 'unknown_violation',
                message: `no constraint and no declared predicate has the name ${JSON.stringify(each.name)}`,
                span: each.nameSpan,
              },
            ],
      ),
    );
  }
}

/** The cycles in rules that can be taught. */
function cyclesOf(files: readonly EditedFile[]): NegativeCycle[] {
  const rules = files.flatMap(({ file }) => file.rules.map((rule) => ({ rule, scope: null, id: '' })));
  // Usually there is none, and then no rule needs a check.
  const cycles = negativeCycles(rules);
  return cycles.length === 0
    ? []
    : negativeCycles(rules.filter(({ rule }) => ruleProblems(rule).length === 0));
}

/** What a fact, a head or a test has makes a predicate known; declarations are known anyway. */
function occurrencesOf({ predicates }: KnowledgeFile): PredicateOccurrence[] {
  return predicates
    .filter(({ role }) => role !== 'declaration')
    .map(({ name, arity, span, role }) => ({
      name,
      arity,
      span,
      concludes: role !== 'body' && role !== 'answer',
    }));
}

/** Arguments of facts that are not of their declared types. */
function misfitsIn(file: KnowledgeFile, declarations: ReadonlyMap<string, Declaration>): Finding[] {
  return file.facts.flatMap(({ atom: { predicate: name, args }, head }): Finding[] => {
    const declaration = declarations.get(predicateKey({ name, arity: args.length }));
    if (declaration === undefined) return [];
    return declaration.arguments.flatMap((argument, at): Finding[] => {
      const value = args[at] as string;
      if (isOfType(argument.type, value)) return [];
      const severity = declaration.check === 'reject' ? 'error' : 'warning';
      const message = `${predicateKey(declaration)} is declared otherwise: ${misfit(argument, value)}`;
      return [{ severity, code: 'wrong_type', message, span: head.terms[at] ?? head.span }];
    });
  });
}

/** What files have had so far. */
class EarlierStatements {
  readonly #declarations: ReadonlyMap<string, Declaration>;
  readonly #declared = new Map<string, EditedFile>();
  readonly #statements = new Map<string, EditedFile>();
  /** Facts by their value of a key. */
  readonly #keyed = new Map<string, { readonly text: string; readonly of: EditedFile }>();
  readonly #tests = new Map<string, EditedFile>();

  constructor(declarations: ReadonlyMap<string, Declaration>) {
    this.#declarations = declarations;
  }

  /** What the next file has, and an earlier one too; keys and declarations also within the file. */
  *alsoIn(edited: EditedFile): Generator<'more', Finding[], undefined> {
    const { file } = edited;
    const found: Finding[] = [];
    for (const { declaration, statement } of file.declared) {
      const key = predicateKey(declaration);
      const first = firstIn(this.#declared, key, edited);
      if (first === null) continue;
      const where = first === edited ? 'in this file' : `in ${first.name}`;
      const message = `${key} is declared ${where} already: remove one of the two`;
      found.push({ severity: 'error', code: 'duplicate', message, span: statement.name });
    }
    for (const item of file.isTest ? file.parsed.items : []) {
      if (item.kind !== 'test') continue;
      const first = firstIn(this.#tests, item.name, edited);
      // In one file the parser says so.
      if (first === null || first === edited) continue;
      const message = `another test has this name, in ${first.name}`;
      found.push({ severity: 'error', code: 'duplicate', message, span: item.nameSpan });
    }
    for (const { identity, span } of file.rules) {
      const first = firstIn(this.#statements, `${identity} rule`, edited);
      if (first !== null && first !== edited) found.push(statedIn(first, 'rule', span));
    }
    for (const [index, fact] of file.facts.entries()) {
      if (index % statementsOfStep === 0) yield 'more';
      const first = firstIn(this.#statements, fact.text, edited);
      if (first === null) found.push(...this.#conflict(fact, edited));
      else if (first !== edited) found.push(statedIn(first, 'fact', fact.span));
    }
    return found;
  }

  /** Another fact with the same value of the key. */
  #conflict({ atom, text, head }: KnowledgeFile['facts'][number], edited: EditedFile): Finding[] {
    const name = predicateKey({ name: atom.predicate, arity: atom.args.length });
    const declaration = this.#declarations.get(name);
    if (declaration === undefined || declaration.key.length === 0 || atom.negated) return [];
    const { arguments: declared, key, onConflict } = declaration;
    const values = atom.args.filter((_, at) => key.includes(declared[at]?.name ?? ''));
    const holder = JSON.stringify([name, ...values]);
    const first = this.#keyed.get(holder);
    if (first === undefined) {
      this.#keyed.set(holder, { text, of: edited });
      return [];
    }
    const where = first.of === edited ? '' : ` in ${first.of.name}`;
    const message = `${first.text}${where} has the same value of the key of ${name}: ${key.join(', ')}`;
    const severity = onConflict === 'warn' ? 'warning' : 'error';
    return [{ severity, code: 'key_conflict', message, span: head.span }];
  }
}

/** The first file with this key; null: it is the first now. */
function firstIn(seen: Map<string, EditedFile>, key: string, edited: EditedFile): EditedFile | null {
  const first = seen.get(key);
  if (first !== undefined) return first;
  seen.set(key, edited);
  return null;
}

function statedIn({ name }: EditedFile, what: 'fact' | 'rule', span: Span): Finding {
  const message = `this ${what} stands in ${name} already: remove one of the two`;
  return { severity: 'warning', code: 'duplicate', message, span };
}
