/** What notices that a clause is gone, and the limits under which it is looked for; see clauses.mjs. */

/**
 * Kinds of fuzz: where the tests stand, what their titles begin with, how many flavours there are.
 * @type {Record<string, {file: string, titles: string, flavours: number}>}
 */
export const probes = {
  kept: { file: 'datalog/tables/delete-rederive.fuzz.ts', titles: 'tables kept true hold', flavours: 8 },
  meanwhile: {
    file: 'datalog/tables/delete-rederive.fuzz.ts',
    titles: 'tables are kept true whatever',
    flavours: 3,
  },
  bits: { file: 'datalog/tables/delete-rederive.fuzz.ts', titles: 'rows of bits hold', flavours: 4 },
  chains: { file: 'datalog/tables/delete-rederive.fuzz.ts', titles: 'joins go on once', flavours: 2 },
  answers: { file: 'read/engine.fuzz.ts', titles: 'answers and proofs are those', flavours: 10 },
  written: { file: 'read/engine.fuzz.ts', titles: 'an answer is that of the generation', flavours: 6 },
  dependents: { file: 'read/engine.fuzz.ts', titles: 'dependents are what held', flavours: 8 },
};

/**
 * Limits under which a clause is taken away: as they are, or so low that small cases reach them.
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
  'few rows at once': [
    { file: 'datalog/join/machine.ts', from: 'rowsAtOnce = 2048;', to: 'rowsAtOnce = 2;' },
    { file: 'store/tuple-batch.ts', from: 'const maxRows = 1024;', to: 'const maxRows = 2;' },
  ],
};
