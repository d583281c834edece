/**
 * What pulling a package changes in its files: statements that the service does not hold go, those that it holds otherwise
 * are replaced where they stand, and what it has besides goes to the end of one more file. Comments and the order stay.
 */
import type { Atom, Literal, Rule } from '../../engine/contract/language.ts';
import {
  type KnowledgeItem,
  layOutConstraint,
  layOutRule,
  parseKnowledgeText,
  renderAtom,
  renderConstraint,
  renderDeclaration,
  renderRule,
  ruleIdentity,
} from '../../engine/index.ts';
import { PackageFailure } from './package-failure.ts';
import type { KnowledgePackage, PackageFile } from './read-package.ts';

/** The file to which a pull adds. */
export const pulledFile = 'pulled.kb';

/** A constraint of the service. */
export interface HeldConstraint {
  readonly body: readonly Literal[];
  /** Why it is forbidden; null: not said. */
  readonly reason: string | null;
}

type Declared = Parameters<typeof renderDeclaration>[0];

/** What the service holds, as far as the package is concerned. */
export interface HeldKnowledge {
  /** Whether a stated fact is stored. */
  hasFact(atom: Atom): boolean;
  /** All rules and constraints of the scope, and declarations that are asked about. */
  readonly rules: readonly Rule[];
  readonly constraints: readonly HeldConstraint[];
  readonly declarations: readonly Declared[];
  /** What belongs into the files, whether or not it is stated. */
  readonly wanted: {
    readonly facts: readonly Atom[];
    readonly rules: readonly Rule[];
    readonly constraints: readonly HeldConstraint[];
    readonly declarations: readonly Declared[];
  };
}

/** One changed file. */
export interface PulledFile {
  readonly path: string;
  readonly text: string;
  /** Statements as text, with the line in which each stands now; 0: it is new. */
  readonly removed: readonly PulledLine[];
  readonly changed: readonly PulledLine[];
  readonly added: readonly PulledLine[];
}

export interface PulledLine {
  readonly line: number;
  readonly text: string;
}

/** A statement that goes, or is replaced. */
interface Edit {
  readonly item: Statement;
  /** null: it goes. */
  readonly text: string | null;
}

type Statement = Exclude<KnowledgeItem, { kind: 'test' }>;

/** The files that the pull changes, in the order of the package; the one that it adds to comes last. */
export function pullEdits({ files }: KnowledgePackage, held: HeldKnowledge): PulledFile[] {
  const pulling = new Pulling(held);
  const edits = new Map<PackageFile, Edit[]>();
  const own = files.filter(({ isTests }) => !isTests);
  for (const file of own) for (const item of statementsOf(file)) pulling.look(item);
  for (const file of own) {
    const found = statementsOf(file).flatMap((item) => pulling.edit(item));
    if (found.length > 0) edits.set(file, found);
  }
  const added = pulling.unstated();
  const changed = own
    .filter((file) => edits.has(file) || (file.path === pulledFile && added.length > 0))
    .map((file) => edited(file, edits.get(file) ?? [], file.path === pulledFile ? added : []));
  if (added.length === 0 || own.some(({ path }) => path === pulledFile)) return changed;
  return [...changed, newFile(added)];
}

function statementsOf({ items }: PackageFile): Statement[] {
  return items.filter((item) => item.kind !== 'test');
}

class Pulling {
  readonly #held: HeldKnowledge;
  readonly #rules: ReadonlySet<string>;
  readonly #constraints: ReadonlyMap<string, HeldConstraint>;
  readonly #declarations: ReadonlyMap<string, Declared>;
  /** Names of everything that is stated, and what of the wanted took the place of something else. */
  readonly #stated = new Set<string>();

  constructor(held: HeldKnowledge) {
    this.#held = held;
    this.#rules = new Set(held.rules.map(ruleIdentity));
    this.#constraints = new Map(held.constraints.map((each) => [renderConstraint(each.body), each]));
    this.#declarations = new Map(held.declarations.map((each) => [`${each.name}/${each.arity}`, each]));
  }

  /** Takes note of a statement. Call it for all, before the first edit. */
  look(item: Statement): void {
    this.#stated.add(nameOf(item));
  }

  /** The edit of the statement, if it needs one. */
  edit(item: Statement): Edit[] {
    switch (item.kind) {
      case 'fact':
        return this.#held.hasFact(item.atom) ? [] : [{ item, text: null }];
      case 'rule': {
        if (this.#rules.has(ruleIdentity(item.rule))) return [];
        const other = this.#take(this.#held.wanted.rules, ruleName, (rule) => isAlike(rule, item.rule));
        return [{ item, text: other === null ? null : layOutRule(other) }];
      }
      case 'constraint': {
        const same = this.#constraints.get(renderConstraint(item.literals));
        if (same === undefined) {
          const isLike = ({ body }: HeldConstraint): boolean =>
            relationsOf(body) === relationsOf(item.literals);
          const other = this.#take(this.#held.wanted.constraints, constraintName, isLike);
          return [{ item, text: other === null ? null : layOutConstraint(other.body, other.reason) }];
        }
        // A statement without a reason says nothing about it.
        const isSame = item.reason === null || item.reason === same.reason;
        return isSame ? [] : [{ item, text: layOutConstraint(item.literals, same.reason) }];
      }
      case 'declaration': {
        const { declared } = item;
        const held = this.#declarations.get(`${declared.name}/${declared.arity}`);
        const text = held === undefined ? null : renderDeclaration(held);
        return text === renderDeclaration(declared) ? [] : [{ item, text }];
      }
    }
  }

  /** The first of the wanted that is like the statement and stated nowhere: it takes its place. */
  #take<Wanted>(
    wanted: readonly Wanted[],
    nameOfWanted: (each: Wanted) => string,
    isLike: (each: Wanted) => boolean,
  ): Wanted | null {
    const found = wanted.find((each) => !this.#stated.has(nameOfWanted(each)) && isLike(each));
    if (found === undefined) return null;
    this.#stated.add(nameOfWanted(found));
    return found;
  }

  /** What is wanted and stated nowhere, as statements: declarations, facts, rules, constraints. */
  unstated(): string[] {
    const { facts, rules, constraints, declarations } = this.#held.wanted;
    const missing = <Wanted>(
      wanted: readonly Wanted[],
      name: (each: Wanted) => string,
      text: (each: Wanted) => string,
    ): string[] =>
      wanted.flatMap((each) => {
        if (this.#stated.has(name(each))) return [];
        this.#stated.add(name(each));
        return [text(each)];
      });
    return [
      ...missing(declarations, declarationName, renderDeclaration),
      ...missing(facts, factName, (atom) => `${renderAtom(atom)}.`),
      ...missing(rules, ruleName, layOutRule),
      ...missing(constraints, constraintName, ({ body, reason }) => layOutConstraint(body, reason)),
    ];
  }
}

function nameOf(item: Statement): string {
  switch (item.kind) {
    case 'fact':
      return factName(item.atom);
    case 'rule':
      return ruleName(item.rule);
    case 'constraint':
      return constraintName({ body: item.literals });
    case 'declaration':
      return declarationName(item.declared);
  }
}

function factName(atom: Atom): string {
  return `fact ${renderAtom(atom)}`;
}

function ruleName(rule: Rule): string {
  return `rule ${ruleIdentity(rule)}`;
}

function constraintName({ body }: Pick<HeldConstraint, 'body'>): string {
  return `constraint ${renderConstraint(body)}`;
}

function declarationName({ name, arity }: Pick<Declared, 'name' | 'arity'>): string {
  return `declaration ${arity} ${name}`;
}

/** True if the two conclude the same relation: the one is probably the other, changed. */
function isAlike({ head }: Rule, { head: other }: Rule): boolean {
  const { predicate, args, negated } = head;
  return predicate === other.predicate && args.length === other.args.length && negated === other.negated;
}

function relationsOf(body: readonly Literal[]): string {
  return JSON.stringify(
    body.flatMap((literal) => ('predicate' in literal ? [[literal.predicate, literal.args.length]] : [])),
  );
}

/** The file with the edits, and with these statements at its end. */
function edited(file: PackageFile, edits: readonly Edit[], added: readonly string[]): PulledFile {
  const { path, text, lines } = file;
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  let result = '';
  let at = 0;
  for (const { item, text: wanted } of edits) {
    const { start, end } = item.span;
    const inside = file.comments.filter((span) => span.start >= start && span.end <= end);
    const comments = inside.map((span) => text.slice(span.start, span.end).trimEnd());
    const stop = item.kind === 'declaration' && text[end - 1] === '.' ? '.' : '';
    const kept = [...comments, ...(wanted === null ? [] : [wanted + stop])].join('\n');
    if (kept !== '') {
      result += text.slice(at, start) + kept.replaceAll('\n', lineEnd);
      at = end;
      continue;
    }
    const from = lineStart(text, start);
    const to = lineRest(text, end);
    const isAlone = from >= at && text.slice(from, start).trim() === '' && to !== null;
    result += text.slice(at, isAlone ? from : start);
    at = isAlone ? to : pastBlanks(text, end);
  }
  result += text.slice(at);
  if (added.length > 0) {
    if (result !== '' && !result.endsWith('\n')) result += lineEnd;
    result += `${added.join('\n')}\n`.replaceAll('\n', lineEnd);
  }
  refuseErrors(path, result);
  const lineOf = ({ item }: Edit): number => lines.range(item.span).startLine;
  return {
    path,
    text: file.hasByteOrderMark ? `\ufeff${result}` : result,
    removed: edits
      .filter((each) => each.text === null)
      .map((each) => ({ line: lineOf(each), text: shown(each.item) })),
    changed: edits.flatMap((each) =>
      each.text === null ? [] : [{ line: lineOf(each), text: oneLine(each.text) }],
    ),
    added: added.map((each) => ({ line: 0, text: oneLine(each) })),
  };
}

function newFile(added: readonly string[]): PulledFile {
  const text = `% What the service holds and no other file states.\n${added.join('\n')}\n`;
  refuseErrors(pulledFile, text);
  const lines = added.map((each) => ({ line: 0, text: oneLine(each) }));
  return { path: pulledFile, text, removed: [], changed: [], added: lines };
}

/** Throws a PackageFailure if the text cannot be read again. */
function refuseErrors(path: string, text: string): void {
  const [error] = parseKnowledgeText(text).errors;
  if (error === undefined) return;
  throw new PackageFailure(
    `${path}: what would be written cannot be read again (line ${error.range.startLine}: ${error.message}). Nothing was written`,
  );
}

function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && text[start - 1] !== '\n' && text[start - 1] !== '\r') start--;
  return start;
}

/** The start of the next line, if nothing more is on this one; else null. */
function lineRest(text: string, at: number): number | null {
  const end = pastBlanks(text, at);
  if (end === text.length) return end;
  if (text.startsWith('\r\n', end)) return end + 2;
  return text[end] === '\n' || text[end] === '\r' ? end + 1 : null;
}

function pastBlanks(text: string, at: number): number {
  let end = at;
  while (text[end] === ' ' || text[end] === '\t') end++;
  return end;
}

function shown(item: Statement): string {
  switch (item.kind) {
    case 'fact':
      return `${renderAtom(item.atom)}.`;
    case 'rule':
      return `${renderRule(item.rule)}.`;
    case 'constraint':
      return oneLine(layOutConstraint(item.literals, item.reason));
    case 'declaration':
      return renderDeclaration(item.declared);
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\n\s*/g, ' ');
}
