import type { Engine } from '../../engine/index.ts';
import type { Download } from '../base/streams.ts';

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
