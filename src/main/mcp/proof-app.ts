/**
 * The proof of an answer as an MCP App: a page that clients show beside a call of `ask`, if they can.
 *
 * The page is built from src/renderer/proof-app into one file and is the same for everyone; the client passes the
 * call's result to it. Text and structured content of an answer are the same for every client, so a client without apps
 * misses nothing. The names are those of the extension's specification (2026-01-26).
 */
import { readFile } from 'node:fs/promises';
import type { Resource, TextResourceContents } from '@modelcontextprotocol/server';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { McpHost } from '../base/agent-host.ts';

export const proofAppUri = 'ui://corollary/proof';
const mimeType = 'text/html;profile=mcp-app';

/** The server's capabilities for apps. */
export const appExtensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [mimeType] } };

/** In the listing of a tool whose results the page shows; the second key is for older clients. */
export const proofAppTool = { ui: { resourceUri: proofAppUri }, 'ui/resourceUri': proofAppUri };

/** The page loads nothing and asks for no permission. */
const pageMeta = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    prefersBorder: true,
  },
};

/** Its entry in the answer to `resources/list`. */
export const proofAppListing: Resource = {
  uri: proofAppUri,
  name: 'proof',
  title: 'Proof',
  description: 'Shows the answers of ask with their proofs, in clients that show apps.',
  mimeType,
  _meta: pageMeta,
};

/** Reads the page. Refuses with NotReady if it was not built. */
export async function readProofApp({
  proofAppFile,
}: Pick<McpHost, 'proofAppFile'>): Promise<TextResourceContents> {
  try {
    return { uri: proofAppUri, mimeType, text: await readFile(proofAppFile, 'utf8'), _meta: pageMeta };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    throw new EngineError('NotReady', 'the page is not built: run npm run build where the service lies');
  }
}

/**
 * Added to the result of a call that the page shows: the address of the workbench's proof view for the caller's
 * knowledge.
 */
export function proofAppResult(host: McpHost, caller: Caller): { _meta?: Record<string, string> } {
  const workbench = host.workbenchOf(caller);
  if (workbench === null) return {};
  const { database, tenant } = caller;
  return {
    _meta: { 'corollary/proofs': `${workbench}/#/proof?${new URLSearchParams({ database, tenant })}` },
  };
}
