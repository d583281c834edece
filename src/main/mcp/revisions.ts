/** Where MCP is served, and the revision of it that has no sessions. */
export const streamablePath = '/mcp';
export const ssePath = '/mcp/sse';

export const statelessRevision = '2026-07-28';
