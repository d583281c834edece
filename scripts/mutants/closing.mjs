/** The clauses of closures that are held as rows of bits; see clauses.mjs. */

const bitTable = 'solve/bit-table.ts';
const bits = ['bits'];

/** @type {readonly import('./clauses.mjs').Clause[]} */
export const closing = [
  {
    clause: 'rows of bits are worked out again when base or step changed',
    file: 'solve/table-set.ts',
    from: 'if (support !== null) table.removals.push(added(support.watchers, watcher));',
    to: '',
    by: bits,
  },
  {
    clause: 'rows of bits that lose a bit lose the row',
    file: bitTable,
    from: 'else this.#kill(pair);',
    to: '',
    by: bits,
  },
  {
    clause: 'rows of bits that come back are told where something waits',
    file: bitTable,
    from: 'if (support.watchers.length > 0) support.risen.push(row);',
    to: '',
    by: bits,
  },
  {
    clause: 'rows of bits that come back are joined again',
    file: bitTable,
    from: 'target.again.push(row);',
    to: '',
    by: bits,
  },
  {
    clause: 'rows of bits that come are told where something waits',
    file: bitTable,
    from: 'if (support !== null && support.watchers.length > 0) work.add(target, phases.tell);',
    to: '',
    by: bits,
  },
  {
    clause: 'rows of bits of a table that was emptied are forgotten',
    file: 'solve/table-set.ts',
    from: 'table.bits?.forget();',
    to: '',
    variant: 'tight',
    by: bits,
  },
];
