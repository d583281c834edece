/**
 * The clauses of truth maintenance, each as the edit that removes it and the fuzz that notices.
 *
 * An edit replaces a text that occurs exactly once in a file of src/engine. The edited program still loads, so
 * that an answer is wrong rather than the program broken.
 */
import { absences } from './absences.mjs';
import { closing } from './closing.mjs';
import { compiling } from './compiling.mjs';

/** @typedef {{file: string, from: string, to: string}} Edit */
/**
 * @typedef {object} ClauseProperties
 * @property {string} clause what is no longer true
 * @property {readonly string[]} by the probes that notice, the quickest first: `kind` or `kind flavour`
 * @property {string} [variant] the limits under which it is removed; `roomy` when absent
 * @typedef {Edit & ClauseProperties} Clause
 */

const rederive = 'datalog/tables/evaluation.ts';
const justifications = 'datalog/model/justifications.ts';
const machine = 'datalog/join/machine.ts';
const derivedSteps = 'datalog/join/derived-steps.ts';
const storedSteps = 'datalog/join/stored-steps.ts';
const intersectionStep = 'datalog/join/intersection-step.ts';
const compileRule = 'datalog/join/compile-rule.ts';
const bodyCompiler = 'datalog/join/body-compiler.ts';
const bodyPlan = 'datalog/plan/body-plan.ts';
const joinPlan = 'datalog/plan/join-plan.ts';
const derived = 'datalog/model/derived.ts';
const reasoner = 'datalog/maintain/reasoner.ts';
const tableCache = 'datalog/maintain/table-cache.ts';
const question = 'datalog/tables/question.ts';
const tuples = 'store/tuples.ts';
const phases = 'export const phases = { kill: 0, check: 1, stored: 2, join: 3, notify: 4 } as const;';
const joins = ['maintained joins', 'maintained strata'];
const strata = ['maintained strata'];
const instants = ['maintained instants', 'maintained time'];
const meanwhile = ['meanwhile joins', 'meanwhile strata', 'meanwhile time'];

/** @type {readonly Clause[]} */
const killing = [
  {
    clause: 'a join forgets the bindings it has seen before the next',
    file: machine,
    from: 'for (const seen of this.#seen) seen.begin();',
    to: '',
    by: ['chains'],
  },
  {
    clause: 'a binding is distinguished by everything that the rest of the body needs',
    file: joinPlan,
    from: 'const needed = new Set([...headTerms, ...this.#open.flat(), ...this.#filters.flatMap(filterTerms)]);',
    to: 'const needed = new Set([...headTerms, ...this.#open.flat()]);',
    by: ['chains'],
  },
  {
    clause: 'dependents of a deleted fact are overdeleted',
    file: tableCache,
    from: 'else justifications.dependentsOfFact(number, (target, at) => overdelete(work, target, at));',
    to: '',
    by: joins,
  },
  {
    clause: 'dependents of a deleted row of the same level are overdeleted',
    file: rederive,
    from: 'if (target.derived.level === derived.level) overdelete(set.work, target, at);',
    to: '',
    by: joins,
  },
  {
    clause: 'overdeletion is complete before anything is rederived',
    file: derived,
    from: phases,
    to: phases.replace('kill: 0, check: 1', 'kill: 1, check: 0'),
    by: joins,
  },
  {
    clause: 'a level joins before it notifies those above: phases',
    file: derived,
    from: phases,
    to: phases.replace('join: 3, notify: 4', 'join: 4, notify: 3'),
    by: joins,
  },
  {
    clause: 'a level rederives before it notifies those above: phases',
    file: derived,
    from: phases,
    to: 'export const phases = { kill: 0, check: 2, stored: 3, join: 4, notify: 1 } as const;',
    by: joins,
  },
  {
    clause: 'the lowest level comes first',
    file: derived,
    from: 'if (a.item.level !== b.item.level) return a.item.level < b.item.level;',
    to: '',
    by: strata,
  },
  {
    clause: 'overdeleted rows are rederived',
    file: rederive,
    from: 'for (const row of overdeleted) support.toRederive.push(row);',
    to: '',
    by: joins,
  },
  {
    clause: 'where heights count, a row that one rule revived is looked at by the others',
    file: derivedSteps,
    from: 'if (rows.heights === null && !rows.isDead(row)) continue;',
    to: 'if (!rows.isDead(row)) continue;',
    by: joins,
  },
  {
    clause: 'with heights, every instance of a rule is examined',
    file: compileRule,
    from: 'return this.#machine(null, target.rows.heights === null);',
    to: 'return this.#machine(null, true);',
    by: joins,
  },
  {
    clause: 'an interrupted rule takes waiting rows into its rederivation',
    file: compileRule,
    from: 'const withDemand = demand.support !== null;',
    to: 'const withDemand = false;',
    by: strata,
  },
];

/** @type {readonly Clause[]} */
const telling = [
  {
    clause: 'levels above are notified of deleted rows',
    file: rederive,
    from: 'if (target.derived.level > level) overdelete(set.work, target, at);',
    to: '',
    by: joins,
  },
  {
    clause: 'levels above are notified of rows that came back higher',
    file: rederive,
    from: 'if (!isDead && (rows.heights === null || (rows.heights.of[row] as number) <= height)) continue;',
    to: 'if (!isDead) continue;',
    by: joins,
  },
  {
    clause: 'a deleted row notifies its level',
    file: derived,
    from: '  work.add(derived, phases.kill);\n  work.add(derived, phases.notify);',
    to: '  work.add(derived, phases.kill);',
    by: joins,
  },
  {
    clause: 'a reported deletion is settled',
    file: rederive,
    from: 'if (isDead) rows.bury(row);',
    to: '',
    by: joins,
  },
  {
    clause: 'watchers are notified of deleted rows',
    file: rederive,
    from: '    for (const watcher of watchers) retest(set, watcher, rows.columns, row);\n    if (isDead',
    to: '    if (isDead',
    by: strata,
  },
  {
    clause: 'watchers are notified of rows that came back higher',
    file: rederive,
    from: 'for (const row of rederived) changed(row);',
    to: '',
    by: strata,
  },
  {
    clause: 'watchers are notified of new rows',
    file: rederive,
    from: 'for (let row = from; row < rows.count; row++) if (!rows.isDead(row)) changed(row);',
    to: '',
    by: strata,
  },
  {
    clause: 'watchers are told of heights that changed',
    file: derived,
    from: '(rows.wasRevived || rows.heights !== null)',
    to: 'rows.wasRevived',
    by: strata,
  },
  {
    clause: 'watchers are told of what rose where there are no heights',
    file: derived,
    from: '(rows.wasRevived || rows.heights !== null)',
    to: 'rows.heights !== null',
    by: strata,
  },
  {
    clause: 'a relation with watchers has its news told',
    file: derived,
    from: 'if (watchers.length > 0) work.add(derived, phases.notify);',
    to: '',
    by: strata,
  },
  {
    clause: 'a negation of a derived relation is watched',
    file: bodyCompiler,
    from: '    watchers.push(watcher);',
    to: "    if (barrier.kind !== 'group') return;\n    watchers.push(watcher);",
    by: strata,
  },
  {
    clause: 'a group is watched',
    file: bodyCompiler,
    from: '    watchers.push(watcher);',
    to: "    if (barrier.kind === 'group') return;\n    watchers.push(watcher);",
    by: strata,
  },
  {
    clause: 'a negation of a stored relation is watched',
    file: bodyCompiler,
    from: 'this.#removals.push(this.#set.watchStored(relationOf(atomWaitedFor(literal)), watcher));',
    to: '',
    by: ['maintained absences', 'maintained strata'],
  },
  {
    clause: 'a negation of a stored relation waits to be found when a fact is added',
    file: bodyPlan,
    from: 'isAbsence(literal) && (isMaintained || this.#space.isDerived(view, relationOf(literal)))',
    to: 'isAbsence(literal) && this.#space.isDerived(view, relationOf(literal))',
    by: ['maintained absences', 'maintained strata'],
  },
  {
    clause: 'what is tested again loses its conclusions',
    file: rederive,
    from: '  set.justifications.dependents(support, row, (target, at) => overdelete(set.work, target, at));\n  waits',
    to: '  waits',
    by: strata,
  },
  {
    clause: 'what lost its conclusion is tested again',
    file: rederive,
    from: '  waits.again.push(row);\n',
    to: '',
    by: strata,
  },
];

/** @type {readonly Clause[]} */
const joining = [
  {
    clause: 'a row that came back is joined again',
    file: derived,
    from: 'target.again.push(row);',
    to: '',
    by: joins,
  },
  {
    clause: 'a row that comes back while it is being joined is joined again',
    file: derived,
    from: 'if (row >= target.claimed) return;',
    to: 'if (row >= target.done) return;',
    by: joins,
  },
  {
    clause: 'added stored facts are joined',
    file: tableCache,
    from: 'delta.rows.push(row);',
    to: '',
    by: joins,
  },
  {
    clause: 'added stored facts are filtered by the view of the rule',
    file: storedSteps,
    from: 'if (this.#scope !== null && scopes[row] !== this.#scope) continue;',
    to: '',
    by: ['maintained time'],
  },
  {
    clause: 'an atom that several scopes store is found by any visible copy',
    file: storedSteps,
    from: 'else copy = copies.youngerThan(row);',
    to: 'else copy = 0;',
    by: ['maintained time', 'answers time'],
  },
  {
    clause: 'an intersection meets only the rows that the reader sees',
    file: intersectionStep,
    from: 'if (rows.meets(row)) return row;',
    to: 'return row;',
    by: ['cycles'],
  },
  {
    clause: 'an intersection meets no dead row of a derived relation',
    file: 'datalog/join/derived-steps.ts',
    from: 'return row < done && !rows.isDead(row);',
    to: 'return row < done;',
    by: ['cycles'],
  },
  {
    clause: 'a sorted run that lacks rows of the reader is sorted anew',
    file: 'store/sorted-runs.ts',
    from: 'return run !== null && run.count >= limit ? run : null;',
    to: 'return run;',
    by: ['cycles'],
  },
  {
    clause: 'an intersection moves past every copy of an atom',
    file: intersectionStep,
    from: 'at[index] = seek(literal.values, position + 1, literal.to, value + 1);',
    to: 'at[index] = literal.to;',
    by: ['cycles'],
  },
  {
    clause: 'a semi-join reads every row that the reader may see',
    file: 'datalog/join/semi-joins.ts',
    from: 'read(scan, from, this.#row, to, this.#chosen, this.#made);',
    to: 'read(scan, from, this.#row, to - 1, this.#chosen, this.#made);',
    by: ['chains', ...joins],
    variant: 'semi-joins at once',
  },
  {
    clause: 'a semi-join with a key has the values of this key',
    file: intersectionStep,
    from: 'if (key !== this.#key) this.#open(key);',
    to: 'if (this.#key < 0) this.#open(key);',
    by: ['cycles'],
    variant: 'semi-joins at once',
  },
  {
    clause: 'added atoms are found among those of several scopes',
    file: storedSteps,
    from: 'if (!copies.takeIn(this.#limit, rowsAtOnce)) return machine.stall();',
    to: 'if (copies.through === 0 && !copies.takeIn(this.#limit, rowsAtOnce)) return machine.stall();',
    by: ['maintained time', 'answers scopes'],
  },
  {
    clause: 'dead rows start no join',
    file: derivedSteps,
    from: '      if (rows.isDead(row)) continue;\n      if (!this.matches(rows.columns, row, machine.registers)) continue;',
    to: '      if (!this.matches(rows.columns, row, machine.registers)) continue;',
    by: strata,
  },
  {
    clause: 'dead rows are in no join',
    file: derivedSteps,
    from: 'if (row >= limit || (dead !== null && dead[row] !== 0)) continue;',
    to: 'if (row >= limit) continue;',
    by: joins,
  },
  {
    clause: 'a dead row is not found',
    file: tuples,
    from: 'return row >= 0 && this.isDead(row) ? -1 : row;',
    to: 'return row;',
    by: joins,
  },
  {
    clause: 'dead rows are no answers',
    file: question,
    from: 'return (row) => !rows.isDead(row);',
    to: 'return () => true;',
    by: joins,
  },
  {
    clause: 'dead rows are in the groups of no proof',
    file: 'datalog/explain/proof.ts',
    from: 'if (rows.isDead(row)) return;',
    to: '',
    by: strata,
  },
  {
    clause: 'a rederived row has the height of its new justification',
    file: tuples,
    from: '(isDead || height < (this.heights.of[row] as number))',
    to: '(height < (this.heights.of[row] as number))',
    by: joins,
  },
  {
    clause: 'an interrupted join continues where it was',
    file: machine,
    from: `          this.isStalled = false;
          this.#level = level;
          return 0;`,
    to: '          this.isStalled = false;',
    variant: 'few rows at once',
    by: joins,
  },
  {
    clause: 'an absence is not decided before all rows were looked at',
    file: derivedSteps,
    from: '    if (machine.isStalled) return false;\n    this.#isOver = true;\n    return',
    to: '    this.#isOver = true;\n    return',
    variant: 'few rows at once',
    by: ['answers steady'],
  },
  {
    clause: 'an aggregate has no value before all rows were taken',
    file: derivedSteps,
    from: '    if (machine.isStalled) return false;\n    this.#isOver = true;\n    const',
    to: '    this.#isOver = true;\n    const',
    variant: 'few rows at once',
    by: strata,
  },
];

/** @type {readonly Clause[]} */
const justifying = [
  {
    clause: 'a row that came back among many is joined again',
    file: machine,
    from: 'rows.deadCount === 0 ? batch.insertInto(rows, width) : this.#putEach(width)',
    to: 'batch.insertInto(rows, width)',
    by: joins,
  },
  {
    clause: 'a row that came back or fell has its new reason',
    file: machine,
    from: '          this.#justify(target.support, target.rows.improved, values, at * width + tuple.length);\n',
    to: '',
    by: joins,
  },
  {
    clause: 'a new justification replaces the old one',
    file: justifications,
    from: 'support.since.set(row, this.count);',
    to: '',
    by: joins,
  },
  {
    clause: 'old justifications no longer count',
    file: justifications,
    from: 'edge >= target.since.at(row) && ',
    to: '',
    by: joins,
  },
  {
    clause: 'dead rows are not deleted again',
    file: justifications,
    from: ' && !rows.isDead(row) ? target',
    to: ' ? target',
    by: joins,
  },
  {
    clause: 'justifications of removed rows no longer count',
    file: justifications,
    from: 'row < rows.count && ',
    to: '',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'justifications are removed with the rows of a table',
    file: derived,
    from: 'derived.support?.clear();',
    to: '',
    variant: 'tight',
    by: strata,
  },
  {
    clause: 'a stored fact that started a join is a premise',
    file: storedSteps,
    from: `    this.#met = null;
    return false;
  }

  override get premises(): Premises | null {
    const relation = this.#relation;`,
    to: `    this.#met = null;
    return false;
  }

  override get premises(): Premises | null {
    const relation: StoredRelation | null = null;`,
    by: joins,
  },
  {
    clause: 'a stored fact that was joined is a premise',
    file: storedSteps,
    from: `    while (added.advance(machine)) if (this.pass()) return true;
    return false;
  }

  override get premises(): Premises | null {
    const relation = this.#relation;`,
    to: `    while (added.advance(machine)) if (this.pass()) return true;
    return false;
  }

  override get premises(): Premises | null {
    const relation: StoredRelation | null = null;`,
    by: joins,
  },
  {
    clause: 'a derived row that started a join is a reason',
    file: derivedSteps,
    from: `      machine.collect();
    }
    return false;
  }

  override get premises(): Premises | null {
    const { support } = this.source;`,
    to: `      machine.collect();
    }
    return false;
  }

  override get premises(): Premises | null {
    const support: Support | null = null;`,
    by: joins,
  },
  {
    clause: 'a derived row that was joined is a reason',
    file: derivedSteps,
    from: `    return this.window === 'before' ? machine.chunkStart : machine.chunkEnd;
  }

  override get premises(): Premises | null {
    const { support } = this.source;`,
    to: `    return this.window === 'before' ? machine.chunkStart : machine.chunkEnd;
  }

  override get premises(): Premises | null {
    const support: Support | null = null;`,
    by: joins,
  },
];

/** @type {readonly Clause[]} */
const noting = [
  {
    clause: 'a live row that the reader does not see is no addition',
    file: tableCache,
    from: 'if (row >= 0 && sees(reader, relation, row))',
    to: 'if (row >= 0 && relation.isAlive(row))',
    by: instants,
  },
  {
    clause: 'an instant at which a validity begins is a change',
    file: 'store/validity-boundaries.ts',
    from: 'if (Number.isFinite(from) && from > time) this.add(from, number);',
    to: '',
    by: instants,
  },
  {
    clause: 'an instant at which a validity ends is a change',
    file: 'store/validity-boundaries.ts',
    from: 'if (Number.isFinite(until) && until > time) this.add(until, number);',
    to: '',
    by: instants,
  },
  {
    clause: 'the passing of time is a change',
    file: reasoner,
    from: 'Math.max(this.#lastChange.time, time);\n    this.#changed(facts);',
    to: 'Math.max(this.#lastChange.time, time);',
    by: instants,
  },
  {
    clause: 'a change is noted while a question uses the tables, whatever they have read',
    file: tableCache,
    from: 'const isAtFixpoint = set.owner === null && changed.length === 0;',
    to: 'const isAtFixpoint = changed.length === 0;',
    by: ['meanwhile joins', 'written joins'],
  },
  {
    clause:
      'a change is noted if a question about the earlier state may use the tables, whatever they have read',
    file: tableCache,
    from: 'const isAtFixpoint = set.owner === null && changed.length === 0;',
    to: 'const isAtFixpoint = set.owner === null;',
    by: ['meanwhile time', 'meanwhile strata', 'meanwhile joins'],
  },
  {
    clause: 'a constant that is added to the dictionary has one id',
    file: tableCache,
    from: 'if (row >= 0 && set.constants.clashes(relation, row)) ',
    to: 'if (row < -1) ',
    by: ['maintained made', 'maintained numbers'],
  },
  {
    clause: 'tables in use by a question are used by no other',
    file: tableCache,
    from: 'return this.set.owner === null && this.validThrough === reader.version;',
    to: 'return this.validThrough === reader.version;',
    by: meanwhile,
  },
  {
    clause: 'tables in use by a question are not maintained meanwhile',
    file: tableCache,
    from: 'if (present !== null || changed.length === 0 || set.owner !== null) return;',
    to: 'if (present !== null || changed.length === 0) return;',
    by: meanwhile,
  },
  {
    clause: 'a question of an earlier state uses tables of its own',
    file: tableCache,
    from: 'return this.set.owner === null && this.validThrough === reader.version;',
    to: 'return this.set.owner === null;',
    by: meanwhile,
  },
  {
    clause: 'a dry run changes no shared table',
    file: reasoner,
    from: '    if (overlay !== null) {',
    to: '    if (overlay !== null && reader.version < -1) {',
    by: ['dependents plain'],
  },
];

/** @type {readonly Clause[]} */
const dropping = [
  {
    clause: 'tables are dropped if too many rows died',
    file: tableCache,
    from: '      this.set.reset(table);\n',
    to: '',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'everything that a change reaches is dropped if too many rows died',
    file: tableCache,
    from: 'this.#drop(reached, false);',
    to: 'this.#drop(new Set([...reached].slice(0, 2)), false);',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'watchers of deletions are notified of dropped tables',
    file: tableCache,
    from: 'if (watching.size === 0) return;',
    to: 'if (watching.size >= 0) return;',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'everything that many changes reach is dropped unless they are taken in one by one',
    file: tableCache,
    from: '    this.#drop(reached, true);\n',
    to: '',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'a dropped table leaves no work',
    file: rederive,
    from: '  set.work.clear();\n  set.clearDeltas();',
    to: '  set.clearDeltas();',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'a dropped table leaves no changes',
    file: rederive,
    from: '  set.work.clear();\n  set.clearDeltas();',
    to: '  set.work.clear();',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'a join looks at the rows that a dropped table holds now',
    file: derivedSteps,
    from: 'if (this.#indexed !== rows) {',
    to: 'if (this.#indexed === null) {',
    variant: 'tight',
    by: ['maintained time', 'maintained joins'],
  },
  {
    clause: 'a dropped table has answered nothing',
    file: derived,
    from: '  derived.settled = 0;\n',
    to: '',
    variant: 'tight',
    by: meanwhile,
  },
  {
    clause: 'a table is dropped with everything that its rules need',
    file: 'datalog/tables/table-set.ts',
    from: 'for (const extra of table.extra) clear(extra);',
    to: '',
    variant: 'tight',
    by: strata,
  },
  {
    clause: 'a row keeps its justification when justifications are compacted',
    file: justifications,
    from: 'since.set(row, Math.max(0, (moved[since.at(row)] ?? 0) - 1));',
    to: '',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'a chain stays complete when justifications are compacted',
    file: justifications,
    from: 'else edges.setOlder(newer, to);',
    to: '',
    variant: 'tight',
    by: joins,
  },
  {
    clause: 'tables that need compaction are dropped with those that read them',
    file: tableCache,
    from: 'if (mostlyDead.size > 0) this.#drop(this.#host.reached(mostlyDead), true);',
    to: 'if (mostlyDead.size > 0) this.#drop(mostlyDead, true);',
    variant: 'tight',
    by: joins,
  },
];

/** @type {readonly Clause[]} */
const answering = [
  {
    clause: 'the leftovers of a refused question are dropped',
    file: tableCache,
    from: 'if (!isSettled || host.isRetired || !host.memory.fits(bytes, this)) {',
    to: 'if (host.isRetired || !host.memory.fits(bytes, this)) {',
    by: joins,
  },
  {
    clause: 'a table answers only from a fixpoint',
    file: question,
    from: 'if (row >= 0 && row < table.demand.settled) return { table, ...asked };',
    to: 'if (row >= 0) return { table, ...asked };',
    by: meanwhile,
  },
  {
    clause: 'a table answers only in its own view',
    file: question,
    from: 'if (viewKey(table.view) !== viewKey(view)) continue;',
    to: '',
    by: ['maintained time'],
  },
  {
    clause: 'a table answers only questions that bind everything it is demanded by',
    file: question,
    from: 'if (!table.boundPositions.every((position) => positions.includes(position))) continue;',
    to: '',
    by: joins,
  },
  {
    clause: 'a table with pending changes answers nothing',
    file: tableCache,
    from: '!doubtful.has(relation) && maintenance?.reached',
    to: 'maintenance?.reached',
    by: joins,
  },
  {
    clause: 'a table under maintenance answers nothing',
    file: tableCache,
    from: ' && maintenance?.reached.has(relation) !== true;',
    to: ';',
    by: meanwhile,
  },
  {
    clause: 'an answer of an earlier state is not read from the current tables',
    file: tableCache,
    from: '    if (reader.version !== this.#host.version) return () => false;\n',
    to: '',
    by: joins,
  },
  {
    clause: 'what was never true is not deleted',
    file: derived,
    from: 'return row < this.#baselineCount && this.#rederivedSince?.has(row) !== true;',
    to: 'return true;',
    by: ['maintained strata', 'maintained joins'],
  },
  {
    clause: 'what was rederived and deleted again is not deleted',
    file: derived,
    from: 'return row < this.#baselineCount && this.#rederivedSince?.has(row) !== true;',
    to: 'return row < this.#baselineCount;',
    by: ['maintained numbers', 'maintained strata'],
  },
  {
    clause: 'deletions are reported to watchers',
    file: rederive,
    from: 'if (isDead && support.wasInBaseline(row)) support.lost?.(row);',
    to: '',
    by: joins,
  },
];

export const clauses = [
  ...killing,
  ...absences,
  ...telling,
  ...joining,
  ...justifying,
  ...noting,
  ...dropping,
  ...compiling,
  ...answering,
  ...closing,
];
