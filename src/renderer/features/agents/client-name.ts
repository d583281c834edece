/** How the workbench names itself as a client of MCP, in the log of calls too. */
export const clientName = 'Corollary workbench';
