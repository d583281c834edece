/**
 * The proof of an answer as an MCP App: a page that clients show beside a call of `ask`, where they can.
 *
 * The page is built from src/renderer/proof-app into one file and is the same for everyone; what it shows comes to it
 * from the client, with the call's result. Text and structured content of an answer are those that every client gets:
 * whoever does not know apps misses nothing. The names are those of the extension's specification (2026-01-26).
 */
import { readFile } from 'node:fs/promises';
import type { Resource, TextResourceContents } from '@modelcontextprotocol/server';
import { type Caller, EngineError } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';

export const proofAppUri = 'ui://corollary/proof';
const mimeType = 'text/html;profile=mcp-app';

/** What the server tells of itself among its capabilities. */
export const appExtensions = { 'io.modelcontextprotocol/ui': { mimeTypes: [mimeType] } };

/** What the listing of a tool says whose results the page shows; the second key is the one of older clients. */
export const proofAppTool = { ui: { resourceUri: proofAppUri }, 'ui/resourceUri': proofAppUri };

/** The page loads nothing from anywhere, and asks for no permission. */
const pageMeta = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    prefersBorder: true,
  },
};

/** As `resources/list` answers it. */
export const proofAppListing: Resource = {
  uri: proofAppUri,
  name: 'proof',
  title: 'Proof',
  description: 'Shows the answers of ask with their proofs, in clients that show apps.',
  mimeType,
  _meta: pageMeta,
};

/** The page. Refuses with NotReady where it was not built. */
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

/** Beside the result of a call that the page shows: where the workbench shows proofs of the caller's knowledge. */
export function proofAppResult(host: McpHost, caller: Caller): { _meta?: Record<string, string> } {
  const workbench = host.workbenchOf(caller);
  if (workbench === null) return {};
  const { database, tenant } = caller;
  return {
    _meta: { 'corollary/proofs': `${workbench}/#/proof?${new URLSearchParams({ database, tenant })}` },
  };
}
