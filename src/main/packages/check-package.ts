/**
 * All diagnostics of a package: syntax, declarations, safety, stratification over all files, and what is probably a slip.
 *
 * The files are diagnosed as one text: the positions of each are moved behind those of the files before it, and moved back
 * in the result.
 */
import type { Diagnostic } from '../../engine/contract/rules.ts';
import {
  type ConstraintStatement,
  compareText,
  diagnosisOf,
  type KnowledgeTest,
  type LiteralSource,
  occurrencesIn,
  runAtOnce,
  type Span,
  type Statement,
} from '../../engine/index.ts';
import type { KnowledgePackage, PackageFile } from './read-package.ts';

/** A diagnostic in one of the files of a package. */
export interface PackageDiagnostic extends Diagnostic {
  readonly path: string;
}

/** The diagnostics in the order of the files and of their texts; of more than 1000 the errors come first. */
export function checkPackage({ files, declarations }: KnowledgePackage): PackageDiagnostic[] {
  const joined = new JoinedFiles(files);
  const statements: Statement[] = [];
  const constraints: ConstraintStatement[] = [];
  const goals: ConstraintStatement[] = [];
  const given: { name: string; arity: number }[] = [];
  for (const file of files) {
    const by = joined.offsetOf(file);
    for (const item of file.items) {
      if (item.kind === 'test') {
        goals.push(...goalsOf(item, by));
        for (const { predicate, args } of item.given) given.push({ name: predicate, arity: args.length });
      } else if (file.isTests) continue;
      else if (item.kind === 'fact' || item.kind === 'rule') statements.push(movedStatement(item, by));
      else if (item.kind === 'constraint') constraints.push(movedConstraint(item, by));
    }
  }
  const errors = files.flatMap((file) => {
    const by = joined.offsetOf(file);
    return file.errors.map((error) => ({ ...error, span: movedSpan(error.span, by) }));
  });
  const declared = declarations.map(({ declaration: { name, arity } }) => ({ name, arity }));
  const read = { statements, constraints, errors, lines: joined };
  const known = { predicates: [...declared, ...given], rules: [] };
  const uses = occurrencesIn(statements, [...constraints, ...goals]);
  const { diagnostics } = runAtOnce(diagnosisOf(read, known, uses));
  return [
    ...diagnostics.map((each) => joined.placed(each)),
    ...twice(declarations),
    ...testsTwice(files),
  ].sort(
    (left, right) =>
      compareText(left.path, right.path) ||
      left.startLine - right.startLine ||
      left.startColumn - right.startColumn,
  );
}

/** The positions of all files, one behind another. */
class JoinedFiles {
  readonly #files: readonly PackageFile[];
  /** Of each file: the offset of its first character, and the number of lines before it. */
  readonly #offsets: number[] = [];
  readonly #lines: number[] = [];
  readonly #at = new Map<PackageFile, number>();

  constructor(files: readonly PackageFile[]) {
    this.#files = files;
    let offset = 0;
    let lines = 0;
    for (const [at, file] of files.entries()) {
      this.#offsets.push(offset);
      this.#lines.push(lines);
      this.#at.set(file, at);
      const { length } = file.text;
      offset += length + 1;
      lines += file.lines.range({ start: length, end: length }).startLine;
    }
  }

  offsetOf(file: PackageFile): number {
    return this.#offsets[this.#at.get(file) ?? 0] as number;
  }

  range({ start, end }: Span) {
    const at = lastUpTo(this.#offsets, start);
    const by = this.#offsets[at] as number;
    const lines = this.#lines[at] as number;
    const { startLine, endLine, ...columns } = (this.#files[at] as PackageFile).lines.range({
      start: start - by,
      end: end - by,
    });
    return { startLine: startLine + lines, endLine: endLine + lines, ...columns };
  }

  placed(diagnostic: Diagnostic): PackageDiagnostic {
    const at = lastUpTo(this.#lines, diagnostic.startLine - 1);
    const lines = this.#lines[at] as number;
    const { path } = this.#files[at] as PackageFile;
    const { startLine, endLine } = diagnostic;
    return { ...diagnostic, path, startLine: startLine - lines, endLine: endLine - lines };
  }
}

/** The position of the last of these ascending numbers that is at most `limit`. */
function lastUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] as number) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

function movedSpan({ start, end }: Span, by: number): Span {
  return { start: start + by, end: end + by };
}

function movedSource({ span, name, terms, body }: LiteralSource, by: number): LiteralSource {
  return {
    span: movedSpan(span, by),
    name: movedSpan(name, by),
    terms: terms.map((term) => movedSpan(term, by)),
    body: movedSources(body, by),
  };
}

function movedSources(sources: readonly LiteralSource[], by: number): LiteralSource[] {
  return sources.map((source) => movedSource(source, by));
}

function movedStatement(statement: Statement, by: number): Statement {
  const moved = { span: movedSpan(statement.span, by), head: movedSource(statement.head, by) };
  return statement.kind === 'fact'
    ? { ...statement, ...moved }
    : { ...statement, ...moved, body: movedSources(statement.body, by) };
}

function movedConstraint(constraint: ConstraintStatement, by: number): ConstraintStatement {
  const { span, body } = constraint;
  return { ...constraint, span: movedSpan(span, by), body: movedSources(body, by) };
}

/** The goals of a test, as bodies whose predicates should be known. */
function goalsOf({ expectations }: KnowledgeTest, by: number): ConstraintStatement[] {
  return expectations.flatMap((each) =>
    'goal' in each
      ? [
          {
            kind: 'constraint',
            literals: [...each.goal],
            reason: null,
            span: each.span,
            body: movedSources(each.body, by),
          },
        ]
      : [],
  );
}

/** Declarations of a predicate that is declared before. */
function twice(declarations: KnowledgePackage['declarations']): PackageDiagnostic[] {
  const first = new Map<string, string>();
  return declarations.flatMap(({ declaration: { name, arity }, file, name: place }) => {
    const key = `${name}/${arity}`;
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, `${file.path}:${file.lines.range(place).startLine}`);
      return [];
    }
    return [
      errorAt(file, place, 'duplicate', `${key} is declared in ${earlier} already: remove one of the two`),
    ];
  });
}

/** Tests that have the name of one in an earlier file. */
function testsTwice(files: readonly PackageFile[]): PackageDiagnostic[] {
  const first = new Map<string, PackageFile>();
  return files.flatMap((file) =>
    file.items.flatMap((item) => {
      if (item.kind !== 'test') return [];
      const earlier = first.get(item.name);
      if (earlier === undefined) first.set(item.name, file);
      // In one file the parser says so.
      if (earlier === undefined || earlier === file) return [];
      return [errorAt(file, item.nameSpan, 'duplicate', `another test has this name, in ${earlier.path}`)];
    }),
  );
}

function errorAt(
  file: PackageFile,
  span: Span,
  code: Diagnostic['code'],
  message: string,
): PackageDiagnostic {
  return { severity: 'error', code, message, ...file.lines.range(span), path: file.path };
}
