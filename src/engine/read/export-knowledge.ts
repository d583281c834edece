import { ByteMeter, charactersOf } from '../base/byte-meter.ts';
import { compareText } from '../base/text-order.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import { type Declaration, shownDeclaration } from '../contract/declarations.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import type { AliasRecord } from '../store/alias-store.ts';
import type { ConstraintRecord } from '../store/constraint-store.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import type { TestRecord } from '../store/test-store.ts';
import { atomsIn } from '../language/terms.ts';
import type { Metadata } from '../contract/facts.ts';

/** Facts per chunk, if they are short. */
const itemsPerChunk = 256;
const rowsBetweenBreaths = 0x3ff;

/** What an export reads of its context. */
export type ExportContext = Pick<ReadContext, 'database' | 'tenant' | 'reader' | 'pacer'>;

/** What an export consists of, as it is in the turn in which this is asked. */
export interface ExportedKnowledge {
  readonly declarations: readonly Declaration[];
  /** In the order in which their facts are written. */
  readonly relations: readonly StoredRelation[];
  readonly aliases: readonly ExportedAlias[];
  readonly rules: readonly ExportedRule[];
  readonly constraints: readonly ExportedConstraint[];
  readonly tests: readonly ExportedTest[];
}

/**
 * What an export consists of: declarations come first, then facts by predicate, arity and truth value (true first), within a
 * relation by version, then the aliases of an export of everything, the rules, the constraints and the tests, each in order of
 * creation. An export of one predicate has no tests.
 *
 * Call it in the turn in which the reader was pinned.
 */
export function exportedKnowledge(
  { database, tenant }: ExportContext,
  choice: ExportChoice,
): ExportedKnowledge {
  const declared = database.declarations
    .all()
    .filter(({ name }) => choice.predicate === null || choice.predicate === name);
  // Aliases are of the whole tenant.
  const isWhole = choice.predicate === null && choice.scope === null && !choice.unscoped;
  return {
    declarations: choice.rules ? declared.map(shownDeclaration) : [],
    relations: exportedRelations({ tenant }, choice),
    aliases: isWhole ? tenant.aliases.all() : [],
    rules: choice.rules ? database.rules.all().filter((rule) => isWanted(rule, choice)) : [],
    constraints: choice.rules
      ? database.constraints.all().filter((constraint) => isWantedConstraint(constraint, choice))
      : [],
    tests:
      choice.rules && choice.predicate === null
        ? database.tests.all().filter(({ scope }) => isOfScope(scope, choice))
        : [],
  };
}

/** The relations with facts to export, in their order. */
export function exportedRelations(
  { tenant }: Pick<ReadContext, 'tenant'>,
  choice: ExportChoice,
): StoredRelation[] {
  return [...tenant.facts.relations.values()]
    .filter(({ predicate }) => choice.predicate === null || predicate === choice.predicate)
    .sort(
      (left, right) =>
        compareText(left.predicate, right.predicate) ||
        left.arity - right.arity ||
        Number(left.negated) - Number(right.negated),
    );
}

/**
 * The facts of these relations that the reader sees, in chunks. Memory use is constant: each chunk is built after the
 * previous one was taken.
 */
export async function exportFacts(
  context: ExportContext,
  relations: readonly StoredRelation[],
  choice: ExportChoice,
  take: (facts: readonly ExportedFact[]) => Promise<void>,
): Promise<void> {
  for (const relation of relations) await exportRelation(context, relation, choice, take);
}

async function exportRelation(
  context: ExportContext,
  relation: StoredRelation,
  choice: ExportChoice,
  take: (facts: readonly ExportedFact[]) => Promise<void>,
): Promise<void> {
  const { database, tenant, reader, pacer } = context;
  const { facts } = tenant;
  const declaration = database.declarations.get(relation.predicate, relation.arity);
  // Where there is a key, an absent beginning would be the instant of the import.
  const open = declaration !== null && declaration.key.length > 0 ? 'always' : null;
  const scope = facts.chosenScope(scopeChoice(choice));
  const count = relation.rowsAt(reader.generation);
  let chunk: ExportedFact[] = [];
  const meter = new ByteMeter();
  for (let row = 0; row < count; row++) {
    if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
    if (scope !== null && (relation.columns[relation.arity] as Int32Array)[row] !== scope) continue;
    const isWanted = choice.ended
      ? relation.wasAlive(row, reader.generation)
      : relation.isHeld(row, reader.generation, reader.time);
    if (!isWanted) continue;
    const { from, until, metadata } = facts.versionAt({ relation, row });
    const identity = facts.identityOf({ relation, row });
    chunk.push({
      ...identity,
      validFrom: Number.isFinite(from) ? from : open,
      validUntil: Number.isFinite(until) ? until : null,
      metadata,
    });
    const isLong = meter.counts(charactersOf(identity.args));
    if (chunk.length < itemsPerChunk && !isLong) continue;
    await take(chunk);
    chunk = [];
    if (isLong) await pacer.breathe();
  }
  if (chunk.length > 0) await take(chunk);
}

function isWanted({ rule, scope }: RuleRecord, choice: ExportChoice): boolean {
  if (choice.predicate !== null && rule.head.predicate !== choice.predicate) return false;
  return isOfScope(scope, choice);
}

function isWantedConstraint({ body, scope }: ConstraintRecord, choice: ExportChoice): boolean {
  if (choice.predicate !== null && ![...atomsIn(body)].some((atom) => atom.predicate === choice.predicate))
    return false;
  return isOfScope(scope, choice);
}

function isOfScope(scope: string | null, choice: Pick<ExportChoice, 'scope' | 'unscoped'>): boolean {
  return choice.unscoped ? scope === null : choice.scope === null || scope === choice.scope;
}

/** A stored fact in the form in which it can be asserted again; null: open bounds or no metadata. */
export interface ExportedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
  readonly scope: string | null;
  /** `always` only for a predicate with a key. */
  readonly validFrom: number | 'always' | null;
  readonly validUntil: number | null;
  readonly metadata: Metadata | null;
}
export type ExportedAlias = Pick<AliasRecord, 'entity' | 'alias'>;
export type ExportedConstraint = Pick<ConstraintRecord, 'text' | 'scope' | 'name' | 'description' | 'mode'>;
export type ExportedTest = Pick<TestRecord, 'text' | 'scope'>;
export type ExportedRule = Pick<RuleRecord, 'text' | 'scope' | 'name' | 'description' | 'enabled'>;

/** What to export; `scope` and `unscoped` both absent: every scope. */
export interface ExportChoice {
  readonly scope: string | null;
  readonly unscoped: boolean;
  /** null: every predicate. */
  readonly predicate: string | null;
  /** Facts whose validity has ended too. */
  readonly ended?: boolean;
  /** Rules, constraints and tests too. */
  readonly rules: boolean;
}
