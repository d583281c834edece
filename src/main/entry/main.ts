/** The entry of the desktop application: one instance, sandboxed, run by the shell. */
import { app, dialog } from 'electron';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { releasesAddress } from '../desktop/releases.ts';
import { Shell } from '../desktop/shell.ts';

/** Where newer versions are asked for: given by the build (RELEASES_ADDRESS), empty where it gives none. */
declare const builtReleasesAddress: string;

const folder = dirname(fileURLToPath(import.meta.url));

app.enableSandbox();
// The arguments go to the instance that is there; this one has nothing more to do.
if (!app.requestSingleInstanceLock({ argv: process.argv, directory: process.cwd() })) app.quit();
else {
  const environment = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const shell = new Shell({
    serviceThread: join(folder, 'service-thread.js'),
    preload: join(folder, '..', 'preload', 'preload.cjs'),
    icons: join(folder, '..', '..', 'resources', 'icons'),
    environment: Object.fromEntries(environment),
    argv: process.argv,
    directory: process.cwd(),
    releasesAddress: releasesAddress(builtReleasesAddress),
  });
  shell.run().catch((error: unknown) => {
    dialog.showErrorBox('Corollary could not start', error instanceof Error ? error.message : String(error));
    app.exit(1);
  });
}
