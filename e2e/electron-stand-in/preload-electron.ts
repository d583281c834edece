/**
 * A stand-in for the `electron` module of a sandboxed preload, under plain Node.
 *
 * It records what the preload exposes, calls each function once, signals a waiting request once, and prints the result
 * as one line of JSON.
 */
import { EventEmitter } from 'node:events';

const exposed: {
  world: string | null;
  functions: [string, string][];
  invoked: unknown[][];
  /** What a page's listener received when a request waited, and after it stopped listening. */
  heard: unknown[][];
} = { world: null, functions: [], invoked: [], heard: [] };

const events = new EventEmitter();

type Exposed = Readonly<Record<string, (argument: unknown) => unknown>>;

export const contextBridge = {
  exposeInMainWorld(world: string, api: Exposed): void {
    exposed.world = world;
    for (const [name, ask] of Object.entries(api)) {
      exposed.functions.push([name, typeof ask]);
      if (name !== 'onWaiting') ask('an argument');
    }
    const stop = api['onWaiting']?.((...args: unknown[]) => exposed.heard.push(args)) as () => void;
    events.emit('corollary:waiting', { sender: 'an event of IPC' }, 'more');
    stop();
    events.emit('corollary:waiting', { sender: 'an event of IPC' });
  },
};

export const ipcRenderer = {
  async invoke(...args: unknown[]): Promise<void> {
    exposed.invoked.push(args);
  },
  on: (name: string, listener: () => void) => events.on(name, listener),
  off: (name: string, listener: () => void) => events.off(name, listener),
};

export const webUtils = { getPathForFile: (file: unknown) => `path of ${String(file)}` };

process.on('exit', () => process.stdout.write(JSON.stringify(exposed)));
