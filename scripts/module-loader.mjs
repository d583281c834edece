import { root } from './prepare.mjs';

/**
 * Gives `work` a function that loads modules of the project, including TypeScript, by their paths. All use one server,
 * so an export is the same object everywhere.
 * @template Result
 * @param {(load: (path: string) => Promise<Record<string, any>>) => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function withModules(work) {
  const { createServer } = await import('vite');
  const server = await createServer({
    configFile: false,
    root,
    logLevel: 'warn',
    appType: 'custom',
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    return await work((path) => server.ssrLoadModule(`/${path}`));
  } finally {
    await server.close();
  }
}
