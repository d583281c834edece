/** The tests that notice a removed clause, and the limits under which they run; see clauses.mjs. */

/**
 * Kinds of fuzz: the file of the tests, the beginning of their titles, the number of flavours.
 * @type {Record<string, {file: string, titles: string, flavours: number}>}
 */
export const probes = {
  maintained: {
    file: 'datalog/tables/delete-rederive.fuzz.ts',
    titles: 'maintained tables equal',
    flavours: 9,
  },
  meanwhile: {
    file: 'datalog/tables/delete-rederive.fuzz.ts',
    titles: 'maintains tables whatever',
    flavours: 3,
  },
  bits: { file: 'datalog/tables/delete-rederive.fuzz.ts', titles: 'bitset relations', flavours: 4 },
  cycles: { file: 'datalog/tables/delete-rederive.fuzz.ts', titles: 'intersects neighbours', flavours: 4 },
  chains: { file: 'datalog/tables/delete-rederive.fuzz.ts', titles: 'joins continue once', flavours: 2 },
  answers: { file: 'read/engine.fuzz.ts', titles: 'returns the answers and proofs', flavours: 10 },
  written: { file: 'read/engine.fuzz.ts', titles: 'answers as of the generation', flavours: 6 },
  dependents: { file: 'read/engine.fuzz.ts', titles: 'reports as dependents what', flavours: 8 },
};

/**
 * Limits under which a clause is removed: the normal ones, or so low that small cases reach them.
 * @type {Record<string, readonly import('./clauses.mjs').Edit[]>}
 */
export const variants = {
  roomy: [],
  tight: [
    {
      file: 'datalog/tables/evaluation.ts',
      from: 'const maxDeletedRows = 20_000;',
      to: 'const maxDeletedRows = 3;',
    },
    { file: 'datalog/tables/evaluation.ts', from: 'const chunkRows = 4096;', to: 'const chunkRows = 3;' },
    {
      file: 'datalog/tables/evaluation.ts',
      from: 'export const stepsBetweenChecks = 1024;',
      to: 'export const stepsBetweenChecks = 5;',
    },
    {
      file: 'datalog/maintain/table-cache.ts',
      from: 'const minChangesToDrop = 10_000;',
      to: 'const minChangesToDrop = 6;',
    },
    {
      file: 'datalog/model/justifications.ts',
      from: 'const minGarbage = 10_000;',
      to: 'const minGarbage = 3;',
    },
    {
      file: 'datalog/maintain/table-cache.ts',
      from: 'rows.deadCount > 1000 &&',
      to: 'rows.deadCount > 3 &&',
    },
    { file: 'store/stored-relation.ts', from: 'this.count > 256 &&', to: 'this.count > 8 &&' },
  ],
  'few killed': [
    {
      file: 'datalog/tables/evaluation.ts',
      from: 'const maxDeletedRows = 20_000;',
      to: 'const maxDeletedRows = 3;',
    },
  ],
  'semi-joins at once': [
    {
      file: 'datalog/plan/semi-joins.ts',
      from: 'const mostShare = 0.5;',
      to: 'const mostShare = Number.POSITIVE_INFINITY;',
    },
    {
      file: 'datalog/tables/evaluation.ts',
      from: 'export const stepsBetweenChecks = 1024;',
      to: 'export const stepsBetweenChecks = 1;',
    },
    {
      file: 'datalog/join/intersection-step.ts',
      from: 'const rowsPerCandidate = 64;',
      to: 'const rowsPerCandidate = 1e9;',
    },
  ],
  'few rows at once': [
    { file: 'datalog/join/machine.ts', from: 'rowsAtOnce = 2048;', to: 'rowsAtOnce = 2;' },
    { file: 'store/tuples.ts', from: 'const maxRows = 1024;', to: 'const maxRows = 2;' },
  ],
};
