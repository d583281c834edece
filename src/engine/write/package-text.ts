/** What the text of a package states, checked as far as that needs nothing stored. */
import { EngineError } from '../base/errors.ts';
import { runInSlices, type Slices } from '../base/slices.ts';
import type { PackageInput } from '../contract/packages.ts';
import { importedDeclarationSchema } from '../contract/transfer.ts';
import { validate } from '../contract/validation.ts';
import type { Rule } from '../contract/language.ts';
import { ruleToStore } from '../commit/prepare-rules.ts';
import type { ArgumentNames } from '../language/argument-names.ts';
import { type KnowledgeItem, type KnowledgeText, knowledgeTextSteps } from '../language/knowledge-text.ts';
import { renderConstraint } from '../language/print.ts';
import type { LineTable } from '../language/source.ts';
import { declarationsAfter } from '../state/apply-shape.ts';
import type { ConstraintToStore, ShapeOperation } from '../state/operation.ts';
import type { DatabaseState } from '../state/state.ts';
import type { FactIdentity } from '../store/fact-store.ts';
import { constraintToStore, nameOfConstraint } from './constraints.ts';
import { declarationToStore } from './declarations.ts';

type Declare = Extract<ShapeOperation, { kind: 'declare' }>;

/** Where a statement is in the text, in words. */
type Place = () => string;

/** A statement with its place. */
export interface Stated<What> {
  readonly what: What;
  readonly place: Place;
}

/** What a package states, each kind in text order. */
export interface PackageStatements {
  readonly facts: readonly Stated<FactIdentity>[];
  readonly rules: readonly Stated<Rule>[];
  readonly declarations: readonly Stated<Declare['declaration']>[];
  readonly constraints: readonly Stated<ConstraintToStore>[];
}

/** A package that states nothing. */
export const noStatements: PackageStatements = { facts: [], rules: [], declarations: [], constraints: [] };

/** Errors that a refusal lists. */
const maxErrorsListed = 100;
const itemsBetweenBreaths = 256;

/** One text of a package. `path`: its path in the request; `file`: in messages; null: the only text. */
interface Source {
  readonly path: string;
  readonly file: string | null;
  readonly text: string;
}

/**
 * Reads the texts of a package. Throws a ValidationException that names file, line and column of all errors, the first 100,
 * and RuleException for a rule or constraint that is unsafe. `database`: whose declared names of arguments the text may use
 * beside its own.
 */
export async function readPackageText(
  { text, files, scope }: Pick<PackageInput, 'text' | 'files' | 'scope'>,
  database: Pick<DatabaseState, 'declarations'>,
  slices: Slices,
): Promise<PackageStatements> {
  const sources: Source[] =
    files === null
      ? [{ path: 'text', file: null, text: text ?? '' }]
      : files.map((file, at) => ({ path: `files.${at}.text`, file: file.path, text: file.text }));
  const reading = new PackageReading(scope, slices);
  const parsed: KnowledgeText[] = [];
  for (const source of sources) parsed.push(await reading.parse(source));
  reading.refuse();
  for (const [at, source] of sources.entries()) reading.declare(source, parsed[at] as KnowledgeText);
  reading.refuse();
  const { names } = declarationsAfter(database, reading.declares());
  for (const [at, source] of sources.entries()) {
    // Only braces need the names, and most texts have none.
    const whole = source.text.includes('{') ? await reading.parse(source, names) : parsed[at];
    reading.refuse();
    await reading.take(source, whole as KnowledgeText);
  }
  reading.refuse();
  return reading.statements;
}

class PackageReading {
  readonly statements = {
    facts: [] as Stated<FactIdentity>[],
    rules: [] as Stated<Rule>[],
    declarations: [] as Stated<Declare['declaration']>[],
    constraints: [] as Stated<ConstraintToStore>[],
  };
  readonly #scope: string | null;
  readonly #slices: Slices;
  readonly #errors: { path: string; message: string }[] = [];
  #errorCount = 0;

  constructor(scope: string | null, slices: Slices) {
    this.#scope = scope;
    this.#slices = slices;
  }

  /** Parses a text, and notes its errors. Without names, arguments by name stay as they are given. */
  async parse(source: Source, names?: ArgumentNames): Promise<KnowledgeText> {
    const options = { tests: true, ...(names === undefined ? {} : { names }) };
    const parsed = await runInSlices(knowledgeTextSteps(source.text, options), () => this.#slices.breathe());
    for (const { message, span } of parsed.errors)
      this.#note(source, placeOf(source, parsed.lines, span.start)(), message);
    return parsed;
  }

  /** Takes the declarations of a text. */
  declare(source: Source, { items, lines }: KnowledgeText): void {
    for (const item of items) {
      if (item.kind !== 'declaration') continue;
      const place = placeOf(source, lines, item.span.start);
      const read = validate(importedDeclarationSchema, { declare: item.declared });
      if (read.ok)
        this.#checked(source, place, () => this.#addDeclaration(declarationToStore(read.value), place));
      else
        for (const { path, message } of read.errors)
          this.#note(source, place(), `${path.replace(/^declare\.?/, '')}: ${message}`);
    }
  }

  #addDeclaration({ declaration }: Declare, place: Place): void {
    const { name, arity } = declaration;
    const twin = this.statements.declarations.find(({ what }) => what.name === name && what.arity === arity);
    if (twin === undefined) this.statements.declarations.push({ what: declaration, place });
    else if (JSON.stringify(twin.what) !== JSON.stringify(declaration))
      throw new EngineError(
        'ValidationException',
        `${name}/${arity} is declared otherwise at ${twin.place()}: declare it once`,
      );
  }

  /** The operations that declare what the texts declare. */
  declares(): Declare[] {
    return this.statements.declarations.map(({ what }) => ({ kind: 'declare', declaration: what }));
  }

  /** Takes facts, rules and constraints of a text. */
  async take(source: Source, { items, lines }: KnowledgeText): Promise<void> {
    for (const [at, item] of items.entries()) {
      if (at % itemsBetweenBreaths === 0) await this.#slices.breathe();
      const place = placeOf(source, lines, item.span.start);
      if (item.kind === 'fact') {
        const { predicate, args, negated } = item.atom;
        const what = { predicate, args, truthVal: !negated, scope: this.#scope };
        this.statements.facts.push({ what, place });
      } else this.#checked(source, place, () => this.#takeOther(item, place));
    }
  }

  #takeOther(item: Exclude<KnowledgeItem, { kind: 'fact' }>, place: Place): void {
    const [scope, none] = [this.#scope, { name: null, description: null, enabled: null }];
    if (item.kind === 'rule') {
      const { head, body } = item.rule;
      const { rule } = ruleToStore({ head, body, text: null, scope, unscoped: false, ...none });
      if (rule !== null) this.statements.rules.push({ what: rule, place });
    } else if (item.kind === 'constraint') {
      const text = renderConstraint(item.literals);
      const input = { text, name: nameOfConstraint(item.reason ?? text), description: item.reason };
      const rest = { mode: 'warn', scope, dryRun: false, timeoutMs: 1 } as const;
      this.statements.constraints.push({ what: constraintToStore({ ...input, ...rest }), place });
    }
  }

  /** Does something whose refusal is about the place. */
  #checked(source: Source, place: Place, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (error.code !== 'ValidationException') throw placed(error, place);
      this.#note(source, place(), error.message);
    }
  }

  #note({ path }: Source, place: string, message: string): void {
    this.#errorCount++;
    if (this.#errors.length < maxErrorsListed) this.#errors.push({ path, message: `${place}: ${message}` });
  }

  /** Throws if there are errors. */
  refuse(): void {
    const [first] = this.#errors;
    if (first === undefined) return;
    const more = this.#errorCount > 1 ? ` (and ${this.#errorCount - 1} more)` : '';
    throw new EngineError('ValidationException', `${first.message}${more}`, { errors: this.#errors });
  }
}

function placeOf({ file }: Source, lines: LineTable, offset: number): Place {
  return () => {
    const { startLine, startColumn } = lines.range({ start: offset, end: offset });
    const where = `line ${startLine}, column ${startColumn}`;
    return file === null ? where : `${file}, ${where}`;
  };
}

/** The refusal of a statement, with its place. */
export function placed(error: EngineError, place: Place): EngineError {
  return new EngineError(error.code, `${place()}: ${error.message}`, error.members, { cause: error });
}
