/**
 * POST /history/revert: one transaction that takes back what a range of generations changed.
 *
 * What the range changed, net, and what later generations touched is found by replaying the records. Nothing is locked
 * meanwhile; the commit then checks, exclusively, that everything it writes is still as the replay left it.
 */
import { present } from '../base/assert.ts';
import type { Caller } from '../base/caller.ts';
import { EngineError, invalid } from '../base/errors.ts';
import type { Slices } from '../base/slices.ts';
import { encodeWrite } from '../commit/encode-operation.ts';
import { KeyCheck, refuseMisfits } from '../commit/prepare-shape.ts';
import type { DecidedWrite } from '../commit/commit-pipeline.ts';
import type { Reverted, RevertInput } from '../contract/history.ts';
import type { KnownAt } from '../contract/moments.ts';
import { renderIdentity } from '../language/print.ts';
import type { RetainedLog } from '../log/retained.ts';
import { declarationsAfter, type ShapeChange } from '../state/apply-shape.ts';
import {
  type Commit,
  type Outcome,
  outcomeAs,
  type RuleOperation,
  type ShapeOperation,
} from '../state/operation.ts';
import type { Report, RuleChange } from '../state/report.ts';
import type { DatabaseState } from '../state/state.ts';
import type { Writer } from '../session/writer.ts';
import {
  type FactIdentity,
  type FactRow,
  type FactStore,
  type FactToStore,
  type FactVersion,
} from '../store/fact-store.ts';
import { areAlike, sameJson } from '../store/fact-to-store.ts';
import { checkRulesInTurn } from '../write/commit-check.ts';
import { writeBytes } from '../write/net-writes.ts';
import { factEffects, Listed, shownRule, shownShape } from './effects.ts';
import { type ReplaySlices, replayTo } from './replay.ts';

/** Facts, rules and other things that one revert may write, and their size as JSON. */
const maxReverted = 100_000;
const maxRevertedBytes = 64 * 1024 * 1024;
/** Touched things listed by a refusal. */
const maxTouchedListed = 1000;
const effectsBetweenBreaths = 256;

/** What the range made of one fact: its versions before and after it; null: not stored. */
interface NetFact {
  readonly identity: FactIdentity;
  readonly before: FactVersion | null;
  after: FactVersion | null;
}

/** What the range made of a rule, or of a declaration, constraint, test or alias. */
interface Net<Change> {
  readonly first: Change;
  last: Change;
}

/** What a later generation touched. */
interface Touched {
  readonly what: string;
  readonly generation: number;
}

/** The net changes of a range, and what touched them later. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly facts: ReadonlyMap<string, NetFact>;
  readonly rules: ReadonlyMap<string, Net<RuleChange>>;
  readonly shape: ReadonlyMap<string, Net<ShapeChange>>;
  readonly touched: readonly Touched[];
  /** The generation up to which touches were looked for. */
  readonly seenThrough: number;
}

/** Where the range lies in what was replayed. */
interface Extent {
  /** Sequence of the last record to replay. */
  readonly newest: number;
  /** The present generation, and the latest stamp. */
  readonly generation: number;
  readonly time: number;
  /** What was stored for the tenant up to this generation was erased. */
  readonly erasedThrough: number;
  readonly slices: ReplaySlices;
}

/** Replays the records from the beginning of the range to now. Rejects with HistoryGone, PayloadTooLarge or a 400. */
export async function changesOfRange(
  retained: RetainedLog,
  { database, tenant }: Caller,
  input: RevertInput,
  extent: Extent,
): Promise<Range> {
  const { newest, slices, erasedThrough } = extent;
  const single = (by: number): KnownAt => ({
    kind: 'generation',
    generation: present(input.generation, 'a range is given') + by,
  });
  const from = input.from ?? single(-1);
  const to = input.to ?? single(0);
  refuseFuture(input, { from, to }, extent);
  const replay = await replayTo(retained, from, database, slices);
  const net = new NetChanges(tenant, input.rules, slices);
  let [first, last] = [replay.generation, replay.generation];
  if (from.kind === 'generation' && erasedThrough > from.generation) throw erased(erasedThrough);
  for await (const { record, report } of replay.through(newest)) {
    const { generation } = report;
    if (isUpTo(from, generation, record.time)) {
      first = last = generation;
      continue;
    }
    if (first < erasedThrough) throw erased(erasedThrough);
    if (isUpTo(to, generation, record.time)) {
      last = generation;
      await net.take(report);
    } else await net.touch(report);
  }
  if (last < first) throw invalid('to', 'the range ends before it begins: give a later moment in to');
  return { from: first, to: last, ...net.result(), seenThrough: replay.generation };
}

function refuseFuture(
  { generation: single }: RevertInput,
  range: { readonly from: KnownAt; readonly to: KnownAt },
  { generation, time }: Extent,
): void {
  for (const path of ['from', 'to'] as const) {
    const moment = range[path];
    const isFuture = moment.kind === 'generation' ? moment.generation > generation : moment.time > time;
    if (isFuture)
      throw invalid(
        single === null ? path : 'generation',
        `this moment is in the future: the last generation is ${generation}`,
      );
  }
  const { from, to } = range;
  const isEmpty =
    from.kind === 'generation' && to.kind === 'generation'
      ? to.generation < from.generation
      : from.kind === 'instant' && to.kind === 'instant' && to.time < from.time;
  if (isEmpty) throw invalid('to', 'the range ends before it begins: give a later moment in to');
}

function erased(through: number): EngineError {
  return new EngineError(
    'HistoryGone',
    `what this tenant had up to generation ${through} was erased: it cannot be taken back`,
    { earliest: { generation: through, time: null } },
  );
}

function isUpTo(moment: KnownAt, generation: number, time: number): boolean {
  return moment.kind === 'generation' ? generation <= moment.generation : time <= moment.time;
}

/** Collects what a range changed, then what touched that. */
class NetChanges {
  readonly #tenant: string;
  readonly #withRules: boolean;
  readonly #slices: Slices;
  readonly #facts = new Map<string, NetFact>();
  readonly #rules = new Map<string, Net<RuleChange>>();
  readonly #shape = new Map<string, Net<ShapeChange>>();
  readonly #touched = new Map<string, Touched>();
  #bytes = 0;

  constructor(tenant: string, withRules: boolean, slices: Slices) {
    this.#tenant = tenant;
    this.#withRules = withRules;
    this.#slices = slices;
  }

  result(): Pick<Range, 'facts' | 'rules' | 'shape' | 'touched'> {
    return {
      facts: this.#facts,
      rules: this.#rules,
      shape: this.#shape,
      touched: [...this.#touched.values()],
    };
  }

  /** Takes in the changes of a write of the range. */
  async take(report: Report): Promise<void> {
    if (report.cleared !== null)
      throw new EngineError(
        'Conflict',
        'a deletion or a nuke in the range erased what it removed: it cannot be taken back',
      );
    await this.#eachFact(report, (key, facts, before, after) => {
      const known = this.#facts.get(key);
      if (known !== undefined) known.after = after === null ? null : facts.versionAt(after);
      else this.#add(key, facts, before, after);
    });
    for (const change of report.rules) {
      if (!change.isChange) continue;
      const known = this.#rules.get(change.after.id);
      if (known === undefined) this.#rules.set(change.after.id, { first: change, last: change });
      else known.last = change;
    }
    for (const change of report.shape) {
      if (!this.#isOwn(change, report)) continue;
      const key = keyOfShape(change);
      const known = this.#shape.get(key);
      if (known === undefined) this.#shape.set(key, { first: change, last: change });
      else known.last = change;
    }
  }

  /** Notes which of the changed things a later write touched. */
  async touch(report: Report): Promise<void> {
    const { generation } = report;
    const note = (key: string, what: string): void => {
      if (!this.#touched.has(key) && this.#touched.size < maxTouchedListed)
        this.#touched.set(key, { what, generation });
    };
    await this.#eachFact(report, (key) => {
      const known = this.#facts.get(key);
      if (known !== undefined) note(key, renderIdentity(known.identity));
    });
    if (report.cleared?.tenants.has(this.#tenant) === true)
      for (const [key, { identity }] of this.#facts) note(key, renderIdentity(identity));
    for (const { after, isChange } of report.rules)
      if (isChange && this.#withRules && this.#rules.has(after.id))
        note(after.id, `the rule ${after.id}: ${after.text}`);
    for (const change of report.shape) {
      const key = keyOfShape(change);
      const isAbout = this.#withRules || change.kind === 'alias';
      if (isAbout && this.#isOwn(change, report) && this.#shape.has(key))
        note(key, `the ${change.kind} ${shownShape(change).name}`);
    }
  }

  #isOwn({ kind, isChange }: ShapeChange, { tenant }: Report): boolean {
    return isChange && (kind !== 'alias' || tenant === this.#tenant);
  }

  async #eachFact(
    report: Report,
    take: (key: string, facts: FactStore, before: FactRow | null, after: FactRow | null) => void,
  ): Promise<void> {
    const facts = report.database.tenants.get(this.#tenant)?.facts;
    if (report.tenant !== this.#tenant || facts === undefined) return;
    let seen = 0;
    for (const { before, after } of factEffects(report)) {
      const fact = after ?? before;
      if (fact !== null) take(keyOfFact(facts.identityOf(fact)), facts, before, after);
      if (++seen % effectsBetweenBreaths === 0) await this.#slices.breathe();
    }
  }

  #add(key: string, facts: FactStore, before: FactRow | null, after: FactRow | null): void {
    const identity = facts.identityOf(present(after ?? before, 'an effect is on a fact'));
    const versionOf = (fact: FactRow | null): FactVersion | null => fact && facts.versionAt(fact);
    const net: NetFact = { identity, before: versionOf(before), after: versionOf(after) };
    this.#facts.set(key, net);
    this.#bytes += writeBytes(identity) + writeBytes(net.before?.metadata ?? null);
    if (this.#facts.size <= maxReverted && this.#bytes <= maxRevertedBytes) return;
    throw new EngineError(
      'PayloadTooLarge',
      `the range changed more than ${maxReverted} facts, or more than 64 MiB of them: take it back in smaller ranges`,
    );
  }
}

function keyOfFact({ predicate, args, truthVal, scope }: FactIdentity): string {
  return JSON.stringify([predicate, args, truthVal, scope]);
}

function keyOfShape(change: ShapeChange): string {
  const { kind } = change;
  switch (kind) {
    case 'declaration': {
      const named = present(change.after ?? change.before, 'a change has a before or an after');
      return JSON.stringify([kind, named.name, named.arity]);
    }
    case 'constraint':
      return JSON.stringify([kind, present(change.after ?? change.before, 'a change has one').id]);
    case 'test':
      return JSON.stringify([kind, present(change.after ?? change.before, 'a change has one').name]);
    case 'alias':
      return JSON.stringify([kind, present(change.after ?? change.before, 'a change has one').alias]);
  }
}

/** The transaction that takes a range back, and what it does; `operation` null: there is nothing to do. */
interface Plan {
  readonly operation: Commit | null;
  readonly answer: Omit<Reverted, 'generation' | 'dryRun'>;
}

/** The transaction for a range, as of the present `database`. Throws Conflict if something was touched meanwhile. */
function planOf(
  range: Range,
  database: DatabaseState,
  {
    tenant,
    withRules,
    time,
  }: { readonly tenant: string; readonly withRules: boolean; readonly time: number },
): Plan {
  const { from, to } = range;
  refuseTouched(range);
  const lists = { added: new Listed(), removed: new Listed(), changed: new Listed() };
  const retract: FactIdentity[] = [];
  let hasEnded = false;
  const assert: FactToStore[] = [];
  const facts = database.tenants.get(tenant)?.facts ?? null;
  for (const { identity, before, after } of range.facts.values()) {
    const { predicate, args, truthVal, scope } = identity;
    if (facts !== null && facts.changedAt(predicate, args, truthVal, scope) > range.seenThrough)
      throw changedMeanwhile(renderIdentity(identity));
    const row = facts?.find(predicate, args, truthVal, scope) ?? null;
    const isStored = row !== null && facts?.isStored(row, time) === true;
    // A fact whose validity has ended is still known: `asOf` sees it, until it is retracted.
    const isKnown = row !== null && row.relation.isAlive(row.row);
    const wasStored = before !== null && (before.until > time || !isKnown);
    if (!wasStored) {
      if (!isKnown || after === null) continue;
      hasEnded ||= !isStored;
      retract.push(identity);
      lists.removed.add(() => renderIdentity(identity));
      continue;
    }
    if (isStored && after !== null && areAlike(before, after)) continue;
    assert.push(factToStore(identity, before));
    lists[isStored ? 'changed' : 'added'].add(() => renderIdentity(identity));
  }
  const ruleChanges = [...range.rules.values()];
  const shapeChanges = [...range.shape.values()];
  const isAbout = ({ last: { kind } }: Net<ShapeChange>): boolean => withRules || kind === 'alias';
  const rules = withRules ? ruleChanges.flatMap((net) => ruleBack(net, database)) : [];
  const shape = shapeChanges.filter(isAbout).flatMap((net) => shapeBack(net, database, tenant));
  const operations = retract.length + assert.length + rules.length + shape.length;
  const answer: Plan['answer'] = {
    status: operations === 0 ? 'unchanged' : 'reverted',
    from,
    to,
    added: lists.added.list,
    removed: lists.removed.list,
    changed: lists.changed.list,
    rules: withRules ? ruleChanges.filter(isNetChange).map((net) => shownRule(backOf(net))) : [],
    declarations: shapeChanges
      .filter((net) => isAbout(net) && isNetShape(net))
      .map(({ first, last }) =>
        shownShape({ ...last, before: last.after, after: first.before } as ShapeChange),
      ),
    left: {
      rules: withRules ? 0 : ruleChanges.filter(isNetChange).length,
      declarations: shapeChanges.filter((net) => !isAbout(net) && isNetShape(net)).length,
    },
  };
  // What began earlier first, as it was written.
  assert.sort((one, other) => beginOf(one) - beginOf(other));
  const ended = hasEnded ? { retractsEnded: true as const } : {};
  const writes = { retract, ...ended, assert, rules, ...(shape.length === 0 ? {} : { shape }) };
  const note = JSON.stringify(answer);
  return {
    operation: operations === 0 ? null : { kind: 'commit', tenant, ...writes, operations, note },
    answer,
  };
}

function refuseTouched({ touched, to }: Range): void {
  if (touched.length === 0) return;
  const [first] = touched;
  const more = touched.length > 1 ? `, and ${touched.length - 1} more` : '';
  throw new EngineError(
    'Conflict',
    `later generations than ${to} touched what the range changed: ${first?.what} in ${first?.generation}${more}. ` +
      'Take these back first, or give a range that includes them',
    { touched },
  );
}

function changedMeanwhile(what: string): EngineError {
  return new EngineError('Conflict', `${what} was changed while the revert was prepared: try again`, {
    touched: [{ what, generation: null }],
  });
}

function factToStore(identity: FactIdentity, { from, until, metadata }: FactVersion): FactToStore {
  return {
    ...identity,
    validFrom: Number.isFinite(from) ? from : 'always',
    validUntil: Number.isFinite(until) ? until : 'never',
    metadata: metadata ?? {},
  };
}

function beginOf({ validFrom }: FactToStore): number {
  return typeof validFrom === 'number' ? validFrom : Number.NEGATIVE_INFINITY;
}

function isNetChange({ first, last }: Net<RuleChange>): boolean {
  return first.before !== null || last.status !== 'retracted';
}

function isNetShape({ first, last }: Net<ShapeChange>): boolean {
  return !sameJson(first.before, last.after);
}

/** The change of a rule that takes the others back. */
function backOf({ first, last }: Net<RuleChange>): RuleChange {
  const isGone = last.status === 'retracted';
  if (first.before === null)
    return { before: last.after, after: last.after, status: 'retracted', isChange: true };
  const status = isGone ? 'asserted' : 'updated';
  return { before: isGone ? null : last.after, after: first.before, status, isChange: true };
}

function ruleBack(net: Net<RuleChange>, { rules }: DatabaseState): RuleOperation[] {
  if (!isNetChange(net)) return [];
  const { first, last } = net;
  const { id } = last.after;
  const isGone = last.status === 'retracted';
  const now = rules.get(id) ?? null;
  if (isGone ? now !== null : now?.changedIn !== last.after.changedIn)
    throw changedMeanwhile(`the rule ${id}`);
  if (first.before === null) return [{ kind: 'forgetRule', id }];
  const { rule, scope, name, description, enabled } = first.before;
  const before = { rule, scope, name, description, enabled };
  return [isGone ? { kind: 'teach', rule: before } : { kind: 'updateRule', id, rule: before }];
}

function shapeBack(net: Net<ShapeChange>, database: DatabaseState, tenant: string): ShapeOperation[] {
  if (!isNetShape(net)) return [];
  const { first, last } = net;
  const refuse = (now: unknown): void => {
    if (!sameJson(now ?? null, last.after))
      throw changedMeanwhile(`the ${last.kind} ${shownShape(last).name}`);
  };
  if (first.kind === 'declaration' && last.kind === 'declaration') {
    const named = present(last.after ?? last.before, 'a change has a before or an after');
    refuse(database.declarations.get(named.name, named.arity));
    if (first.before === null) return [{ kind: 'withdraw', name: named.name, arity: named.arity }];
    const { createdAt: _createdAt, changedIn: _changedIn, ...declaration } = first.before;
    return [{ kind: 'declare', declaration }];
  }
  if (first.kind === 'constraint' && last.kind === 'constraint') {
    const { id } = present(last.after ?? last.before, 'a change has a before or an after');
    refuse(database.constraints.get(id));
    if (first.before === null) return [{ kind: 'deleteConstraint', id }];
    const { id: _id, createdAt: _createdAt, changedIn: _changedIn, ...constraint } = first.before;
    return [
      last.after === null
        ? { kind: 'addConstraint', constraint }
        : { kind: 'updateConstraint', id, constraint },
    ];
  }
  if (first.kind === 'test' && last.kind === 'test') {
    const { name } = present(last.after ?? last.before, 'a change has a before or an after');
    refuse(database.tests.get(name));
    if (first.before === null) return [{ kind: 'deleteTest', name }];
    const { text, scope } = first.before;
    return [{ kind: 'putTest', test: { name, text, scope } }];
  }
  if (first.kind !== 'alias' || last.kind !== 'alias') return [];
  const named = present(last.after ?? last.before, 'a change has a before or an after');
  refuse(database.tenants.get(tenant)?.aliases.get(named.alias));
  const { alias } = named;
  return first.before === null
    ? [{ kind: 'removeAlias', tenant, entity: named.entity, alias }]
    : [{ kind: 'addAlias', tenant, entity: first.before.entity, alias }];
}

/** Judges the transaction by rules, declarations and keys, as the commit of a transaction. */
async function judge(
  operation: Commit,
  database: DatabaseState,
  { time, slices }: { readonly time: number; readonly slices: Slices },
): Promise<void> {
  const { lastGeneration: generation } = database;
  await checkRulesInTurn(database, operation.rules, { time, generation }, slices);
  const declarations = declarationsAfter(database, operation.shape ?? []);
  if (declarations.size === 0) return;
  const gone = new Set(operation.retract.map(keyOfFact));
  const facts = database.tenants.get(operation.tenant)?.facts ?? null;
  const keys = new KeyCheck(declarations, facts, time, (fact) => gone.has(keyOfFact(fact)));
  for (const fact of operation.assert) {
    refuseMisfits(declarations, fact, '');
    for (const step of keys.check(fact, '')) if (step === 'more') await slices.breathe();
  }
}

/** Takes a range back, or says what that would do. */
export async function revertRange(
  writer: Writer,
  caller: Caller,
  input: RevertInput,
  range: Range,
): Promise<Reverted> {
  const { live } = writer;
  const slices = writer.slices(caller);
  const planned = async (time: number): Promise<Plan> => {
    const database = live.database(caller);
    const plan = planOf(range, database, { tenant: caller.tenant, withRules: input.rules, time });
    if (plan.operation !== null) await judge(plan.operation, database, { time, slices });
    return plan;
  };
  if (input.dryRun) {
    const { operation, answer } = await planned(live.showTime());
    if (operation !== null) await writer.refuseUnfit(caller, operation);
    return { ...answer, generation: live.database(caller).generationOf(caller.tenant), dryRun: true };
  }
  const decided: { answer: Plan['answer'] | null } = { answer: null };
  const operation = async (time: number): Promise<DecidedWrite | null> => {
    const plan = await planned(time);
    decided.answer = plan.answer;
    return plan.operation === null ? null : encodeWrite(plan.operation, slices);
  };
  const { outcome } = await writer.write({ caller, operation });
  if (outcome.kind === 'nothing')
    return { ...present(decided.answer, 'the revert was decided'), generation: outcome.generation };
  return answerLogged(outcome);
}

/** The answer of a revert from its outcome, which a repeated request gets too. */
export function answerLogged(outcome: Outcome): Reverted {
  const { note, generation } = outcomeAs(outcome, 'committed');
  const answer = JSON.parse(present(note, 'a revert logs its answer')) as Plan['answer'];
  return { ...answer, generation };
}
