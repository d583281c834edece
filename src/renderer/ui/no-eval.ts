/**
 * Tells zod not to compile validators at run time. The content security policy forbids that, and the mere
 * attempt, though caught, would be reported as a violation. Must be the first import of every entry
 * (page and workers), before anything that builds a schema.
 */
declare global {
  var __zod_globalConfig: { jitless?: boolean } | undefined;
}

globalThis.__zod_globalConfig = { ...globalThis.__zod_globalConfig, jitless: true };

export {};
