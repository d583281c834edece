import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../service-under-test.ts';
let service: ServiceUnderTest;
beforeAll(async () => { service = await startServiceUnderTest(); });
afterAll(() => service.close());
it('x', async () => {
  const client = new Client({ name: 'new-agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address), { requestInit: { headers: { 'X-Tenant-ID': 'n' } } }));
  console.log(client.getNegotiatedProtocolVersion?.(), client.getServerVersion());
  console.log((await client.listTools()).tools.length);
  console.log(JSON.stringify(await client.callTool({ name: 'tell', arguments: { predicate: 'p', args: ['a'] } })));
  console.log(JSON.stringify(await client.callTool({ name: 'ask', arguments: { predicate: 'p', args: ['?x'] } })).slice(0, 400));
  console.log(JSON.stringify(await client.readResource({ uri: 'kb://predicates' })));
  await client.close();
});
