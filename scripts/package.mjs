import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { licencesText } from './licences.mjs';
import { build, install, Refusal, root, runCommand, runNpm } from './prepare.mjs';
import { runProgram } from './run-program.mjs';

/**
 * `npm run package`: packages of the desktop application, for the current system, in dist/.
 *
 *   npm run package                      all formats of this system (packaging/electron-builder.yml)
 *   npm run package -- --linux dir       only the folder, as it would be installed; further arguments go to the builder
 *   ELECTRON_DIST=FOLDER npm run …       with the Electron in that folder, if none can be downloaded
 *
 * electron-builder is downloaded when it is first needed, into dist/builder, so that its 93 MB are no dependency.
 */

/** Some of its packages ask for Node 22 to compile native modules: there are none, so Node 20 is enough. */
const builderVersion = '26.17.0';
const builderFolder = join(root, 'dist/builder');

/** @param {string[]} argumentList for electron-builder */
export async function makePackages(argumentList) {
  mkdirSync(join(root, 'out'), { recursive: true });
  writeFileSync(join(root, 'out/licences.txt'), licencesText());
  const unsigned = unsignedNote(process.platform, argumentList, process.env);
  if (unsigned !== null) console.log(unsigned);
  const electron = process.env['ELECTRON_DIST'];
  if (electron !== undefined && !existsSync(electron))
    throw new Refusal(`ELECTRON_DIST: there is no folder ${electron}.`);
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
  if (!ok) throw new Refusal(builderFailure(electron));
}

/**
 * Says that packages for macOS or Windows are not signed; null if a certificate is given, or for Linux alone, whose
 * packages are signed by the repository that offers them.
 * @param {NodeJS.Platform} platform the system without an option
 * @param {readonly string[]} argumentList for electron-builder
 * @param {NodeJS.ProcessEnv} environment
 */
export function unsignedNote(platform, argumentList, environment) {
  const asked = {
    macOS: ['--mac', '-m', '--macos'].some((option) => argumentList.includes(option)),
    Windows: ['--win', '-w', '--windows'].some((option) => argumentList.includes(option)),
    Linux: ['--linux', '-l'].some((option) => argumentList.includes(option)),
  };
  const isOpen = !Object.values(asked).includes(true);
  const systems = [
    ...((asked.macOS || (isOpen && platform === 'darwin')) && !environment['CSC_LINK'] ? ['macOS'] : []),
    ...((asked.Windows || (isOpen && platform === 'win32')) &&
    !environment['WIN_CSC_LINK'] &&
    !environment['CSC_LINK']
      ? ['Windows']
      : []),
  ];
  if (systems.length === 0) return null;
  return (
    `The packages for ${systems.join(' and ')} are not signed unless the system's key store has a certificate: ` +
    'CSC_LINK names one, CSC_KEY_PASSWORD its password (docs/packaging.md).'
  );
}

/**
 * What to do after electron-builder failed; its output is above.
 * @param {string | undefined} electron ELECTRON_DIST
 */
function builderFailure(electron) {
  if (electron !== undefined) return 'electron-builder failed: see above.';
  return (
    'electron-builder failed: see above. If Electron could not be downloaded, unpack Electron ' +
    `${electronVersion()} for this system into a folder, and name it: ELECTRON_DIST=FOLDER npm run package.`
  );
}

function electronVersion() {
  /** @type {{devDependencies: {electron: string}}} */
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return devDependencies.electron;
}

/** The folder that contains electron-builder; COROLLARY_BUILDER names an existing one. */
async function builder() {
  const given = process.env['COROLLARY_BUILDER'];
  if (given !== undefined) return resolve(given);
  const program = join(builderFolder, 'node_modules/electron-builder/package.json');
  if (!existsSync(program)) {
    mkdirSync(builderFolder, { recursive: true });
    writeFileSync(join(builderFolder, 'package.json'), '{ "private": true }\n');
    console.log('Downloading electron-builder (once)...');
    const wanted = [
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--loglevel=error',
      `electron-builder@${builderVersion}`,
    ];
    try {
      await runNpm(['install', ...wanted], process.env, builderFolder);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      throw new Refusal(
        `electron-builder ${builderVersion} could not be downloaded: ${error.message} Without a network, two folders are ` +
          `needed: COROLLARY_BUILDER names one in which electron-builder ${builderVersion} is installed, ELECTRON_DIST one ` +
          `with an unpacked Electron ${electronVersion()}.`,
        { cause: error },
      );
    }
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
