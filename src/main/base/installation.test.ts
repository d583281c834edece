import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findInstallation } from './installation.ts';

test('finds the bridge of a packaged application beside the archive, where other programs can read it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-installation-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  try {
    write('app.asar/package.json', '{ "name": "corollary", "version": "1.2.3" }');
    const from = join(folder, 'app.asar/out/main/headless.js');
    expect(findInstallation(from)).toMatchObject({ version: '1.2.3', bridgeFile: null, bundleFile: null });
    write('app.asar.unpacked/out/bridge/corollary-mcp.js', '');
    expect(findInstallation(from)).toMatchObject({
      bridgeFile: join(folder, 'app.asar.unpacked/out/bridge/corollary-mcp.js'),
      samplesFolder: join(folder, 'app.asar/resources/samples'),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
