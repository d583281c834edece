/**
 * Diagnostics of the files of a package: of each file for itself, against what the others bring.
 *
 * A cycle through several files is shown in each of them, at its own rules. What only tests suppose is known to that
 * file alone.
 */
import type { Diagnostic } from '../engine/contract/rules.ts';
import { diagnosisOf, type PredicateOccurrence } from '../engine/language/diagnose.ts';
import { ruleIdentity } from '../engine/language/print.ts';
import type { LineTable, Span } from '../engine/language/source.ts';
import { type KnowledgeFile, predicateKey } from './knowledge-file.ts';

/** A file with its name among those of its package. */
export interface EditedFile {
  readonly name: string;
  readonly file: KnowledgeFile;
}

/** Finds the problems of one file in small steps, in text order. `others`: the other files of the package. */
export function* packageDiagnosis(
  { file }: EditedFile,
  others: readonly EditedFile[],
): Generator<'more', Diagnostic[], undefined> {
  const { items, errors, lines } = file.parsed;
  const parsed = {
    statements: items.filter((item) => item.kind === 'fact' || item.kind === 'rule'),
    constraints: items.filter((item) => item.kind === 'constraint'),
    errors,
    lines,
  };
  // What a file of tests has beside its tests concerns no other file.
  const bringing = others.filter((other) => !other.file.isTest);
  const known = {
    predicates: [
      ...file.declared.map(({ declaration }) => declaration),
      ...bringing.flatMap((other) => [...other.file.concluded.values()]),
    ],
    rules: bringing.flatMap((other) => other.file.rules.map((rule) => ({ rule, scope: null }))),
  };
  const { diagnostics } = yield* diagnosisOf(parsed, known, occurrencesOf(file));
  const found = [
    ...diagnostics.map((diagnostic) => inPackage(diagnostic, file, bringing)),
    ...file.wrong.map(({ message, span }) => problem('error', 'syntax', message, span, lines)),
    ...declaredTwice(file, bringing),
  ];
  return found.sort(
    (left, right) => left.startLine - right.startLine || left.startColumn - right.startColumn,
  );
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

function problem(
  severity: Diagnostic['severity'],
  code: Diagnostic['code'],
  message: string,
  span: Span,
  lines: LineTable,
): Diagnostic {
  return { severity, code, message, ...lines.range(span) };
}

/** What the others have is in the package, and not taught already. */
function inPackage(diagnostic: Diagnostic, file: KnowledgeFile, others: readonly EditedFile[]): Diagnostic {
  if (diagnostic.code !== 'duplicate' || diagnostic.severity !== 'info') return diagnostic;
  const rule = file.parsed.items.find(
    (item) => item.kind === 'rule' && isAt(file.parsed.lines, item.span, diagnostic),
  );
  const identity = rule?.kind === 'rule' ? ruleIdentity(rule.rule) : null;
  const name = others.find((other) => other.file.rules.some((each) => ruleIdentity(each) === identity))?.name;
  return {
    ...diagnostic,
    severity: 'warning',
    message: `this rule stands in ${name ?? 'another file'} already: remove one of the two`,
  };
}

function isAt(lines: LineTable, span: Span, { startLine, startColumn }: Diagnostic): boolean {
  const range = lines.range(span);
  return range.startLine === startLine && range.startColumn === startColumn;
}

/** Declarations of predicates that are declared before, in this file or in another one. */
function declaredTwice(file: KnowledgeFile, others: readonly EditedFile[]): Diagnostic[] {
  const seen = new Map<string, string>();
  for (const { name, file: other } of others)
    for (const { declaration } of other.declared) seen.set(predicateKey(declaration), `in ${name}`);
  const { lines } = file.parsed;
  return file.declared.flatMap(({ declaration, statement }) => {
    const key = predicateKey(declaration);
    const elsewhere = seen.get(key);
    if (elsewhere === undefined) {
      seen.set(key, `on line ${lines.range(statement.span).startLine}`);
      return [];
    }
    const message = `${key} is declared ${elsewhere} too: remove one of the two`;
    return [problem('error', 'duplicate', message, statement.name, lines)];
  });
}
