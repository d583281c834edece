import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEngine } from '../open-engine.ts';
import { type PrivatePostgres, postgresMissing, startPostgres } from '../testing/private-postgres.ts';

it('x', async () => {
  const server = await startPostgres();
  const warnings: string[] = [];
  const e = await openEngine({
    storageDir: null,
    storeUrl: server.url,
    onWarn: (m) => void warnings.push(m),
  });
  console.log(e.storageState(), warnings);
  console.log(await e.snapshot());
  await e.close();
  const e2 = await openEngine({
    storageDir: null,
    storeUrl: server.url,
    onWarn: (m) => void warnings.push(m),
  });
  console.log(e2.storageState(), warnings);
  await e2.close();
  await server.remove();
});
