/**
 * The location of this program: its version and the folders it ships.
 *
 * Found by walking up from this module to the product's package.json, so the result is the same from the sources, the
 * built bundle and a packaged application.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Installation {
  readonly version: string;
  /** The built workbench; missing in a checkout that was not built. */
  readonly workbenchFolder: string;
  /** The built page that shows a proof in a chat; may be missing too. */
  readonly proofAppFile: string;
  readonly samplesFolder: string;
  /** The bridge that speaks MCP on standard input and output, and the bundle that contains it; null if not built. */
  readonly bridgeFile: string | null;
  readonly bundleFile: string | null;
}

/** Finds the installation. Throws if the program was copied away from its package.json. */
export function findInstallation(from: string = fileURLToPath(import.meta.url)): Installation {
  let folder = dirname(from);
  for (;;) {
    const version = productVersion(join(folder, 'package.json'));
    if (version !== null)
      return {
        version,
        workbenchFolder: join(folder, 'out', 'renderer'),
        proofAppFile: join(folder, 'out', 'mcp', 'proof-app.html'),
        samplesFolder: join(folder, 'resources', 'samples'),
        bridgeFile: built(join(folder, 'out', 'bridge', 'corollary-mcp.js')),
        bundleFile: built(join(folder, 'out', 'corollary.mcpb')),
      };
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`no package.json of corollary above ${from}`);
    folder = parent;
  }
}

/** In a packaged application these files lie beside its archive, which other programs cannot read. */
function built(file: string): string | null {
  const path = file.replace(/([\\/])app\.asar(?=[\\/])/, '$1app.asar.unpacked');
  return existsSync(path) ? path : null;
}

function productVersion(file: string): string | null {
  if (!existsSync(file)) return null;
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof manifest !== 'object' || manifest === null) return null;
  const { name, version } = manifest as { name?: unknown; version?: unknown };
  return name === 'corollary' && typeof version === 'string' ? version : null;
}
