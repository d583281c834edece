/**
 * A process that locks a storage folder (argument 1), reports success or the reason for failure, announces argument 2,
 * and stays.
 */
import { lockFolder } from '../log/lock.ts';
import { StartupError } from '../log/startup-error.ts';

const [, , folder = '', address = ''] = process.argv;
try {
  const lock = await lockFolder(folder, {
    now: Date.now,
    onWarn: (message) => process.stderr.write(`${message}\n`),
  });
  if (address !== '') await lock.announce(address);
  process.stdout.write('held\n');
  process.on('SIGTERM', () => void lock.release().then(() => process.exit(0)));
  setInterval(() => undefined, 1000);
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stdout.write(`refused: ${error.message}\n`);
}
