import type { ImportDone, ImportProgress, ImportQuery, ImportType } from '../../engine/contract/transfer.ts';
import { type Caller, type Engine, invalid, signalOf } from '../../engine/index.ts';
import { requireRuleChange } from '../base/rule-permission.ts';
import type { Upload } from '../base/streams.ts';
import { readCsv } from './csv.ts';
import { readDatalog } from './datalog.ts';
import type { Items } from './items.ts';
import { readNdjson } from './ndjson.ts';
import { runImport } from './run-import.ts';

/**
 * Imports what is uploaded; the lines of the answer. `predicate` is refused with ValidationException where the format
 * names predicates itself.
 */
export function importKnowledge(
  engine: Engine,
  caller: Caller,
  query: ImportQuery,
  upload: Upload,
): AsyncIterable<ImportProgress | ImportDone> {
  const type = upload.type as ImportType;
  if (query.predicate !== null && type !== 'text/csv' && type !== 'text/tab-separated-values')
    throw invalid('predicate', 'is for CSV and TSV: in this format every line says its own');
  const importing = engine.import(caller, query.dryRun);
  return runImport({
    import: importing,
    items: itemsOf(type, upload.chunks, query, importing.id),
    isDryRun: query.dryRun,
    requireRuleChange: () => requireRuleChange(caller),
    once: upload.once,
    signal: signalOf(caller),
  });
}

function itemsOf(
  type: ImportType,
  chunks: AsyncIterable<Uint8Array>,
  { scope, predicate }: ImportQuery,
  id: string,
): Items {
  switch (type) {
    case 'application/x-ndjson':
      return readNdjson(chunks, scope);
    case 'text/csv':
      return readCsv(chunks, { separator: ',', predicate, scope });
    case 'text/tab-separated-values':
      return readCsv(chunks, { separator: '\t', predicate, scope });
    case 'text/x-datalog':
      return readDatalog(chunks, scope);
    case 'text/turtle':
      return readLater(async () =>
        (await import('./triples.ts')).readTurtle(chunks, scope, `import-${id.slice(0, 8)}-`),
      );
    case 'application/n-triples':
      return readLater(async () => (await import('./triples.ts')).readNTriples(chunks, scope));
  }
}

/** What reads triples takes a fortieth of a start to load, and is loaded when somebody imports triples. */
async function* readLater(load: () => Promise<Items>): Items {
  yield* await load();
}
