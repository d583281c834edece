/** The clauses of absences that joins test; see clauses.mjs. */

/** @type {readonly import('./clauses.mjs').Clause[]} */
export const absences = [
  {
    clause: 'an absence that ends overdeletes what may have followed from it',
    file: 'datalog/tables/evaluation.ts',
    from: '    set.work.add(loss, phases.kill);',
    to: '    loss.rows = [];',
    by: ['chains', 'cycles'],
  },
  {
    clause: 'an absence that begins is joined',
    file: 'datalog/tables/evaluation.ts',
    from: '    set.work.add(gain, phases.stored);',
    to: '    gain.rows = [];',
    by: ['chains', 'cycles'],
  },
  {
    clause: 'the join that overdeletes tests no absence',
    file: 'datalog/plan/join-plan.ts',
    from: 'if (isLoss) this.#filters = this.#filters.filter((filter) => !isAbsence(filter.literal));',
    to: '',
    by: ['chains', 'cycles'],
  },
  {
    clause: 'a maintained join demands every atom before it tests an absence',
    file: 'datalog/plan/join-plan.ts',
    from: 'if (this.#toDemand > 0 && isAbsence(literal)) return false;',
    to: '',
    by: ['chains', 'meanwhile joins', 'meanwhile strata', 'meanwhile time'],
  },
  {
    clause: 'a negation of a stored relation makes its changes relevant',
    file: 'datalog/tables/table-set.ts',
    from: '      this.#storedWatchers.has(relation) ||\n',
    to: '',
    by: ['maintained absences', 'meanwhile time'],
  },
];
