/** The entry of the desktop application: one instance, sandboxed, run by the shell. */
import { app, dialog } from 'electron';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { releasesAddress } from '../desktop/releases.ts';
import { DesktopShell } from '../desktop/shell.ts';

/** Where to check for newer versions: set by the build (RELEASES_ADDRESS), empty if not set. */
declare const builtReleasesAddress: string;

const folder = dirname(fileURLToPath(import.meta.url));

app.enableSandbox();
// Chromium refuses root without this switch, and with it the sandbox would end every process of a page.
if (process.getuid?.() === 0 && process.argv.includes('--no-sandbox')) {
  process.stderr.write(
    'Corollary does not open its window as root. Start it as another user, or run the service alone: npm start -- --headless\n',
  );
  app.exit(1);
}
// The running instance gets the arguments; this one ends.
else if (!app.requestSingleInstanceLock({ argv: process.argv, directory: process.cwd() })) app.quit();
else {
  const environment = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const shell = new DesktopShell({
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
