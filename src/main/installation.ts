/**
 * Where this program lies: its version and the folders it ships.
 *
 * Found by walking up from this module to the product's package.json, so that it is the same from the sources,
 * from the built bundle and from inside a packaged application.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Installation {
  readonly version: string;
  /** The built workbench; may be missing in a checkout that was not built. */
  readonly workbenchFolder: string;
  readonly samplesFolder: string;
  /** The built program without a window, the stdio bridge and its bundle; null where they were not built. */
  readonly program: string | null;
  readonly bridge: string | null;
  readonly bundle: string | null;
}

/** Fails where the program was copied away from its package.json. */
export function findInstallation(from: string = fileURLToPath(import.meta.url)): Installation {
  let folder = dirname(from);
  for (;;) {
    const version = productVersion(join(folder, 'package.json'));
    if (version !== null)
      return {
        version,
        workbenchFolder: join(folder, 'out', 'renderer'),
        samplesFolder: join(folder, 'resources', 'samples'),
        program: built(folder, 'main', 'headless.js'),
        bridge: built(folder, 'bridge', 'corollary-mcp.js'),
        bundle: built(folder, 'corollary.mcpb'),
      };
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json of corollary above ${from}`);
    folder = parent;
  }
}

function built(folder: string, ...path: readonly string[]): string | null {
  const file = join(folder, 'out', ...path);
  return existsSync(file) ? file : null;
}

function productVersion(file: string): string | null {
  if (!existsSync(file)) return null;
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof manifest !== 'object' || manifest === null) return null;
  const { name, version } = manifest as { name?: unknown; version?: unknown };
  return name === 'corollary' && typeof version === 'string' ? version : null;
}
