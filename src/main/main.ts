/** The entry of the desktop application: one instance, sandboxed, run by the shell. */
import { app, dialog } from 'electron';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Shell } from './desktop/shell.ts';

const folder = dirname(fileURLToPath(import.meta.url));

app.enableSandbox();
// The arguments go to the instance that is there; this one has nothing more to do.
if (!app.requestSingleInstanceLock({ argv: process.argv })) app.quit();
else {
  const environment = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const shell = new Shell({
    serviceThread: join(folder, 'service-thread.js'),
    preload: join(folder, '..', 'preload', 'preload.cjs'),
    environment: Object.fromEntries(environment),
    argv: process.argv,
  });
  shell.run().catch((error: unknown) => {
    dialog.showErrorBox('Corollary could not start', error instanceof Error ? error.message : String(error));
    app.exit(1);
  });
}
