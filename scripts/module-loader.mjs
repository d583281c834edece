import { root } from './prepare.mjs';

/**
 * Gives `work` a function that loads modules of the project, TypeScript too, by their paths. One server for all of them: what
 * one module exports is the same object wherever it is seen.
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
