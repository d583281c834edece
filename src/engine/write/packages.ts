/** Packages: knowledge from files, applied in one transaction under a name, and taken away again. */
import type { Caller } from '../base/caller.ts';
import { EngineError } from '../base/errors.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';
import {
  maxPackageChangesListed,
  type PackageInput,
  type PackageOutcome,
  type PackageRemoval,
} from '../contract/packages.ts';
import {
  completenessPart,
  type Consequences,
  consequencesOf,
  noConsequences,
  viewsOfWrites,
} from '../session/consequences.ts';
import { noSuchPackage } from '../read/packages.ts';
import { noneKnown } from '../session/dependents.ts';
import type { ReadContext } from '../session/read-context.ts';
import { defaultLimits } from '../session/read-limits.ts';
import { supposeWrite } from '../session/supposed-write.ts';
import { inExclusiveCommit, unlimited, withoutCancellation, type Writer } from '../session/writer.ts';
import { type Outcome, outcomeAs } from '../state/operation.ts';
import type { PackageRecord } from '../store/package-record.ts';
import {
  changesShared,
  type PackageChangeWanted,
  type PackagePlan,
  planPackage,
  type PlannedAnswer,
} from './package-plan.ts';
import { noStatements, readPackageText } from './package-text.ts';

/**
 * Makes the knowledge what the package states. Throws ValidationException with the places of all errors, Forbidden if the
 * caller may not change rules and the package has some, and what refuses a transaction.
 */
export async function applyPackage(
  writer: Writer,
  caller: Caller,
  { name, ...input }: PackageInput & { readonly name: string },
): Promise<PackageOutcome> {
  const { live } = writer;
  live.refuseClosed();
  const earlier = input.dryRun ? null : writer.earlierOutcome(caller);
  if (earlier !== null) return answerLogged(earlier);
  const database = live.database(caller);
  const statements = await readPackageText(input, database, writer.slices(caller));
  const { scope, dryRun, timeoutMs } = input;
  return change(writer, caller, { name, scope, isRemoved: false, statements }, { dryRun, timeoutMs });
}

/** Takes away what the package brought; NotFound if there is none. */
export async function deletePackage(
  writer: Writer,
  caller: Caller,
  { name, ...options }: PackageRemoval & { readonly name: string },
): Promise<PackageOutcome> {
  writer.live.refuseClosed();
  const earlier = options.dryRun ? null : writer.earlierOutcome(caller);
  if (earlier !== null) return answerLogged(earlier);
  const known = recordOf(writer, caller, name);
  if (known === null) throw noSuchPackage(name);
  const { scope } = known;
  return change(writer, caller, { name, scope, isRemoved: true, statements: noStatements }, options);
}

function recordOf({ live }: Writer, caller: Caller, name: string): PackageRecord | null {
  return live.database(caller).tenants.get(caller.tenant)?.packages.get(name) ?? null;
}

async function change(
  writer: Writer,
  caller: Caller,
  wanted: PackageChangeWanted,
  { dryRun, timeoutMs }: Pick<PackageInput, 'dryRun' | 'timeoutMs'>,
): Promise<PackageOutcome> {
  const { live } = writer;
  const isShared = changesShared(wanted.statements, recordOf(writer, caller, wanted.name));
  if (isShared && caller.tenants.length > 0)
    throw new EngineError(
      'Forbidden',
      'the package has rules, declarations or constraints, which serve all tenants: a credential restricted to tenants ' +
        'cannot change them',
    );
  if (dryRun) return tryChange(writer, caller, wanted, timeoutMs);
  const decided: { plan: PackagePlan | null } = { plan: null };
  const early = await inExclusiveCommit(writer, caller, (context) =>
    decidedAt(context, caller, wanted, context.reader.time),
  );
  const operation = (time: number): Promise<DecidedWrite | null> =>
    inExclusiveCommit(writer, caller, async (context) => {
      const known = context.tenant.packages.get(wanted.name) ?? null;
      if (wanted.isRemoved && known === null) throw noSuchPackage(wanted.name);
      if (!isShared && changesShared(wanted.statements, known)) throw changedMeanwhile(wanted.name);
      const holds = early.holdsFor(context, time);
      const { plan, write } = holds ? early : await decidedAt(context, caller, wanted, time);
      decided.plan = plan;
      return write;
    });
  const watch = live.watch(withoutCancellation(caller), defaultLimits, () => noneKnown);
  try {
    const { before } = watch;
    const { outcome, isRepeated } = await writer.write({ caller, operation, isOfTenant: !isShared, before });
    const { plan } = decided;
    if (isRepeated || plan === null) return answerLogged(outcome);
    const isNothing = outcome.kind === 'nothing';
    const { generation } = isNothing ? outcome : outcomeAs(outcome, 'committed');
    if (isNothing) return answerOf(plan.answer, noConsequences, generation);
    const { context } = watch.seen();
    // The write is done, so a client that goes away cancels nothing.
    const waiting = withoutCancellation(caller);
    const compared = (now: ReadContext): Promise<Consequences> => {
      const after = live.after(now, generation, live.programOf(now.database));
      return consequences(plan, context, after, timeoutMs, waiting);
    };
    const isBorn = context.database.tenants.get(caller.tenant) === context.tenant;
    // Of a tenant that the package created, the state before is one of nothing.
    const found = await (isBorn ? compared(context) : live.reading(waiting, unlimited, compared, null));
    return answerOf(plan.answer, found, generation);
  } finally {
    watch.end();
  }
}

/** A plan, its write, and whether both hold for a later state. */
interface DecidedChange {
  readonly plan: PackagePlan;
  readonly write: DecidedWrite | null;
  holdsFor(context: ReadContext, time: number): boolean;
}

/**
 * Plans the change and encodes its write. It is done before the commit, in which others wait, and again there only if
 * something that it may depend on changed meanwhile.
 */
async function decidedAt(
  context: ReadContext,
  caller: Caller,
  wanted: PackageChangeWanted,
  time: number,
): Promise<DecidedChange> {
  const versionsOf = ({ database, tenant }: ReadContext): readonly unknown[] => [
    database.tenants.get(caller.tenant),
    tenant.packages.get(wanted.name),
    database.packagesVersion,
    database.rules.version,
    database.declarations.version,
    database.constraints.version,
  ];
  const before = versionsOf(context);
  // Until then no validity begins or ends.
  const through = context.tenant.facts.boundaries.next;
  const plan = await planPackage(context, caller, wanted, time);
  const write = plan.commit === null ? null : await encodeWrite(plan.commit, context.pacer);
  const { generation } = context.reader;
  const holdsFor = (now: ReadContext, at: number): boolean => {
    const after = versionsOf(now);
    const isSame = before.every((version, index) => version === after[index]);
    return at >= time && at < through && isSame && !hasChanged(now, plan.reads, generation);
  };
  return { plan, write, holdsFor };
}

/** True if facts of one of these relations came or went after the generation. */
function hasChanged({ tenant }: ReadContext, relations: ReadonlySet<string>, generation: number): boolean {
  for (const key of relations) {
    const relation = tenant.facts.relations.get(key);
    if (relation !== undefined && relation.liveIn(generation) === null) return true;
  }
  return false;
}

/** The answer of the change without storing anything. */
function tryChange(
  writer: Writer,
  caller: Caller,
  wanted: PackageChangeWanted,
  timeoutMs: number,
): Promise<PackageOutcome> {
  return writer.live.reading(
    caller,
    unlimited,
    async (context) => {
      const { generation, time } = context.reader;
      const plan = await planPackage(context, caller, wanted, time);
      const { commit, answer } = plan;
      if (commit === null) return { ...answerOf(answer, noConsequences, generation), dryRun: true };
      await writer.refuseUnfit(caller, commit);
      const { reader } = await supposeWrite(context, commit, () => true);
      const found = await consequences(plan, context, { ...context, reader }, timeoutMs, caller);
      return { ...answerOf(answer, found, generation), dryRun: true };
    },
    null,
  );
}

/** The conclusions that the package gains and loses in the views of the scopes that it changes. */
async function consequences(
  { relations, scopes }: PackagePlan,
  before: ReadContext,
  after: ReadContext,
  timeoutMs: number,
  { signal }: Caller,
): Promise<Consequences> {
  if (relations.size === 0) return noConsequences;
  const views = viewsOfWrites(scopes);
  const states = { before, after, relations, views, maxFirst: maxPackageChangesListed };
  return consequencesOf(states, { ...defaultLimits, timeoutMs, signal });
}

function answerOf(answer: PlannedAnswer, found: Consequences, generation: number): PackageOutcome {
  const { gained, lost, first } = found;
  const conclusions = { gained: [...first.gained], lost: [...first.lost] };
  return { ...answer, gained, lost, conclusions, ...completenessPart(found), generation };
}

/** The answer to a repeated request: the consequences are not known any more. */
function answerLogged(outcome: Outcome): PackageOutcome {
  const { note = '{}', generation } = outcomeAs(outcome, 'committed');
  const answer = JSON.parse(note) as PlannedAnswer;
  const conclusions = { gained: [], lost: [] };
  return { ...answer, gained: 0, lost: 0, conclusions, consequencesComplete: false, generation };
}

function changedMeanwhile(name: string): EngineError {
  return new EngineError('Conflict', `another apply has changed the package ${name} meanwhile: try again`);
}
