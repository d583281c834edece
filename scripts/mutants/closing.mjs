/** The clauses of closures that are bitset relations; see clauses.mjs. */

const bitTable = 'datalog/closure/bitset-table.ts';
const bits = ['bits'];

/** @type {readonly import('./clauses.mjs').Clause[]} */
export const closing = [
  {
    clause: 'bitset rows are recomputed when base or step changed',
    file: 'datalog/tables/table-set.ts',
    from: 'for (const read of [base, before, behind])',
    to: 'for (const read of [before])',
    by: bits,
  },
  {
    clause: 'bitset rows that lose a bit lose the row',
    file: bitTable,
    from: 'else this.#kill(pair);',
    to: '',
    by: bits,
  },
  {
    clause: 'rows of bits that come back are told where something waits',
    file: 'datalog/model/derived.ts',
    from: 'if (support.watchers.length > 0 && (rows.wasRevived || rows.heights !== null))',
    to: 'if (rows.heights !== null)',
    by: bits,
  },
  {
    clause: 'rows of bits that come back are joined again',
    file: 'datalog/model/derived.ts',
    from: 'target.again.push(row);',
    to: '',
    by: bits,
  },
  {
    clause: 'new bitset rows are reported if something waits',
    file: bitTable,
    from: 'if (support !== null) notify(work, support);',
    to: '',
    by: bits,
  },
  {
    clause: 'a pair that came to a source before goes on behind',
    file: 'datalog/closure/bitset-closure.ts',
    from: 'this.#extendBehind(source, word, fresh);',
    to: 'if (word > 0) this.#extendBehind(source, word, fresh);',
    by: bits,
  },
  {
    clause: 'bitset rows are updated for sources whose base alone changed',
    file: 'datalog/closure/bitset-closure.ts',
    from: 'for (const row of this.#base.changed) {',
    to: 'for (const row of this.#base.changed.slice(1)) {',
    by: bits,
  },
  {
    clause: 'the components of a changed step are recomputed',
    file: 'datalog/closure/bitset-closure.ts',
    from: 'this.#step.changed.length === 0 &&',
    to: '',
    by: bits,
  },
  {
    clause: 'bitset rows of an emptied table are removed',
    file: 'datalog/tables/table-set.ts',
    from: 'table.bits?.forget();',
    to: '',
    variant: 'tight',
    by: bits,
  },
];
