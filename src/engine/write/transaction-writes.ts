import type { Caller } from '../base/caller.ts';
import type { ReadContext } from '../session/read-context.ts';
import { noSuchFact } from '../read/describe.ts';
import { changeRules } from '../state/apply-rules.ts';
import type { FactInput, RetractInput } from '../contract/facts.ts';
import type { RuleInput } from '../contract/rules.ts';
import type { RuleUpdateInput } from './rules.ts';
import type { Pending } from '../contract/transactions.ts';
import {
  type Bounds,
  boundsAfter,
  type FactIdentity,
  type FactPattern,
  type FactToStore,
  openBounds,
} from '../store/fact-store.ts';
import type { RuleStore } from '../store/rule-store.ts';
import { patternOf } from '../session/dependents.ts';
import { hintsOfFacts, hintsOfRule, hintsPart } from '../read/hints.ts';
import { KnownNames } from '../read/known-names.ts';
import { renderAtom, renderRule, renderIdentity } from '../language/print.ts';
import type { NetWrites, WriteChange } from './net-writes.ts';
import type { RuleOperation, ShapeOperation } from '../state/operation.ts';
import { constraintsAfter, declarationsAfter, testsAfter } from '../state/apply-shape.ts';
import { StrictKeys } from '../state/key-rule.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { refuseMisfits } from '../commit/prepare-shape.ts';
import { checkDeclared } from './declarations.ts';
import { additionOf, constraintChanges, constraintToStore, refuseTwin } from './constraints.ts';
import { requireConstraint } from '../read/violations.ts';
import { checkTests, deletionsOf, testsToStore } from './stored-tests.ts';
import type { DeletedTests, StoreTestsInput } from '../contract/stored-tests.ts';
import type { ConstraintStore } from '../store/constraint-store.ts';
import type { ConstraintInput, ConstraintUpdate } from '../contract/constraints.ts';
import type { AliasInput } from '../contract/entities.ts';
import { aliasesAfter, checkPendingAlias } from './entities.ts';
import { invalid } from '../base/errors.ts';
import { withShapeHints } from './tell.ts';
import { checkUnchanged, checkValidity, factToStore } from '../commit/prepare-facts.ts';
import { checkRuleOperation, requireMatch, requireRule, ruleToStore } from '../commit/prepare-rules.ts';

/** Context of one write within a transaction. */
export interface Writing {
  readonly caller: Caller;
  /** When the write was requested, epoch milliseconds: a `ttl` runs from then. */
  readonly now: number;
  /** The committed state, pinned for the duration of the write. */
  readonly context: ReadContext;
  readonly writes: NetWrites;
  /** A copy of the committed rules with the transaction's own; `put` changes it. */
  readonly rules: () => RuleStore;
  /** Adds the changes in order; `check` can refuse a change by its index before it is added. */
  readonly put: (changes: readonly WriteChange[], check?: (at: number) => void) => Promise<void>;
}

type Write = (writing: Writing) => Promise<Pending>;

/**
 * The writes that can be part of a transaction. Each is checked against the committed state with the transaction's own
 * writes over it, and added as changes of single facts and rules.
 */
export const pendingWrites = {
  tell:
    ({ ifGeneration, ...input }: FactInput & { ifGeneration: number | null }): Write =>
    async (writing) => {
      const fact = factToStore(input, writing.now);
      const declarations = declarationsOf(writing);
      refuseMisfits(declarations, fact, '');
      const hints = withShapeHints(declarations, [fact], hintsOfFacts(knownBefore(writing), [fact]));
      await writing.put([assertion(fact, declarations)], () => {
        checkValidity(fact, '', boundsBefore(writing, fact));
        if (ifGeneration !== null) checkUnchanged(writing.context.tenant.facts, fact, ifGeneration);
      });
      return { status: 'pending', atom: renderIdentity(fact), ...hintsPart(hints) };
    },

  tellAll:
    (inputs: readonly FactInput[]): Write =>
    async (writing) => {
      const facts: FactToStore[] = [];
      for (const input of inputs) {
        if (facts.push(factToStore(input, writing.now)) % 256 === 0) await writing.context.pacer.breathe();
      }
      const declarations = declarationsOf(writing);
      const hints = withShapeHints(declarations, facts, hintsOfFacts(knownBefore(writing), facts));
      const changes = facts.map((fact) => assertion(fact, declarations));
      await writing.put(changes, (at) => {
        const fact = facts[at] as FactToStore;
        if (declarations.size > 0) refuseMisfits(declarations, fact, `facts.${at}.`);
        checkValidity(fact, `facts.${at}.`, boundsBefore(writing, fact));
      });
      return { status: 'pending', facts: facts.length, ...hintsPart(hints) };
    },

  forget:
    (input: RetractInput): Write =>
    async (writing) => {
      const found = await factsFound(writing, patternOf(input), input.ifGeneration);
      const { predicate, args, truthVal, dryRun } = input;
      const atom = renderAtom({ predicate, args, negated: truthVal === false });
      const pending: Pending = { status: 'pending', atom, retracted: found.length };
      if (dryRun) return { ...pending, dryRun };
      await writing.put(found.map((identity) => ({ kind: 'retract', identity })));
      return pending;
    },

  forgetById:
    (id: string): Write =>
    async (writing) => {
      const { facts } = writing.context.tenant;
      const known = facts.byId(id);
      const identity = known === null ? null : facts.identityOf(known);
      const stored = identity === null ? null : storedRow(writing, identity);
      if (identity === null || stored === null || facts.idOf(stored) !== id) throw noSuchFact(id);
      // A fact asserted in its place since has another id.
      if (writing.writes.find(identity)?.isRetracted === true) throw noSuchFact(id);
      await writing.put([{ kind: 'retract', identity }]);
      return { status: 'pending', atom: renderIdentity(identity) };
    },

  teach:
    ({ runTests = false, ...input }: RuleInput & { readonly runTests?: boolean }): Write =>
    async (writing) => {
      refuseTests(runTests);
      return writeRule(writing, { kind: 'teach', rule: ruleToStore(input) });
    },

  updateRule:
    (id: string, { runTests = false, ...input }: RuleUpdateInput): Write =>
    async (writing) => {
      refuseTests(runTests);
      return writeRule(writing, { kind: 'updateRule', id, rule: ruleToStore(input) });
    },

  forgetRule:
    (id: string, runTests = false): Write =>
    async (writing) => {
      refuseTests(runTests);
      return writeRule(writing, { kind: 'forgetRule', id });
    },

  shape:
    (operation: ShapeOperation): Write =>
    async (writing) => {
      await writing.put([operation], () => checkDeclared(declarationsOf(writing), operation));
      const named =
        operation.kind === 'declare'
          ? operation.declaration
          : operation.kind === 'withdraw'
            ? operation
            : null;
      return { status: 'pending', ...(named === null ? {} : { predicate: `${named.name}/${named.arity}` }) };
    },

  storeTests:
    (input: StoreTestsInput): Write =>
    async (writing) => {
      const { names } = declarationsOf(writing);
      const given = await testsToStore(input, names, writing.context.pacer);
      return changeTests(
        writing,
        given.map((test) => ({ kind: 'putTest', test })),
        input.dryRun,
      );
    },

  deleteTests:
    ({ names, dryRun }: DeletedTests): Write =>
    (writing) =>
      changeTests(writing, deletionsOf(names), dryRun),

  addAlias:
    (input: AliasInput): Write =>
    async (writing) => {
      const { caller, context, writes } = writing;
      const isNew = await checkPendingAlias(context, writes, input);
      if (isNew) await writing.put([{ kind: 'addAlias', tenant: caller.tenant, ...input }]);
      return { status: 'pending', ...input };
    },

  removeAlias:
    (input: AliasInput): Write =>
    async (writing) => {
      const { caller, context, writes } = writing;
      const isThere =
        aliasesAfter(context.tenant.aliases, writes.shape).get(input.alias)?.entity === input.entity;
      if (isThere) await writing.put([{ kind: 'removeAlias', tenant: caller.tenant, ...input }]);
      return { status: 'pending', ...input };
    },

  addConstraint:
    (input: ConstraintInput): Write =>
    async (writing) => {
      refuseDryRun(input);
      const constraint = constraintToStore(input);
      const addition = additionOf(constraintsOf(writing), constraint);
      const known = addition.kind === 'updateConstraint' ? addition.id : null;
      // One that the transaction adds gets its id at commit.
      const id = known !== null && writing.context.database.constraints.get(known) !== null ? known : null;
      await writing.put([addition], () => refuseTwin(constraintsOf(writing), { ...constraint, id }));
      return { status: 'pending', constraint: constraint.text };
    },

  updateConstraint:
    (id: string, input: ConstraintUpdate): Write =>
    async (writing) => {
      refuseDryRun(input);
      const constraint = constraintChanges(input);
      let { text } = requireConstraint(writing.context.database.constraints, id);
      await writing.put([{ kind: 'updateConstraint', id, constraint }], () => {
        const constraints = constraintsOf(writing);
        const after = { ...requireConstraint(constraints, id), ...constraint };
        refuseTwin(constraints, after);
        ({ text } = after);
      });
      return { status: 'pending', constraint: text };
    },

  deleteConstraint:
    (id: string): Write =>
    async (writing) => {
      const { text } = requireConstraint(writing.context.database.constraints, id);
      await writing.put(
        [{ kind: 'deleteConstraint', id }],
        () => void requireConstraint(constraintsOf(writing), id),
      );
      return { status: 'pending', constraint: text };
    },
};

/** Changes tests; a dry run only checks it. */
async function changeTests(
  writing: Writing,
  operations: readonly Extract<ShapeOperation, { kind: 'putTest' | 'deleteTest' }>[],
  dryRun: boolean,
): Promise<Pending> {
  const { context, writes } = writing;
  checkTests(testsAfter(context.database, writes.shape), operations);
  const tests = operations.map((each) => (each.kind === 'putTest' ? each.test.name : each.name));
  if (dryRun) return { status: 'pending', tests, dryRun };
  await writing.put(operations);
  return { status: 'pending', tests };
}

/** Tests judge a transaction as a whole, at its commit. */
function refuseTests(runTests: boolean): void {
  if (runTests)
    throw invalid('runTests', 'tests judge a transaction as a whole: give runTests to its commit');
}

/** Constraints are tried alone: a transaction by a dry run of its commit. */
function refuseDryRun({ dryRun }: { readonly dryRun: boolean }): void {
  if (dryRun)
    throw invalid(
      'dryRun',
      'a constraint is not tried within a transaction: leave out X-Transaction-ID, or commit with dryRun',
    );
}

/** The constraints as the transaction sees them. */
function constraintsOf({ context, writes }: Writing): ConstraintStore {
  return constraintsAfter(context.database, writes.shape);
}

/** The declarations as the transaction sees them. */
function declarationsOf({ context, writes }: Writing): DeclarationStore {
  return declarationsAfter(context.database, writes.shape);
}

function assertion(fact: FactToStore, declarations: DeclarationStore): WriteChange {
  if (declarations.size === 0 || StrictKeys.of(declarations).keyOf(fact) === null)
    return { kind: 'assert', fact };
  return { kind: 'assert', fact, isKeyed: true };
}

/** The names that the caller could mean just before the write. */
function knownBefore(writing: Writing, rules = writing.context.database.rules): KnownNames {
  const { context, writes, now } = writing;
  const { facts } = context.tenant;
  const { generation } = context.reader;
  return KnownNames.forWriting(
    facts,
    rules,
    { generation, time: now, names: declarationsOf(writing).names },
    writes.names,
  );
}

async function writeRule(writing: Writing, operation: RuleOperation): Promise<Pending> {
  const { database, reader } = writing.context;
  // A rule taught in the transaction gets its id at commit.
  if (operation.kind !== 'teach') requireMatch(writing.caller, requireRule(database, operation.id));
  const rules = writing.rules();
  const given = operation.kind === 'forgetRule' ? null : operation.rule.rule;
  const hints = given === null ? [] : hintsOfRule(knownBefore(writing, rules), given);
  let text = '';
  await writing.put([operation], () => {
    checkRuleOperation({ name: database.name, rules }, operation);
    const id = `pending-${rules.size}-${writing.writes.rules.length}`;
    text = changeRules(rules, operation, { id, time: reader.time, generation: reader.generation }).after.text;
  });
  const taught = operation.kind === 'teach' ? operation.rule.rule : null;
  return { status: 'pending', rule: taught === null ? text : renderRule(taught), ...hintsPart(hints) };
}

/** The version stored in the committed state; null: none. */
function storedRow({ context: { tenant, reader } }: Writing, identity: FactIdentity) {
  const { predicate, args, truthVal, scope } = identity;
  const newest = tenant.facts.find(predicate, args, truthVal, scope);
  return newest === null ? null : tenant.facts.heldAt(newest, reader.generation, reader.time);
}

/** The validity of this fact as the transaction sees it; open if it is not stored. */
function boundsBefore(writing: Writing, fact: FactIdentity): Bounds {
  const own = writing.writes.find(fact);
  const stored = own?.isRetracted === true ? null : storedRow(writing, fact);
  const committed = stored === null ? openBounds : stored.relation.boundsOf(stored.row);
  const bounds = own === null || own.asserted === null ? committed : boundsAfter(own.asserted, committed);
  return bounds.until > writing.context.reader.time ? bounds : openBounds;
}

/**
 * The facts that a retraction matches: committed ones that the transaction has not written, and those it asserts.
 * Throws Conflict if a committed one has changed since `ifGeneration`.
 */
async function factsFound(
  { context, writes }: Writing,
  pattern: FactPattern,
  ifGeneration: number | null,
): Promise<FactIdentity[]> {
  const { tenant, reader, pacer } = context;
  const found: FactIdentity[] = [];
  let looked = 0;
  for (const fact of tenant.facts.match(pattern, reader.generation, reader.time, true)) {
    if ((++looked & 0xff) === 0) await pacer.breathe();
    const identity = tenant.facts.identityOf(fact);
    if (ifGeneration !== null) checkUnchanged(tenant.facts, identity, ifGeneration);
    if (writes.find(identity) === null) found.push(identity);
  }
  for (const identity of writes.matching(pattern, reader.time)) {
    if ((++looked & 0xff) === 0) await pacer.breathe();
    found.push(identity);
  }
  return found;
}
