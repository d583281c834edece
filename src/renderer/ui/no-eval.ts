/**
 * Prevents zod from compiling validators at run time. The content security policy forbids that, and even a caught
 * attempt is reported as a violation. Must be the first import of every entry (page and workers), before any schema is
 * built.
 */
declare global {
  var __zod_globalConfig: { jitless?: boolean } | undefined;
}

globalThis.__zod_globalConfig = { ...globalThis.__zod_globalConfig, jitless: true };

export {};
