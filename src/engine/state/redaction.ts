/**
 * Operations without what was erased: which facts a nuke, a deletion or `/admin/forget` erased from earlier records, and
 * what of each such record is left.
 */
import type { LogRecord } from '../log/codec.ts';
import { ErasedFacts } from '../store/erased-facts.ts';
import { isErasedKey } from '../store/package-record.ts';
import { isKeyOperation } from './apply.ts';
import { summariesOf } from './apply-facts.ts';
import type { Consolidate, MergeScopes, Operation, Redactable, ShapeOperation } from './operation.ts';

/** Something that a record erased from all records before it, and from itself. */
export interface ErasingRecord {
  /** Sequence of the record that erased it. */
  readonly sequence: number;
  readonly database: string;
  /** null: all tenants, with rules, declarations and constraints. */
  readonly tenant: string | null;
  /** null: everything. */
  readonly facts: ErasedFacts | null;
}

/** What the record erases; null: nothing. */
export function erasureOf({ sequence, database, operation: logged }: LogRecord): ErasingRecord | null {
  const operation = logged as Operation;
  switch (operation.kind) {
    case 'forget':
      return { sequence, database, tenant: operation.tenant, facts: new ErasedFacts(operation.names) };
    case 'nukeTenant':
    case 'deleteTenant':
      return { sequence, database, tenant: operation.tenant, facts: null };
    case 'nukeDatabase':
    case 'deleteDatabase':
      return { sequence, database, tenant: null, facts: null };
    default:
      return null;
  }
}

/** Whether facts can be erased from the operation: those on keys and new databases have none. */
export function isRedactable(operation: Operation): operation is Redactable {
  return !isKeyOperation(operation) && operation.kind !== 'createDatabase' && operation.kind !== 'redacted';
}

/** Whether the erasure concerns the record of this database and tenant; null: of no single tenant. */
export function concerns(
  erasure: ErasingRecord,
  { sequence, database }: Pick<LogRecord, 'sequence' | 'database'>,
  tenant: string | null,
): boolean {
  return (
    erasure.sequence >= sequence &&
    erasure.database === database &&
    (erasure.tenant === null || erasure.tenant === tenant)
  );
}

/**
 * The operation without a tenant's facts; `withRules`: its changes of rules, declarations, constraints and tests stay, since these
 * belong to the database. null: nothing is left.
 */
export function withoutTenant(operation: Redactable, withRules: boolean): Redactable | null {
  switch (operation.kind) {
    case 'createTenant':
    case 'setQuota':
    case 'deleteTenant':
    case 'nukeTenant':
    case 'deleteDatabase':
    case 'nukeDatabase':
      return operation;
    case 'forkScope':
    case 'deleteScope':
      return withRules && operation.withRules ? operation : null;
    case 'commit': {
      const {
        note: _note,
        package: _package,
        drops: _drops,
        takes: _takes,
        shape = [],
        ...commit
      } = operation;
      const rest = shape.filter((each) => !('tenant' in each));
      if (!withRules || commit.rules.length + rest.length === 0) return null;
      return { ...commit, retract: [], assert: [], ...(rest.length === 0 ? {} : { shape: rest }) };
    }
    case 'teach':
    case 'updateRule':
    case 'forgetRule':
    case 'declare':
    case 'withdraw':
    case 'addConstraint':
    case 'updateConstraint':
    case 'deleteConstraint':
    case 'putTest':
    case 'deleteTest':
      return withRules ? operation : null;
    default:
      return null;
  }
}

/** The operation without the facts about an entity; the same object if it has none. null: nothing is left. */
export function withoutFacts(operation: Redactable, erased: ErasedFacts): Redactable | null {
  switch (operation.kind) {
    case 'assert':
      return lessThan(operation, {
        ...operation,
        facts: [...operation.facts].filter(({ args, metadata }) => !erased.has(args, metadata ?? null)),
        ...noteLeft(operation, erased),
      });
    case 'retract':
      return erased.has(operation.pattern.args) ? null : operation;
    case 'commit': {
      const { shape, drops, takes } = operation;
      return lessThan(operation, {
        ...operation,
        retract: operation.retract.filter(({ args }) => !erased.has(args)),
        assert: operation.assert.filter(({ args, metadata }) => !erased.has(args, metadata ?? null)),
        ...(shape === undefined ? {} : { shape: shape.filter((each) => !isAliasOf(each, erased)) }),
        ...(drops === undefined ? {} : { drops: drops.filter((key) => !isErasedKey(key, erased)) }),
        ...(takes === undefined ? {} : { takes: takes.filter(([key]) => !isErasedKey(key, erased)) }),
        ...noteLeft(operation, erased),
      });
    }
    case 'addAlias':
    case 'removeAlias':
      return isAliasOf(operation, erased) ? null : operation;
    case 'mergeScopes':
      return lessThan(operation, {
        ...operation,
        resolutions: operation.resolutions.filter(({ args }) => !erased.has(args)),
        ...exactlyLeft(operation, erased),
      });
    case 'decay':
      return lessThan(operation, { ...operation, answer: answerLeft(operation, erased) });
    case 'consolidate':
      return lessThan(operation, {
        ...operation,
        ...summariesLeft(operation, erased),
        answer: answerLeft(operation, erased),
      });
    case 'restore':
      return lessThan(operation, {
        ...operation,
        facts: operation.facts.filter(({ args, metadata }) => !erased.has(args, metadata ?? null)),
        answer: answerLeft(operation, erased),
      });
    case 'forget':
      return null;
    default:
      return operation;
  }
}

/** The original, if nothing of it was left out: no field was replaced, and no list is shorter. */
function lessThan<Of extends Redactable>(original: Of, rest: Of): Of {
  const before = original as Readonly<Record<string, unknown>>;
  const isWhole = Object.entries(rest).every(([name, value]) => {
    const was = before[name];
    return value === was || (Array.isArray(value) && Array.isArray(was) && value.length === was.length);
  });
  return isWhole ? original : rest;
}

/** The note of an operation overwritten, if it names the entity. */
function noteLeft({ note }: { readonly note?: string }, erased: ErasedFacts): { readonly note?: string } {
  return note !== undefined && erased.isIn(note) ? { note: '{}' } : {};
}

function answerLeft<Answer>({ answer }: { readonly answer: Answer }, erased: ErasedFacts): Answer | null {
  return erased.isIn(JSON.stringify(answer)) ? null : answer;
}

function exactlyLeft({ exactly }: MergeScopes, erased: ErasedFacts): Pick<MergeScopes, 'exactly'> {
  if (exactly === undefined) return {};
  const stored = exactly.stored.filter(({ args, metadata }) => !erased.has(args, metadata ?? null));
  const retracted = exactly.retracted.filter(({ args }) => !erased.has(args));
  const isWhole = stored.length + retracted.length === exactly.stored.length + exactly.retracted.length;
  return { exactly: isWhole ? exactly : { ...exactly, stored, retracted } };
}

function isAliasOf(operation: ShapeOperation, erased: ErasedFacts): boolean {
  return 'alias' in operation && (erased.isName(operation.entity) || erased.isName(operation.alias));
}

/** The summaries that are not about the entity, each with its values. */
function summariesLeft(
  operation: Consolidate,
  erased: ErasedFacts,
): Pick<Consolidate, 'summaries' | 'values'> {
  const summaries: Consolidate['summaries'][number][] = [];
  const values: Consolidate['values'][number][] = [];
  let from = 0;
  for (const [at, whole] of [...summariesOf(operation)].entries()) {
    const summary = operation.summaries[at] as Consolidate['summaries'][number];
    const own = operation.values.slice(from, (from += summary.count));
    if (erased.has(whole.args, whole.metadata ?? null)) continue;
    summaries.push(summary);
    values.push(...own);
  }
  return { summaries, values };
}
