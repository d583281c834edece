/**
 * Libraries for building agents, at pinned versions, each with the few lines that connect it. They are downloaded into
 * a temporary folder; the product does not install them.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { BuiltService } from './built-service.ts';

/** How a library reaches the service: Streamable HTTP, the older SSE transport, or the bridge it starts. */
export type Way = 'http' | 'sse' | 'stdio';

export interface ClientLibrary {
  readonly title: string;
  /** Installed together: aliases and versions, as in a package.json. */
  readonly packages: Readonly<Record<string, string>>;
  readonly ways: readonly Way[];
  /**
   * Program text: defines `call(tool, given)` of a client that it connected. `way`, `url`, `headers` and `program` are
   * defined.
   */
  readonly connect: string;
}

const system = process.platform === 'win32' ? 'win' : process.platform;
const nodePackage = `node-${system}-${process.arch}`;

/** Some need a newer Node than the product does: all run under this one. */
const common = { [nodePackage]: '22.23.3', zod: '4.6.7' };

const secondSdk = '2.4.0';

export const clientLibraries: readonly ClientLibrary[] = [
  {
    title: 'the official SDK, first generation',
    packages: { sdk1: 'npm:@modelcontextprotocol/sdk@1.32.2' },
    ways: ['http', 'sse', 'stdio'],
    connect: `
      const { Client } = await import('sdk1/client/index.js');
      const transports = {
        http: async () => new (await import('sdk1/client/streamableHttp.js')).StreamableHTTPClientTransport(url, { requestInit: { headers } }),
        sse: async () => new (await import('sdk1/client/sse.js')).SSEClientTransport(url, { requestInit: { headers } }),
        stdio: async () => new (await import('sdk1/client/stdio.js')).StdioClientTransport(program),
      };
      const client = new Client({ name: 'library', version: '1' });
      await client.connect(await transports[way]());
      const call = (name, given) => client.callTool({ name, arguments: given });`,
  },
  {
    title: 'the official SDK, second generation',
    packages: { sdk2: `npm:@modelcontextprotocol/client@${secondSdk}` },
    ways: ['http', 'sse', 'stdio'],
    connect: `
      const { Client, SSEClientTransport, StreamableHTTPClientTransport } = await import('sdk2');
      const transports = {
        http: async () => new StreamableHTTPClientTransport(url, { requestInit: { headers } }),
        sse: async () => new SSEClientTransport(url, { requestInit: { headers } }),
        stdio: async () => new (await import('sdk2/stdio')).StdioClientTransport(program),
      };
      const client = new Client({ name: 'library', version: '1' });
      await client.connect(await transports[way]());
      const call = (name, given) => client.callTool({ name, arguments: given });`,
  },
  ...(['1.0.101', '2.0.99'] as const).map((version) => ({
    title: `@ai-sdk/mcp ${version}`,
    packages: { 'ai-mcp': `npm:@ai-sdk/mcp@${version}` },
    ways: ['http', 'sse', 'stdio'] as const,
    connect: `
      const { createMCPClient, experimental_createMCPClient } = await import('ai-mcp');
      const { Experimental_StdioMCPTransport: Stdio } = await import('ai-mcp/mcp-stdio');
      const transport = way === 'stdio' ? new Stdio(program) : { type: way, url: String(url), headers };
      const client = await (createMCPClient ?? experimental_createMCPClient)({ transport });
      const tools = await client.tools();
      const call = (name, given) => tools[name].execute(given, { messages: [], toolCallId: name });`,
  })),
  {
    title: '@langchain/mcp-adapters',
    packages: {
      '@langchain/mcp-adapters': '1.1.4',
      '@langchain/core': '1.4.0',
      '@langchain/langgraph': '1.7.3',
    },
    ways: ['http', 'sse', 'stdio'],
    connect: `
      const { MultiServerMCPClient } = await import('@langchain/mcp-adapters');
      const reconnect = { enabled: true, maxAttempts: 30, delayMs: 500 };
      const server = way === 'stdio' ? { transport: 'stdio', ...program } : { transport: way, url: String(url), headers, reconnect };
      const client = new MultiServerMCPClient({ mcpServers: { kb: server }, throwOnLoadError: true });
      const tools = await client.getTools();
      const call = (name, given) => tools.find((tool) => tool.name === name).invoke(given);`,
  },
  {
    title: '@openai/agents',
    packages: { '@openai/agents': '0.20.0' },
    ways: ['http', 'sse', 'stdio'],
    connect: `
      const { MCPServerSSE, MCPServerStdio, MCPServerStreamableHttp } = await import('@openai/agents');
      const Server = { http: MCPServerStreamableHttp, sse: MCPServerSSE, stdio: MCPServerStdio }[way];
      const server = new Server(way === 'stdio' ? { ...program } : { url: String(url), requestInit: { headers }, eventSourceInit: { fetch: (at, init) => fetch(at, { ...init, headers: { ...init.headers, ...headers } }) } });
      await server.connect();
      const call = (name, given) => server.callTool(name, given);`,
  },
  {
    title: '@mastra/mcp',
    packages: { '@mastra/mcp': '2.0.0', '@mastra/core': '1.71.0' },
    ways: ['http', 'stdio'],
    connect: `
      const { MCPClient } = await import('@mastra/mcp');
      const server = way === 'stdio' ? program : { url, requestInit: { headers } };
      const client = new MCPClient({ servers: { kb: server } });
      const tools = await client.listTools();
      const call = (name, given) => tools['kb_' + name].execute(given, {});`,
  },
  {
    title: 'mcp-use',
    packages: { 'mcp-use': '1.34.6' },
    ways: ['http', 'stdio'],
    connect: `
      const { MCPClient } = await import('mcp-use/client');
      const server = way === 'stdio' ? program : { url: String(url), headers };
      const client = MCPClient.fromDict({ mcpServers: { kb: server } });
      const session = await client.createSession('kb');
      const call = (name, given) => session.callTool(name, given);`,
  },
  {
    title: 'mcp-remote',
    packages: { 'mcp-remote': '0.15.1', sdk1: 'npm:@modelcontextprotocol/sdk@1.32.2' },
    ways: ['http', 'sse'],
    connect: `
      const { Client } = await import('sdk1/client/index.js');
      const { StdioClientTransport } = await import('sdk1/client/stdio.js');
      const client = new Client({ name: 'library', version: '1' });
      const args = ['node_modules/mcp-remote/dist/proxy.js', String(url), '--allow-http', '--transport', way + '-only'];
      for (const [name, value] of Object.entries(headers)) args.push('--header', name + ':' + value);
      await client.connect(new StdioClientTransport({ command: process.execPath, args, env: process.env }));
      const call = (name, given) => client.callTool({ name, arguments: given });`,
  },
  {
    // Its daemon keeps the connection between two commands.
    title: 'the MCP Inspector',
    packages: { '@modelcontextprotocol/inspector': '2.12.0' },
    ways: ['http', 'sse', 'stdio'],
    connect: `
      const { execFileSync } = await import('node:child_process');
      const { mkdtempSync } = await import('node:fs');
      const { tmpdir } = await import('node:os');
      const { join } = await import('node:path');
      const mcpdo = 'node_modules/@modelcontextprotocol/inspector/clients/mcpdo/build/mcp-bin.js';
      const env = { ...process.env, MCP_INSPECTOR_DAEMON_DIR: mkdtempSync(join(tmpdir(), 'corollary-inspector-')), MCP_INSPECTOR_DAEMON_TOKEN: crypto.randomUUID() };
      const run = (...words) => execFileSync(process.execPath, [mcpdo, '--format', 'json', '--connection', 'kb', ...words], { env, encoding: 'utf8' });
      process.on('exit', () => run('daemon', 'stop'));
      const variables = Object.entries(program.env).flatMap(([name, value]) => ['-e', name + '=' + value]);
      if (way === 'stdio') run('connect', ...variables, '--transport', 'stdio', '--', program.command, ...program.args);
      else run('connect', '--transport', way, '--server-url', String(url), '--header', 'Authorization: ' + headers.Authorization);
      const call = async (name, given) => run('tools/call', name, JSON.stringify(given));`,
  },
];

/**
 * Tells, waits for a line that says that the service is back, and asks; repeatedly if a stream must come back first.
 */
function programOf(connect: string): string {
  return `
    const { way, address, key, program } = JSON.parse(process.argv[2]);
    const url = new URL(way === 'sse' ? '/mcp/sse' : '/mcp', address);
    const headers = { Authorization: 'Bearer ' + key };
    ${connect}
    const said = (answer) => JSON.stringify(answer) ?? '';
    const told = said(await call('tell', { predicate: 'kept', args: [way] }));
    if (!told.includes('kept(' + way + ')')) throw new Error('tell answered ' + told);
    console.log('told');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    const patience = Date.now() + (way === 'sse' ? 60_000 : 0);
    const soon = () => new Promise((_, reject) => setTimeout(() => reject(new Error('no answer in 20 s')), 20_000));
    for (;;) {
      try {
        const answer = said(await Promise.race([call('ask', { predicate: 'kept', args: ['?x'] }), soon()]));
        if (!answer.includes('kept(' + way + ')')) throw new Error('ask answered ' + answer);
        break;
      } catch (error) {
        if (Date.now() > patience) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
    console.log('went on');
    process.exit(0);`;
}

export interface InstalledLibrary {
  /** The outcome of a client that was connected while the service was killed and restarted; 'went on' on success. */
  throughRestart(service: BuiltService, way: Way): Promise<string>;
  remove(): void;
}

const limitMs = 10 * 60_000;
const bridge = fileURLToPath(new URL('../../../../out/bridge/corollary-mcp.js', import.meta.url));

/** Rejects with the obstacle if the packages cannot be downloaded. */
export async function installLibrary(library: ClientLibrary): Promise<InstalledLibrary> {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-library-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const dependencies = { ...common, ...library.packages };
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'library', version: '1.0.0', private: true, type: 'module', dependencies }),
  );
  writeFileSync(join(folder, 'agent.mjs'), programOf(library.connect));
  try {
    await install(folder, library);
  } catch (error) {
    remove();
    throw error;
  }
  const node = join(folder, 'node_modules', nodePackage, 'bin', system === 'win' ? 'node.exe' : 'node');
  return { remove, throughRestart: (service, way) => throughRestart(service, way, node, folder) };
}

/** From npm's cache if it has them. */
function install(folder: string, { title }: ClientLibrary): Promise<void> {
  const options = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  const path = process.env['npm_execpath'];
  const isScript = path?.endsWith('.js') === true;
  const [program, before] = isScript ? [process.execPath, [path]] : ['npm', []];
  const shell = !isScript && process.platform === 'win32';
  return new Promise((resolve, reject) => {
    execFile(
      program,
      [...before, ...options],
      { cwd: folder, timeout: limitMs, shell },
      (error, _out, stderr) => {
        if (error === null) return resolve();
        const why = stderr.split('\n').filter((line) => line.startsWith('npm error'));
        const message = `${title} could not be downloaded from the package registry.`;
        reject(new Error([message, ...why.slice(0, 5)].join('\n')));
      },
    );
  });
}

async function throughRestart(
  service: BuiltService,
  way: Way,
  node: string,
  folder: string,
): Promise<string> {
  const { address, apiKey: key, endpointFile } = service;
  const env = { PATH: process.env['PATH'] ?? '', HOME: service.folder };
  const program = {
    command: process.execPath,
    args: [bridge, '--no-start'],
    env: { ...env, COROLLARY_API_KEY: key, COROLLARY_ENDPOINT_FILE: endpointFile },
  };
  const given = JSON.stringify({ way, address, key, program });
  const child = spawn(node, ['agent.mjs', given], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const errors = text(child.stderr);
  const timer = setTimeout(() => child.kill('SIGKILL'), 3 * 60_000);
  try {
    for await (const line of createInterface(child.stdout)) {
      if (line === 'told') {
        await service.killAndStartAgain();
        child.stdin.write('again\n');
      }
      if (line === 'went on') return line;
    }
    return `it ended: ${await errors}`;
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}
