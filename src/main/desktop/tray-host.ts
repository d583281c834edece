/**
 * Whether the desktop shows icons of a tray.
 *
 * Linux: a StatusNotifierHost must be on the session bus, which plain GNOME lacks. Electron does not tell, so the bus is
 * asked through whichever of its clients is installed. It is asked when the answer is needed: extensions come and go.
 */
import { execFile } from 'node:child_process';

const watcher = 'org.kde.StatusNotifierWatcher';
const watcherPath = '/StatusNotifierWatcher';
const property = 'IsStatusNotifierHostRegistered';
const getProperty = 'org.freedesktop.DBus.Properties.Get';

/** The same question to each client of the bus; all print `true` in the answer if there is a host. */
const clients: readonly string[] = [
  `gdbus call --session --timeout=1 --dest ${watcher} --object-path ${watcherPath} --method ${getProperty} ${watcher} ${property}`,
  `dbus-send --session --print-reply --reply-timeout=1000 --dest=${watcher} ${watcherPath} ${getProperty} string:${watcher} string:${property}`,
  `busctl --user --timeout=1 get-property ${watcher} ${watcherPath} ${watcher} ${property}`,
];

/** How a client of the bus is run: what it prints, or that it is not installed, or failed. */
type RunClient = (
  program: string,
  argv: readonly string[],
) => Promise<{ readonly printed: string } | 'missing' | 'failed'>;

/** Whether an icon in the tray is seen; false if that cannot be found out. */
export async function hasTray(platform: NodeJS.Platform, run: RunClient = runClient): Promise<boolean> {
  if (platform !== 'linux') return true;
  for (const line of clients) {
    const [program = '', ...argv] = line.split(' ');
    const answer = await run(program, argv);
    if (answer !== 'missing') return answer !== 'failed' && /\btrue\b/.test(answer.printed);
  }
  return false;
}

const runClient: RunClient = (program, argv) =>
  new Promise((resolve) => {
    // Without a watcher the client fails; one that does not answer must not keep anybody from leaving.
    execFile(program, argv, { timeout: 2_000 }, (error, output) => {
      if (error === null) resolve({ printed: output });
      else resolve(error.code === 'ENOENT' ? 'missing' : 'failed');
    });
  });
