/** Exports and backups as downloads, generated while they are sent. */
import type { ExportQuery } from '../../engine/contract/transfer.ts';
import { type Caller, type Engine, textFormat } from '../../engine/index.ts';
import type { Download } from '../base/streams.ts';

/** Creates the download of an export. What its format cannot represent is counted. */
export function exportDownload(engine: Engine, caller: Caller, query: ExportQuery): Download {
  const format = query.escape === 'spreadsheet' ? 'spreadsheet' : query.format;
  const holdsRules = format === 'ndjson' || format === 'datalog';
  const { scope, unscoped, predicate } = query;
  const ended = query.ended === true;
  const choice = { scope, unscoped, predicate, ended, rules: query.rules ?? holdsRules };
  const { type, extension } = textFormat(format);
  return {
    type,
    fileName: `corollary.${extension}`,
    bytes: null,
    run: (send) => engine.export(caller, { choice, format }, send),
  };
}

/** A backup as a download. Its name is the position of its last record, so the backups of one service sort by age. */
export async function backupDownload(engine: Engine): Promise<Download> {
  const backup = await engine.backup();
  return {
    type: 'application/octet-stream',
    fileName: `corollary-${String(backup.position).padStart(10, '0')}.backup`,
    bytes: backup.bytes,
    run: async (send) => {
      let isWhole = false;
      try {
        for await (const piece of backup.pieces()) await send(piece);
        isWhole = true;
      } finally {
        await backup.close(isWhole);
      }
      return { omitted: null };
    },
  };
}
