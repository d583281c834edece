import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where things are kept for a user when the environment does not say otherwise. */

/** Where `npm start` keeps knowledge: the folder the platform has for data of programs. */
export function dataFolder() {
  const home = homedir();
  if (process.platform === 'win32')
    return join(process.env['LOCALAPPDATA'] ?? join(home, 'AppData/Local'), 'Corollary');
  if (process.platform === 'darwin') return join(home, 'Library/Application Support/Corollary');
  const base = process.env['XDG_DATA_HOME'];
  return join(base?.startsWith('/') === true ? base : join(home, '.local/share'), 'corollary');
}

/** The file in which a running service says where it can be reached; the service itself agrees with this. */
export function endpointFile() {
  const named = process.env['COROLLARY_ENDPOINT_FILE'];
  if (named !== undefined && named !== '') return named;
  const home = homedir();
  const folder = () => {
    if (process.platform === 'win32') return process.env['LOCALAPPDATA'] ?? join(home, 'AppData/Local');
    if (process.platform === 'darwin') return join(home, 'Library/Application Support');
    return process.env['XDG_STATE_HOME'] ?? join(home, '.local/state');
  };
  return join(folder(), 'corollary/endpoint.json');
}
