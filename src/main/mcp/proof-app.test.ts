/** The page that shows a proof in a chat, as official clients of both generations find and read it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  EXTENSION_ID,
  RESOURCE_MIME_TYPE,
  RESOURCE_URI_META_KEY,
} from '@modelcontextprotocol/ext-apps/server';
import { getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { appExtensions, proofAppListing, proofAppUri, readProofApp } from './proof-app.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

async function connect(revision: string): Promise<Client> {
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  const client = new Client({ name: 'chat', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { 'X-Tenant-ID': 'a&tenant' } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.address), { requestInit }));
  return client;
}

describe.each(['2025-11-25', '2026-07-28'])('a client that speaks %s', (revision) => {
  let client: Client;

  beforeAll(async () => {
    client = await connect(revision);
  });
  afterAll(() => client.close());

  it('learns that the server has apps, and of which kind', () => {
    const { extensions } = client.getServerCapabilities() ?? {};
    expect(extensions).toEqual({ [EXTENSION_ID]: { mimeTypes: [RESOURCE_MIME_TYPE] } });
  });

  it('finds the page at ask and at no other tool, under its current and its former name', async () => {
    const { tools } = await client.listTools();
    const withPage = tools.filter((tool) => getToolUiResourceUri(tool) !== undefined);
    expect(withPage.map(({ name }) => name)).toEqual(['ask']);
    expect(withPage[0]?._meta).toEqual({
      ui: { resourceUri: proofAppUri },
      [RESOURCE_URI_META_KEY]: proofAppUri,
    });
  });

  it('finds the page among the resources, allowed to load nothing', async () => {
    const { resources } = await client.listResources();
    expect(resources.find(({ uri }) => uri === proofAppUri)).toMatchObject({
      mimeType: RESOURCE_MIME_TYPE,
      _meta: {
        ui: { csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] } },
      },
    });
  });

  it('gets the same text and structured content with or without the page, and the address of the workbench', async () => {
    await client.callTool({ name: 'tell', arguments: { predicate: 'p', args: ['a'] } });
    const { _meta, ...answer } = await client.callTool({
      name: 'ask',
      arguments: { predicate: 'p', args: ['?x'] },
    });
    expect(Object.keys(answer).filter((field) => field !== 'resultType')).toEqual([
      'content',
      'structuredContent',
    ]);
    expect(answer.content).toMatchObject([{ type: 'text', text: expect.stringContaining('p(a) (stored)') }]);
    expect(_meta?.['corollary/proofs']).toBe(`${service.address}/#/proof?database=default&tenant=a%26tenant`);
  });
});

describe('the page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-proof-app-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is served as built, with its content security policy', async () => {
    const proofAppFile = join(folder, 'page.html');
    writeFileSync(proofAppFile, '<!doctype html><title>Proof</title>');
    expect(await readProofApp({ proofAppFile })).toEqual({
      uri: proofAppUri,
      mimeType: RESOURCE_MIME_TYPE,
      text: '<!doctype html><title>Proof</title>',
      _meta: proofAppListing._meta,
    });
  });

  it('is refused with how to build it if it was not built', async () => {
    await expect(readProofApp({ proofAppFile: join(folder, 'none.html') })).rejects.toMatchObject({
      code: 'NotReady',
      message: expect.stringContaining('npm run build'),
    });
  });

  it('is announced by the names of the official extension', () => {
    expect(Object.keys(appExtensions)).toEqual([EXTENSION_ID]);
    expect(proofAppUri).toMatch(/^ui:\/\//);
  });
});
