/**
 * Entities: aliases, and merging two entities that are one.
 *
 * Both are decided in an exclusive commit, against the state just before them. A merge is logged as the transaction that it
 * amounts to: the facts of one name go, those of the other come, and the name becomes an alias.
 */
import { TextMap } from '../base/text-map.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError, invalid } from '../base/errors.ts';
import { runInSlices } from '../base/slices.ts';
import { compareText } from '../base/text-order.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';
import {
  type AliasAdded,
  type AliasInput,
  type AliasRemoved,
  type EntitiesMerged,
  maxAliases,
  maxAliasesOfEntity,
  maxRewrittenListed,
  type MergeEntitiesInput,
  type RewrittenFact,
} from '../contract/entities.ts';
import { FactOverlay } from '../datalog/model/fact-overlay.ts';
import { renderConstant, renderIdentity } from '../language/print.ts';
import { rulesNaming } from '../read/entity.ts';
import { eachRowWith } from '../read/facts-with.ts';
import {
  completenessPart,
  type Consequences,
  consequencesOf,
  noConsequences,
  viewsOfWrites,
} from '../session/consequences.ts';
import { noneKnown, relationsOf } from '../session/dependents.ts';
import { defaultLimits } from '../session/read-limits.ts';
import type { ReadContext } from '../session/read-context.ts';
import { inExclusiveCommit, unlimited, withoutCancellation, type Writer } from '../session/writer.ts';
import { holdersOf, overlap, type StrictKey, StrictKeys } from '../state/key-rule.ts';
import { isTooLarge, mergedVersion } from '../state/merge-plan.ts';
import { type Commit, outcomeAs, type ShapeOperation } from '../state/operation.ts';
import { AliasesOver, type AliasStore } from '../store/alias-store.ts';
import {
  type Bounds,
  type FactIdentity,
  type FactRow,
  type FactToStore,
  type FactVersion,
} from '../store/fact-store.ts';
import { areAlike } from '../store/fact-to-store.ts';
import { writeBytes } from './net-writes.ts';

/** Gives an entity another name. Throws Conflict. */
export async function addAlias(writer: Writer, caller: Caller, input: AliasInput): Promise<AliasAdded> {
  const { entity, alias } = input;
  const { isChange, generation } = await changeAlias(writer, caller, input, async (context, time) => {
    await refuseAlias(context, input, time);
    return isAliasOf(context, input) ? null : 'addAlias';
  });
  return { status: isChange ? 'added' : 'unchanged', entity, alias, generation };
}

/** Takes an alias away from an entity. */
export async function removeAlias(writer: Writer, caller: Caller, input: AliasInput): Promise<AliasRemoved> {
  const { entity, alias } = input;
  const { isChange, generation } = await changeAlias(writer, caller, input, async (context) =>
    isAliasOf(context, input) ? 'removeAlias' : null,
  );
  return { status: isChange ? 'removed' : 'absent', entity, alias, generation };
}

function isAliasOf({ tenant }: ReadContext, { entity, alias }: AliasInput): boolean {
  return tenant.aliases.get(alias)?.entity === entity;
}

/** The aliases that a check sees. */
type KnownAliases = Pick<AliasesOver, 'size' | 'get' | 'of'>;

/** The aliases of the tenant after these operations, in order. */
export function aliasesAfter(aliases: AliasStore, operations: readonly ShapeOperation[]): AliasesOver {
  const after = new AliasesOver(aliases);
  for (const each of operations)
    if (each.kind === 'addAlias' || each.kind === 'removeAlias')
      after.change(each.kind, each.entity, each.alias);
  return after;
}

/** What an alias is checked against beside what is stored. */
export interface PendingWrites {
  readonly shape: readonly ShapeOperation[];
  readonly facts: Iterable<{ readonly asserted: FactIdentity | null }>;
  find(fact: FactIdentity): { readonly isRetracted: boolean } | null;
}

/**
 * Throws Conflict if the entity cannot have the alias as a transaction with these writes sees it; false: it has it
 * already.
 */
export async function checkPendingAlias(
  context: ReadContext,
  writes: PendingWrites,
  { entity, alias }: AliasInput,
): Promise<boolean> {
  const { tenant, reader } = context;
  const aliases = aliasesAfter(tenant.aliases, writes.shape);
  refuseName(aliases, entity, alias);
  if (aliases.get(alias)?.entity === entity) return false;
  for (const { asserted } of writes.facts)
    if (asserted?.args.includes(alias) === true) throw isConstant(alias, renderIdentity(asserted));
  const isGone = (fact: FactIdentity): boolean => writes.find(fact)?.isRetracted === true;
  const fact = await anyFactWith(context, alias, reader.time, isGone);
  if (fact !== null) throw isConstant(alias, fact);
  return true;
}

/** Decides in an exclusive commit what to do with the alias; null: nothing. */
async function changeAlias(
  writer: Writer,
  caller: Caller,
  { entity, alias }: AliasInput,
  decide: (context: ReadContext, time: number) => Promise<'addAlias' | 'removeAlias' | null>,
): Promise<{ readonly isChange: boolean; readonly generation: number }> {
  const operation = (time: number): Promise<DecidedWrite | null> =>
    inExclusiveCommit(writer, caller, async (context) => {
      const kind = await decide(context, time);
      return kind === null ? null : { operation: { kind, tenant: caller.tenant, entity, alias } };
    });
  const { outcome } = await writer.write({ caller, operation });
  const isChange = outcome.kind !== 'nothing';
  return { isChange, generation: isChange ? outcomeAs(outcome, 'shape').generation : outcome.generation };
}

/** Throws Conflict if the entity cannot have the alias. */
async function refuseAlias(context: ReadContext, input: AliasInput, time: number): Promise<void> {
  const { entity, alias } = input;
  refuseName(context.tenant.aliases, entity, alias);
  if (isAliasOf(context, input)) return;
  const fact = await anyFactWith(context, alias, time);
  if (fact !== null) throw isConstant(alias, fact);
}

/** The Conflict for an alias that the fact has as an argument. */
function isConstant(alias: string, fact: string): EngineError {
  return conflict(
    `${renderConstant(alias)} is a constant of ${fact}: merge the two entities with POST /entities/merge`,
  );
}

/** Throws Conflict if the entity cannot have the alias, whatever facts there are. */
export function refuseName(aliases: KnownAliases, entity: string, alias: string): void {
  if (entity === alias) throw invalid('alias', 'an entity is no alias of itself: give another name');
  const known = aliases.get(alias);
  if (known?.entity === entity) return;
  const [shownEntity, shown] = [renderConstant(entity), renderConstant(alias)];
  if (known !== null)
    throw conflict(
      `${shown} is an alias of ${renderConstant(known.entity)} already: an alias has one entity`,
    );
  const above = aliases.get(entity);
  if (above !== null)
    throw conflict(
      `${shownEntity} is itself an alias of ${renderConstant(above.entity)}: give the alias to that one`,
    );
  if (aliases.of(alias).length > 0)
    throw conflict(`${shown} has aliases itself: merge the two entities with POST /entities/merge`);
  refuseMore(aliases, entity, 1);
}

function refuseMore(aliases: KnownAliases, entity: string, more: number): void {
  if (aliases.of(entity).length + more > maxAliasesOfEntity)
    throw conflict(
      `an entity has at most ${maxAliasesOfEntity} aliases: remove some of ${renderConstant(entity)}`,
    );
  if (aliases.size + more > maxAliases)
    throw conflict(`a tenant has at most ${maxAliases} aliases: remove some`);
}

function conflict(detail: string): EngineError {
  return new EngineError('Conflict', detail);
}

/** A stored fact with the constant, rendered, in whatever scope; null: there is none. */
async function anyFactWith(
  { tenant: { facts }, reader, pacer }: ReadContext,
  constant: string,
  time: number,
  isGone: (fact: FactIdentity) => boolean = () => false,
): Promise<string | null> {
  let found: FactRow | null = null;
  await eachRowWith(facts, idsOf(facts, constant), pacer, (relation, row) => {
    if (found !== null || !relation.isHeld(row, reader.generation, time)) return;
    const fact = { relation, row };
    if (!isGone(facts.identityOf(fact))) found = fact;
  });
  return found === null ? null : renderIdentity(facts.identityOf(found));
}

function idsOf(facts: ReadContext['tenant']['facts'], constant: string): ReadonlySet<number> {
  const id = facts.dictionary.find(constant);
  return new Set(id < 0 ? [] : [id]);
}

/** What a merge does to the facts. */
interface EntityMergePlan {
  /** The facts of the name that goes, in order of assertion, each with what it becomes. */
  readonly rewritten: readonly { readonly fact: FactRow; readonly into: JoinedFact }[];
  readonly joined: readonly JoinedFact[];
}

/** A fact that is stored in place of others. */
interface JoinedFact {
  readonly identity: FactIdentity;
  version: FactVersion;
  /** The stored fact that it is a new version of; null: it is new. */
  readonly was: FactRow | null;
}

/** Largest size of a merge's facts as JSON, that of a transaction. */
const maxMergeBytes = 64 * 1024 * 1024;
const factsBetweenBreaths = 256;

/** Plans the merge at this time. Throws if it is impossible. */
async function planOf(
  context: ReadContext,
  { from, into }: Pick<MergeEntitiesInput, 'from' | 'into'>,
  time: number,
): Promise<EntityMergePlan> {
  const {
    tenant: { facts },
    reader,
    pacer,
  } = context;
  const byNumber = new Map<number, FactRow>();
  await eachRowWith(facts, idsOf(facts, from), pacer, (relation, row) => {
    if (!relation.isHeld(row, reader.generation, time)) return;
    pacer.memory.take(bytesOfPlanned);
    byNumber.set(relation.number[row] as number, { relation, row });
  });
  const joined = new TextMap<JoinedFact>();
  const rewritten: { fact: FactRow; into: JoinedFact }[] = [];
  let bytes = 0;
  const inOrder = [...byNumber].sort(([left], [right]) => left - right);
  for (const [at, [, fact]] of inOrder.entries()) {
    if (at % factsBetweenBreaths === 0) await pacer.breathe();
    const before = facts.identityOf(fact);
    const identity = { ...before, args: before.args.map((arg) => (arg === from ? into : arg)) };
    const version = facts.versionAt(fact);
    const key = JSON.stringify([identity.predicate, identity.truthVal, identity.scope, ...identity.args]);
    const other = joined.get(key);
    if (other !== undefined) other.version = mergedVersion(version, other.version);
    else {
      const { predicate, args, truthVal, scope } = identity;
      const stored = facts.find(predicate, args, truthVal, scope);
      const was = stored !== null && facts.isStored(stored, time) ? stored : null;
      const own = was === null ? version : mergedVersion(version, facts.versionAt(was));
      joined.set(key, { identity, version: own, was });
    }
    const whole = joined.get(key) as JoinedFact;
    if (isTooLarge(whole.version))
      throw invalid(
        'from',
        `the metadata of the facts that become ${renderIdentity(identity)} exceed 64 KiB together: shorten them`,
      );
    bytes +=
      writeBytes(before) + (other === undefined ? writeBytes(identity) : 0) + writeBytes(version.metadata);
    if (bytes > maxMergeBytes)
      throw new EngineError(
        'PayloadTooLarge',
        `the facts of ${renderConstant(from)} take more than ${maxMergeBytes} bytes as JSON: a merge is one transaction`,
      );
    rewritten.push({ fact, into: whole });
  }
  const plan = { rewritten, joined: [...joined.values()] };
  await refuseKeys(context, plan, time);
  return plan;
}

/** Conflicts over keys that an answer lists. */
const maxConflictsListed = 100;

/**
 * Throws KeyConflict with all pairs of facts that the merge would give one value of a key that does more than warn. Facts that
 * had one value before stay as they are.
 */
async function refuseKeys(
  { database, tenant: { facts }, pacer }: ReadContext,
  { rewritten, joined }: EntityMergePlan,
  time: number,
): Promise<void> {
  const keys = StrictKeys.of(database.declarations);
  if (keys.isEmpty) return;
  /** Facts that go, or that a joined fact is a new version of. */
  const replaced = new Set(rewritten.map(({ fact }) => facts.idOf(fact)));
  for (const { was } of joined) if (was !== null) replaced.add(facts.idOf(was));
  /** What is stored in place of each joined fact now. */
  const before = new Map<JoinedFact, FactRow[]>();
  for (const { fact, into } of rewritten) before.set(into, [...(before.get(into) ?? []), fact]);
  const holders = new Map<string, KeyHolder[]>();
  const conflicts: { atom: string; scope: string | null; inTheWay: string }[] = [];
  let count = 0;
  for (const [at, each] of joined.entries()) {
    if (at % factsBetweenBreaths === 0) await pacer.breathe();
    const { identity, version, was } = each;
    const key = keys.keyOf(identity);
    if (key === null) continue;
    const value = keyValue(identity, key);
    let others = holders.get(value);
    if (others === undefined) {
      others = [];
      const { rivals, same } = await runInSlices(holdersOf(facts, identity, key, time), () =>
        pacer.breathe(),
      );
      const relation = facts.relation(identity.predicate, identity.args.length, false);
      for (const { row, from, until } of same === null ? rivals : [same, ...rivals]) {
        if (relation === null) continue;
        const fact = { relation, row };
        if (replaced.has(facts.idOf(fact))) continue;
        others.push({ identity: facts.identityOf(fact), bounds: { from, until }, rows: [fact] });
      }
      holders.set(value, others);
    }
    const rows = [...(before.get(each) ?? []), ...(was === null ? [] : [was])];
    for (const other of others) {
      if (!overlap(version, other.bounds) || hadOneValue(facts, key, rows, other.rows)) continue;
      count++;
      if (conflicts.length < maxConflictsListed)
        conflicts.push({
          atom: renderIdentity(identity),
          scope: identity.scope,
          inTheWay: renderIdentity(other.identity),
        });
    }
    others.push({ identity, bounds: version, rows });
  }
  const [first] = conflicts;
  if (first === undefined) return;
  const more = count > 1 ? ` (and ${count - 1} more)` : '';
  throw new EngineError(
    'KeyConflict',
    `${first.atom} would have the same key as ${first.inTheWay}${more}: retract one of the two, or end its validity, before you merge`,
    { conflicts, conflictCount: count },
  );
}

/** A fact that holds a value of a key after the merge, and the facts that are stored for it now. */
interface KeyHolder {
  readonly identity: FactIdentity;
  readonly bounds: Bounds;
  readonly rows: readonly FactRow[];
}

function keyValue({ predicate, args, scope }: FactIdentity, { positions }: StrictKey): string {
  return JSON.stringify([predicate, args.length, scope, ...positions.map((position) => args[position])]);
}

/** True if a fact of each had one value of the key at one instant before. */
function hadOneValue(
  facts: ReadContext['tenant']['facts'],
  key: StrictKey,
  left: readonly FactRow[],
  right: readonly FactRow[],
): boolean {
  const valueOf = (fact: FactRow): string => keyValue(facts.identityOf(fact), key);
  return left.some((one) =>
    right.some(
      (other) => valueOf(one) === valueOf(other) && overlap(facts.versionAt(one), facts.versionAt(other)),
    ),
  );
}

/** Bytes of a planned fact. */
const bytesOfPlanned = 200;

/** Throws if the two names cannot be merged, whatever facts there are. */
function refuseMerge(aliases: AliasStore, from: string, into: string): void {
  if (from === into) throw invalid('into', 'an entity cannot be merged into itself: name two');
  const [above, of] = [aliases.get(into), aliases.get(from)];
  if (above !== null)
    throw conflict(
      `${renderConstant(into)} is an alias of ${renderConstant(above.entity)}: merge into that one, or remove the alias`,
    );
  if (of !== null && of.entity !== into)
    throw conflict(
      `${renderConstant(from)} is an alias of ${renderConstant(of.entity)}: remove the alias, or merge into that one`,
    );
  refuseMore(aliases, into, aliases.of(from).length + (of === null ? 1 : 0));
}

/** The aliases that `into` gets: `from`, and what were aliases of `from`. */
function newAliases(tenant: string, aliases: AliasStore, from: string, into: string): ShapeOperation[] {
  const names = aliases.get(from) === null ? [from, ...aliases.of(from)] : [];
  return names.map((alias) => ({ kind: 'addAlias', tenant, entity: into, alias }));
}

function versionToStore({ identity, version: { from, until, metadata } }: JoinedFact): FactToStore {
  return {
    ...identity,
    validFrom: Number.isFinite(from) ? from : 'always',
    validUntil: Number.isFinite(until) ? until : 'never',
    metadata: metadata ?? {},
  };
}

/** The transaction that the merge amounts to; null: there is nothing to do. */
function operationOf(
  { tenant: { aliases, facts } }: ReadContext,
  { tenant }: Caller,
  { from, into }: MergeEntitiesInput,
  { rewritten, joined }: EntityMergePlan,
): Commit | null {
  const shape = newAliases(tenant, aliases, from, into);
  if (rewritten.length === 0 && shape.length === 0) return null;
  const isNews = ({ was, version }: JoinedFact): boolean =>
    was === null || !areAlike(facts.versionAt(was), version);
  const note: Counts = { facts: rewritten.length, joined: rewritten.length - countNew(joined) };
  return {
    kind: 'commit',
    tenant,
    retract: rewritten.map(({ fact }) => facts.identityOf(fact)),
    assert: joined.filter(isNews).map(versionToStore),
    rules: [],
    shape,
    isExact: true,
    operations: rewritten.length,
    note: JSON.stringify(note),
  };
}

function countNew(joined: readonly JoinedFact[]): number {
  return joined.reduce((count, { was }) => count + (was === null ? 1 : 0), 0);
}

/** What a repeated request is told beside the present aliases. */
interface Counts {
  readonly facts: number;
  readonly joined: number;
}

/** Merges one entity into another. Throws Conflict, ValidationException or PayloadTooLarge. */
export async function mergeEntities(
  writer: Writer,
  caller: Caller,
  input: MergeEntitiesInput,
): Promise<EntitiesMerged> {
  if (input.dryRun) return tryMerge(writer, caller, input);
  const { live } = writer;
  let decided: { readonly plan: EntityMergePlan; readonly rewritten: EntitiesMerged['rewritten'] } | null =
    null;
  const operation = (time: number): Promise<DecidedWrite | null> =>
    inExclusiveCommit(writer, caller, async (context) => {
      refuseMerge(context.tenant.aliases, input.from, input.into);
      const plan = await planOf(context, input, time);
      const commit = operationOf(context, caller, input, plan);
      decided = { plan, rewritten: await listed(context, plan, input.limit) };
      return commit === null ? null : encodeWrite(commit, context.pacer);
    });
  const watch = live.watch(withoutCancellation(caller), defaultLimits, () => noneKnown);
  try {
    const { before } = watch;
    const report = await writer.write({ caller, operation, before });
    const { outcome } = report;
    const isNothing = outcome.kind === 'nothing';
    const { generation } = isNothing ? outcome : outcomeAs(outcome, 'committed');
    if (report.isRepeated || decided === null) {
      const { note = '{"facts":0,"joined":0}' } = isNothing ? {} : outcomeAs(outcome, 'committed');
      const counts = {
        ...(JSON.parse(note) as Counts),
        gained: 0,
        lost: 0,
        consequencesComplete: false as const,
      };
      return await answer(writer, caller, input, { ...counts, rewritten: [], generation });
    }
    const { plan, rewritten } = decided as { plan: EntityMergePlan; rewritten: EntitiesMerged['rewritten'] };
    let found = noConsequences;
    if (!isNothing) {
      const { context, hold } = watch.seen();
      const after = live.after(context, generation, context.reader.program, hold.version);
      // The write is done, so a client that goes away cancels nothing.
      found = await consequences(plan, context, after, input.timeoutMs, withoutCancellation(caller));
    }
    return await answer(writer, caller, input, { ...countsOf(plan, found), rewritten, generation });
  } finally {
    watch.end();
  }
}

/** The answer of `mergeEntities` without changing anything. */
async function tryMerge(writer: Writer, caller: Caller, input: MergeEntitiesInput): Promise<EntitiesMerged> {
  return writer.live.reading(
    caller,
    unlimited,
    async (context) => {
      const { reader, pacer, tenant } = context;
      const { from, into } = input;
      refuseMerge(tenant.aliases, from, into);
      const plan = await planOf(context, input, reader.time);
      const operation = operationOf(context, caller, input, plan);
      if (operation !== null) await writer.refuseUnfit(caller, operation);
      let found = noConsequences;
      if (plan.rewritten.length > 0) {
        const overlay = new FactOverlay(reader);
        for (const [at, { fact }] of plan.rewritten.entries()) {
          if (at % factsBetweenBreaths === 0) await pacer.breathe();
          overlay.hideStored(fact);
        }
        for (const [at, joined] of plan.joined.entries()) {
          if (at % factsBetweenBreaths === 0) await pacer.breathe();
          overlay.store(versionToStore(joined));
        }
        const after = { ...context, reader: { ...reader, overlay } };
        found = await consequences(plan, context, after, input.timeoutMs, caller);
      }
      const rewritten = await listed(context, plan, input.limit);
      const aliases = [...tenant.aliases.of(into), ...tenant.aliases.of(from), from];
      return {
        from,
        into,
        ...countsOf(plan, found),
        aliases: [...new Set(aliases)].sort(compareText),
        rulesMentioning: await rulesNaming(new Set([from]), { kind: 'all' }, context),
        rewritten,
        generation: reader.generation,
        dryRun: true,
      };
    },
    null,
  );
}

function countsOf(
  { rewritten, joined }: EntityMergePlan,
  found: Consequences,
): Counts & Pick<EntitiesMerged, 'gained' | 'lost' | 'consequencesComplete' | 'notWorkedOut'> {
  const { gained, lost } = found;
  const facts = rewritten.length;
  return { facts, joined: facts - countNew(joined), gained, lost, ...completenessPart(found) };
}

/** The conclusions that the merge gains and loses in the views of the scopes that it writes to. */
async function consequences(
  { rewritten, joined }: EntityMergePlan,
  before: ReadContext,
  after: ReadContext,
  timeoutMs: number,
  { signal }: Caller,
): Promise<Consequences> {
  if (rewritten.length === 0) return noConsequences;
  const relations = relationsOf(rewritten.map(({ fact }) => fact));
  const views = viewsOfWrites(new Set(joined.map(({ identity }) => identity.scope)));
  return consequencesOf({ before, after, relations, views }, { ...defaultLimits, timeoutMs, signal });
}

/** The first rewritten facts as answers show them, from the state before the merge. */
async function listed(
  { tenant: { facts }, pacer, reader: { names } }: ReadContext,
  { rewritten }: EntityMergePlan,
  limit: number,
): Promise<EntitiesMerged['rewritten']> {
  const shown: EntitiesMerged['rewritten'] = [];
  const asShown = (identity: FactIdentity, { from, until, metadata }: FactVersion): RewrittenFact => ({
    ...identity,
    args: [...identity.args],
    ...names.part(identity.predicate, identity.args),
    validFrom: Number.isFinite(from) ? from : null,
    validUntil: Number.isFinite(until) ? until : null,
    metadata: metadata ?? {},
  });
  const stored = (fact: FactRow): RewrittenFact => asShown(facts.identityOf(fact), facts.versionAt(fact));
  for (const { fact, into } of rewritten.slice(0, Math.min(limit, maxRewrittenListed))) {
    const { identity, version, was } = into;
    shown.push({
      before: stored(fact),
      after: asShown(identity, version),
      joined: was === null ? null : stored(was),
    });
    if (shown.length % factsBetweenBreaths === 0) await pacer.breathe();
  }
  return shown;
}

/** The answer about a merge that is done: what the entity is now called, and the rules that still name the other. */
function answer(
  { live }: Writer,
  caller: Caller,
  { from, into }: MergeEntitiesInput,
  told: Omit<EntitiesMerged, 'from' | 'into' | 'aliases' | 'rulesMentioning'>,
): Promise<EntitiesMerged> {
  return live.reading(withoutCancellation(caller), unlimited, async (context) => ({
    from,
    into,
    aliases: context.tenant.aliases.of(into).sort(compareText),
    rulesMentioning: await rulesNaming(new Set([from]), { kind: 'all' }, context),
    ...told,
  }));
}
