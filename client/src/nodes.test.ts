/** One client of three nodes over one store in a real PostgreSQL server. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { postgresMissing, postgresNotice, startPostgres } from '../../src/engine/testing/private-postgres.ts';
import { startServiceUnderTest } from '../../src/main/testing/service-under-test.ts';
import { createClient } from './client.ts';

describe.skipIf(postgresMissing !== null)(`a client of three nodes${postgresNotice}`, () => {
  test('reads its own writes at any of them, and gets no error when their owner ends', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.remove());
    const folder = await mkdtemp(join(tmpdir(), 'corollary-client-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const secret = join(folder, 'secret');
    await writeFile(secret, 'a secret of at least 32 characters\n');
    const start = () => startServiceUnderTest({ STORE_URL: server.url, NODE_SECRET_FILE: secret });
    const nodes = [await start(), await start(), await start()] as const;
    onTestFinished(async () => {
      for (const node of nodes) await node.close();
    });
    const [owner, ...copies] = nodes;
    const [first, second] = copies.map(({ address }) => address) as [string, string];
    const clients = [
      createClient({ url: [owner.address, first, second], tenant: 'default' }),
      createClient({ url: [first, owner.address], tenant: 'default' }),
      createClient({ url: [second, owner.address], tenant: 'default' }),
    ];
    let isOver = false;
    const counts = [0, 0, 0];
    const all = clients.map(async (client, name) => {
      for (; !isOver; counts[name] = (counts[name] ?? 0) + 1) {
        const fact = { predicate: `p${name}`, args: [`a${counts[name]}`] };
        await client.assertFact(fact);
        // Without a token the copy may not have it yet.
        expect(await client.query(fact)).toHaveLength(1);
      }
    });
    const each = () => Math.min(...counts);
    await expect.poll(each, { timeout: 20_000 }).toBeGreaterThan(3);
    await owner.close();
    const before = each();
    await expect.poll(each, { timeout: 20_000 }).toBeGreaterThan(before + 3);
    isOver = true;
    await Promise.all(all);
    for (const [name, count] of counts.entries()) {
      const listed = await createClient({ url: first, tenant: 'default' }).listFacts({
        predicate: `p${name}`,
        limit: 1,
      });
      expect(listed.total).toBe(count);
    }
  }, 30_000);
});
