import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { licencesText } from './licences.mjs';
import { build, install, Refusal, root, runCommand, runNpm } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * `npm run package`: packages of the desktop application, for the system that it runs on, in dist/.
 *
 *   npm run package                      all formats of this system (packaging/electron-builder.yml)
 *   npm run package -- --linux dir       the folder alone, as it would be installed; further arguments go to the builder
 *   ELECTRON_DIST=FOLDER npm run …       with the Electron in that folder, where none can be fetched
 *
 * electron-builder is fetched when it is first wanted, into dist/builder: its 93 MB are for nobody who builds no packages.
 */

/** Some of what it needs asks for Node 22, for compiling native modules: there are none, and Node 20 does. */
const builderVersion = '26.17.0';
const builderFolder = join(root, 'dist/builder');

/** @param {string[]} argumentList for electron-builder */
export async function makePackages(argumentList) {
  mkdirSync(join(root, 'out'), { recursive: true });
  writeFileSync(join(root, 'out/licences.txt'), licencesText());
  const electron = process.env['ELECTRON_DIST'];
  if (electron !== undefined && !existsSync(electron))
    throw new Refusal(`There is no folder ${electron}: ELECTRON_DIST.`);
  const { ok } = await runProgram(
    process.execPath,
    [
      join(await builder(), 'node_modules/electron-builder/cli.js'),
      '--config=packaging/electron-builder.yml',
      '--publish=never',
      ...(electron === undefined ? [] : [`--config.electronDist=${resolve(electron)}`]),
      ...argumentList,
    ],
    { folder: root, environment: process.env, show: true },
  );
  if (!ok) throw new Refusal('electron-builder failed: see above.');
}

/** The folder with electron-builder in it; COROLLARY_BUILDER names one that is there already. */
async function builder() {
  const given = process.env['COROLLARY_BUILDER'];
  if (given !== undefined) return resolve(given);
  const program = join(builderFolder, 'node_modules/electron-builder/package.json');
  if (!existsSync(program)) {
    mkdirSync(builderFolder, { recursive: true });
    writeFileSync(join(builderFolder, 'package.json'), '{ "private": true }\n');
    console.log('Fetching electron-builder (once)...');
    const wanted = [
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--loglevel=error',
      `electron-builder@${builderVersion}`,
    ];
    await runNpm(['install', ...wanted], process.env, builderFolder);
  }
  return builderFolder;
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  await runCommand(async () => {
    await install();
    await build();
    await makePackages(process.argv.slice(2));
  });
}
