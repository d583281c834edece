import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository, also for a benchmark that was bundled into `out`. */
export const root = folderWithPackage(dirname(fileURLToPath(import.meta.url)));

function folderWithPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : folderWithPackage(dirname(folder));
}
