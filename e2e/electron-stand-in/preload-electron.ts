/**
 * A stand-in for the `electron` module of a sandboxed preload, under plain Node.
 *
 * It records what is exposed to the page, calls each function once, and prints all of it as one line of JSON.
 */
const exposed: { world: string | null; functions: [string, string][]; invoked: unknown[][] } = {
  world: null,
  functions: [],
  invoked: [],
};

export const contextBridge = {
  exposeInMainWorld(world: string, api: Readonly<Record<string, (argument: unknown) => unknown>>): void {
    exposed.world = world;
    for (const [name, ask] of Object.entries(api)) {
      exposed.functions.push([name, typeof ask]);
      ask('an argument');
    }
  },
};

export const ipcRenderer = {
  async invoke(...args: unknown[]): Promise<void> {
    exposed.invoked.push(args);
  },
};

process.on('exit', () => process.stdout.write(JSON.stringify(exposed)));
