/**
 * What to write into the configuration of each client of MCP, so that it finds the service.
 *
 * Pure: the workbench shows it to be copied, and docs/agents.md has the same text for the usual address. Both are held
 * against this.
 */

export const agentPrograms = [
  'claude-desktop',
  'claude-code',
  'cursor',
  'vs-code',
  'codex',
  'other-http',
  'other-stdio',
] as const;
export type AgentProgram = (typeof agentPrograms)[number];

/** Where an agent is to work, and how it gets there. */
export interface AgentPlace {
  /** `http://127.0.0.1:9300`. */
  readonly address: string;
  readonly database: string;
  readonly tenant: string;
  /** The credential; null: none is wanted. */
  readonly key: string | null;
  /** How the bridge is started; null: it is not built. */
  readonly bridge: { readonly command: string; readonly args: readonly string[] } | null;
}

/** How a client reaches the service: by an address, with these headers, or by a program that it starts. */
export type AgentRoute =
  | { readonly via: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly via: 'bridge';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };

export interface AgentConfiguration {
  readonly program: AgentProgram;
  /** `Claude Desktop`. */
  readonly title: string;
  /** The file that the text belongs into, as its user knows it, or null where it is a command to run. */
  readonly file: string | null;
  readonly language: 'json' | 'toml' | 'shell';
  readonly text: string;
  /** What else has to be known, in a sentence; null: nothing. */
  readonly note: string | null;
  /** What the text says, for who tries it. */
  readonly route: AgentRoute;
}

/** The configuration of a program; null where it needs the bridge and there is none. */
export function configurationOf(_program: AgentProgram, _place: AgentPlace): AgentConfiguration | null {
  return null;
}
