/** Long work pauses in the scheduler alone: a pause of its own would let several slices run between two polls. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Files that name it for something short at the end of a turn; the bridge and the language server are processes of their own. */
const shortWork = new Set([
  'engine/base/serving.ts',
  'engine/log/journal.ts',
  'engine/log/postgres-logs.ts',
  'main/bridge/run-bridge.ts',
  'main/http/answers.ts',
  'main/http/body.ts',
  'main/http/connections.ts',
  'main/language-server/language-server.ts',
  'main/language-server/package-sources.ts',
  'main/mcp/connection.ts',
  'main/telemetry/logger.ts',
]);

it('names setImmediate nowhere else', () => {
  const root = join(import.meta.dirname, '..', '..');
  const files = ['engine', 'main'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  );
  const isShipped = (file: string): boolean =>
    file.endsWith('.ts') && !/\.(?:test|fuzz|long)\.ts$|[/\\]testing[/\\]/.test(file);
  const named = files.filter(
    (file) => isShipped(file) && readFileSync(join(root, file), 'utf8').includes('setImmediate'),
  );
  expect(named.map((file) => file.replaceAll('\\', '/')).filter((file) => !shortWork.has(file))).toEqual([]);
});
