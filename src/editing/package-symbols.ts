/**
 * Names across the files of a package: where a predicate is defined and used, what is known of it, and renaming.
 *
 * A predicate is a name and an arity, of either truth value. A variable belongs to its statement.
 */
import { ArgumentNames } from '../engine/language/argument-names.ts';
import type { DescribedKnowledge, DescribedPredicate } from './completion.ts';
import { type KnowledgeFile, maxSamples, predicateKey } from './knowledge-file.ts';
import type { EditedFile } from './package-diagnosis.ts';
import { type PredicateUse, type SymbolUse, type TextEdit, usesOf } from './read-text.ts';
import { checkedName } from './renaming.ts';

/** Occurrences in one file. */
export interface OccurrencesInFile {
  readonly file: EditedFile;
  readonly uses: readonly SymbolUse[];
}

/** The names of the arguments that the files declare. */
export function argumentNamesOf(files: readonly KnowledgeFile[]): ArgumentNames {
  return new ArgumentNames(files.flatMap(({ declared }) => declared.map(({ declaration }) => declaration)));
}

/** All occurrences of the symbol of a file; those of a variable are in that file. Files without any are left out. */
export function occurrencesInPackage(
  symbol: SymbolUse,
  of: EditedFile,
  files: readonly EditedFile[],
): OccurrencesInFile[] {
  const among = symbol.kind === 'predicate' ? files : [of];
  return among
    .map((file) => ({ file, uses: usesOf(file.file, symbol) }))
    .filter(({ uses }) => uses.length > 0);
}

/** In this order: what defines a predicate is of the first kind that there is. */
const defining: readonly (readonly PredicateUse['role'][])[] = [
  ['declaration'],
  ['head'],
  ['fact'],
  ['given'],
];

/** Where the symbol is defined: its declarations, else the rules that conclude it, else its facts; a variable: its first occurrence. */
export function definitionsInPackage(
  symbol: SymbolUse,
  of: EditedFile,
  files: readonly EditedFile[],
): OccurrencesInFile[] {
  const all = occurrencesInPackage(symbol, of, files);
  if (symbol.kind === 'variable') return all.map(({ file, uses }) => ({ file, uses: uses.slice(0, 1) }));
  for (const roles of defining) {
    const found = all
      .map(({ file, uses }) => ({
        file,
        uses: uses.filter((use) => use.kind === 'predicate' && roles.includes(use.role)),
      }))
      .filter(({ uses }) => uses.length > 0);
    if (found.length > 0) return found;
  }
  return [];
}

/** Edits of each file, or why there are none. */
export type PackageRename =
  | {
      readonly kind: 'edits';
      readonly edits: readonly { readonly file: EditedFile; readonly edits: readonly TextEdit[] }[];
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** Renames a predicate in all files, or a variable in its statement. */
export function renameInPackage(
  symbol: SymbolUse,
  to: string,
  of: EditedFile,
  files: readonly EditedFile[],
): PackageRename {
  const checked = checkedName(of.file, symbol, to);
  if ('reason' in checked) return { kind: 'refused', reason: checked.reason };
  const { name } = checked;
  if (symbol.kind === 'predicate' && name !== symbol.name) {
    const taken = { ...symbol, name };
    if (occurrencesInPackage(taken, of, files).length > 0)
      return {
        kind: 'refused',
        reason: `${predicateKey(taken)} is in the package already: both would become one predicate.`,
      };
  }
  const among = symbol.kind === 'predicate' ? files : [of];
  const edits = among.map((file) => ({
    file,
    edits: [
      ...usesOf(file.file, symbol).map(({ span }) => ({ ...span, text: name })),
      ...(symbol.kind === 'predicate' ? violationEdits(symbol, name, file, files) : []),
    ],
  }));
  return { kind: 'edits', edits: edits.filter((each) => each.edits.length > 0) };
}

/** Tests name violations of keys and shapes by the predicate; a name that several arities share is left alone. */
function violationEdits(
  { name, arity }: PredicateUse,
  to: string,
  { file }: EditedFile,
  files: readonly EditedFile[],
): TextEdit[] {
  const isShared = files.some((each) =>
    each.file.predicates.some((use) => use.name === name && use.arity !== arity),
  );
  if (isShared) return [];
  return file.parsed.items.flatMap((item) =>
    item.kind !== 'test'
      ? []
      : item.expectations.flatMap((expectation) =>
          (expectation.kind === 'violation' || expectation.kind === 'noViolation') &&
          expectation.name === name &&
          file.text[expectation.nameSpan.start] !== '"'
            ? [{ ...expectation.nameSpan, text: to }]
            : [],
        ),
  );
}

/** What completion and hover know of a package. */
export interface DescribedPackage extends DescribedKnowledge {
  /** Names that an expected violation can have: predicates with a key, and the quoted texts of constraints. */
  readonly violations: readonly string[];
  /** The first facts of a predicate as text. */
  samplesOf(name: string, arity: number): readonly string[];
}

/** The predicates and rules of a package. What only tests have is left out. */
export function describePackage(files: readonly EditedFile[]): DescribedPackage {
  const bringing = files.filter(({ file }) => !file.isTest);
  const declared = bringing.flatMap(({ file }) => file.declared.map(({ declaration }) => declaration));
  const declarations = new Map(declared.map((each) => [predicateKey(each), each] as const));
  const predicates = new Map<string, DescribedPredicate>();
  const samples = new Map<string, readonly string[]>();
  for (const { name: origin, file } of bringing)
    for (const [key, each] of file.concluded) {
      const before = predicates.get(key);
      samples.set(key, [...(samples.get(key) ?? []), ...each.samples].slice(0, maxSamples));
      predicates.set(key, {
        name: each.name,
        arity: each.arity,
        facts: (before?.facts ?? 0) + each.facts,
        rules: (before?.rules ?? 0) + each.rules,
        scopes: [],
        example: before?.example ?? each.samples[0] ?? null,
        declaration: declarations.get(key),
        origins: [...(before?.origins ?? []), origin],
      });
    }
  const reasons = bringing.flatMap(({ file }) =>
    file.parsed.items.flatMap((item) =>
      item.kind === 'constraint' && item.reason !== null ? [item.reason] : [],
    ),
  );
  return {
    predicates: [...predicates.values()],
    rules: bringing.flatMap(({ file }) => file.rules),
    violations: [
      ...declared.filter(({ key }) => key.length > 0).map(({ name }) => name),
      ...reasons.map((reason) => JSON.stringify(reason)),
    ],
    samplesOf: (name, arity) => samples.get(predicateKey({ name, arity })) ?? [],
  };
}
