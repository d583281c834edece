import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, it, onTestFinished } from 'vitest';
import { startServiceUnderTest } from '../testing/service-under-test.ts';

it('a follower refuses writing tools, names the leader, and answers questions', async () => {
  const leader = await startServiceUnderTest();
  onTestFinished(() => leader.close());
  await leader.call('POST', '/tell', { predicate: 'p', args: ['a'] });
  const follower = await startServiceUnderTest({ REPLICATION_MODE: 'FOLLOWER', LEADER_URL: leader.address });
  onTestFinished(() => follower.close());
  await expect.poll(async () => (await follower.call('GET', '/health/ready')).status).toBe(200);
  const client = new Client({ name: 'agent', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', follower.address)));
  const told = await client.callTool({ name: 'tell', arguments: { predicate: 'p', args: ['b'] } });
  expect(told.isError).toBe(true);
  expect(JSON.stringify(told.content)).toContain(`send them to the leader at ${leader.address}`);
  const asked = await client.callTool({ name: 'ask', arguments: { predicate: 'p', args: ['?x'] } });
  expect(JSON.stringify(asked.content)).toContain('p(a)');
  await client.close();
});
