/**
 * Agents built with popular libraries keep working when the service is killed and restarted: the connected client goes
 * on without being created again. Downloads the libraries; see testing/client-libraries.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltService, startBuiltService } from './testing/built-service.ts';
import { clientLibraries, type InstalledLibrary, installLibrary } from './testing/client-libraries.ts';

const patienceMs = 15 * 60_000;

describe.each(clientLibraries)('a client of $title', (library) => {
  let installed: InstalledLibrary;
  let service: BuiltService;

  beforeAll(async () => {
    installed = await installLibrary(library);
    service = await startBuiltService();
  }, patienceMs);
  afterAll(async () => {
    await service?.close();
    installed?.remove();
  }, patienceMs);

  it.each(library.ways.filter((way) => way !== 'sse'))(
    'goes on after kill -9 and a restart, over %s',
    async (way) => {
      expect(await installed.throughRestart(service, way)).toBe('went on');
    },
  );

  // A session ends with its stream. A request during the start of the service returns 503, after which many clients
  // give up.
  it.each(library.ways.filter((way) => way === 'sse'))(
    'connects over %s, and reopens its stream or learns that its session has ended',
    async (way) => {
      expect(await installed.throughRestart(service, way)).toMatch(/^went on$|SessionNotFound/);
    },
  );
});
