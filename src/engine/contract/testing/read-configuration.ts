/**
 * For tests: reads configurations as their clients do.
 *
 * It is strict where clients are lenient: anything a client would ignore or refuse is an error here, so a text that
 * parses is one that works. It shares no code with the writer.
 */
import { execFileSync } from 'node:child_process';
import { parse as parseToml } from 'smol-toml';
import { z } from 'zod';
import type { AgentProgram, AgentRoute } from '../agent-setup.ts';

/**
 * How the client reaches the service according to the text. `key`: the value its user has in the environment or enters.
 */
export function routeOf(program: AgentProgram, text: string, key: string | null): AgentRoute {
  switch (program) {
    case 'claude-code':
      return claudeCodeRoute(text);
    case 'codex':
      return codexRoute(text, key);
    case 'vs-code':
      return vsCodeRoute(text, key);
    case 'cursor':
      return byAddress(text, (value) => resolved(value, '${env:COROLLARY_API_KEY}', key));
    case 'other-http':
      return byAddress(text, (value) => value);
    case 'claude-desktop':
    case 'other-stdio':
      return byProgram(text);
  }
}

const headers = z.record(z.string(), z.string()).default({});

function byAddress(text: string, resolve: (value: string) => string): AgentRoute {
  const server = z.strictObject({ url: z.url(), headers });
  const file = z.strictObject({ mcpServers: z.strictObject({ corollary: server }) });
  const { corollary } = file.parse(JSON.parse(text)).mcpServers;
  return { via: 'http', url: corollary.url, headers: each(corollary.headers, resolve) };
}

function byProgram(text: string): AgentRoute {
  const server = z.strictObject({
    command: z.string().min(1),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()).default({}),
  });
  const file = z.strictObject({ mcpServers: z.strictObject({ corollary: server }) });
  return { via: 'bridge', ...file.parse(JSON.parse(text)).mcpServers.corollary };
}

function vsCodeRoute(text: string, key: string | null): AgentRoute {
  const file = z.strictObject({
    inputs: z
      .array(
        z.strictObject({
          type: z.literal('promptString'),
          id: z.string().regex(/^\w+$/),
          description: z.string(),
          password: z.literal(true),
        }),
      )
      .default([]),
    servers: z.strictObject({
      corollary: z.strictObject({ type: z.literal('http'), url: z.url(), headers }),
    }),
  });
  const { inputs, servers } = file.parse(JSON.parse(text));
  const resolve = (value: string) =>
    inputs.reduce((said, { id }) => resolved(said, `\${input:${id}}`, key), value);
  return { via: 'http', url: servers.corollary.url, headers: each(servers.corollary.headers, resolve) };
}

function codexRoute(text: string, key: string | null): AgentRoute {
  const server = z.strictObject({
    url: z.url(),
    http_headers: headers,
    bearer_token_env_var: z.literal('COROLLARY_API_KEY').optional(),
  });
  const file = z.strictObject({ mcp_servers: z.strictObject({ corollary: server }) });
  const { url, http_headers, bearer_token_env_var } = file.parse(parseToml(text)).mcp_servers.corollary;
  if (bearer_token_env_var === undefined) return { via: 'http', url, headers: http_headers };
  return { via: 'http', url, headers: { ...http_headers, Authorization: `Bearer ${key}` } };
}

/**
 * Splits the command as a shell does and parses the words as the program does: --header takes all words that follow it.
 */
function claudeCodeRoute(text: string): AgentRoute {
  const print = `claude() { printf '%s\\0' "$@"; }`;
  const words = execFileSync('sh', ['-c', `${print}\n${text}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
  const [mcp, add, transport, http, name, url, ...options] = words;
  if ([mcp, add, transport, http, name].join(' ') !== 'mcp add --transport http corollary')
    throw new Error(`no command that adds a server by its address: ${text}`);
  const said: Record<string, string> = {};
  let isHeader = false;
  for (const word of options) {
    if (word === '--header') isHeader = true;
    else if (!isHeader) throw new Error(`an extra word: ${word}`);
    else {
      const colon = word.indexOf(':');
      if (colon < 1) throw new Error(`not a header: ${word}`);
      said[word.slice(0, colon).trim()] = word.slice(colon + 1).trim();
    }
  }
  return { via: 'http', url: z.url().parse(url), headers: said };
}

function each(
  values: Readonly<Record<string, string>>,
  resolve: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, resolve(value)]));
}

function resolved(value: string, reference: string, key: string | null): string {
  return key === null ? value : value.split(reference).join(key);
}
