/** The clauses of what is compiled or linked only when it is needed; see clauses.mjs. */

const compileRule = 'datalog/join/compile-rule.ts';
const tableSet = 'datalog/tables/table-set.ts';
const joins = ['maintained joins', 'maintained strata'];

/** @type {readonly import('./clauses.mjs').Clause[]} */
export const compiling = [
  {
    clause: 'the first stored fact of a derived relation reaches its tables',
    file: tableSet,
    from: "this.#compileParts(table, [this.planner.planStored(table)], relationsOf(table), 'rules');",
    to: '',
    by: ['maintained sparse'],
  },
  {
    clause: 'a change of a derived relation without stored facts is noted',
    file: tableSet,
    from: 'this.tablesOf(relation).some(({ lacksStored }) => lacksStored)',
    to: 'false',
    by: ['maintained sparse'],
  },
  {
    clause: 'a join without rows to join demands them',
    file: compileRule,
    from: 'put(whole.demand, noTerms, 0, this.#set.work);',
    to: '',
    by: joins,
  },
  {
    clause: 'a join from a demand joins the rows that are there',
    file: compileRule,
    from: 'whole !== null && whole.rows.done === 0',
    to: 'whole !== null',
    by: joins,
  },
  {
    clause: 'the copies of an atom are linked before a younger one is looked for',
    file: 'datalog/join/stored-steps.ts',
    from: 'if (!copies.link(rowsAtOnce)) left = 0;',
    to: 'if (copies.through === 0) left = 0;',
    by: ['maintained time', 'answers scopes'],
  },
];
