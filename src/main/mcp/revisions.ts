/** The paths of MCP, and its revision without sessions. */
export const streamablePath = '/mcp';
export const ssePath = '/mcp/sse';

export const statelessRevision = '2026-07-28';
