/**
 * The extension for VS Code: starts the language server, its own or `corollary lsp` of the setting `corollary.path`, and
 * starts it again when the setting changes or the user asks for it.
 */
import { commands, type ExtensionContext, workspace } from 'vscode';
import {
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  TransportKind,
} from 'vscode-languageclient/node';

const clientOptions: LanguageClientOptions = {
  documentSelector: [{ language: 'corollary' }],
  outputChannelName: 'Corollary',
};

let client: LanguageClient | null = null;

/** Starts the language server, once VS Code has opened a file or a folder of knowledge. */
export async function activate(context: ExtensionContext): Promise<void> {
  const restart = async () => {
    await deactivate();
    await start(context);
  };
  context.subscriptions.push(
    commands.registerCommand('corollary.restart', restart),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('corollary.path')) void restart();
    }),
  );
  await start(context);
}

/** Ends the language server. */
export async function deactivate(): Promise<void> {
  const ending = client;
  client = null;
  await ending?.stop();
}

async function start(context: ExtensionContext): Promise<void> {
  const path = workspace.getConfiguration('corollary').get<string>('path', '').trim();
  const options: ServerOptions =
    path === ''
      ? { module: context.asAbsolutePath('server.mjs'), transport: TransportKind.stdio }
      : { command: path, args: ['lsp'], transport: TransportKind.stdio };
  const starting = new LanguageClient('corollary', 'Corollary', options, clientOptions);
  client = starting;
  try {
    await starting.start();
  } catch {
    // The client has shown why; the setting or the command starts another one.
    client = null;
  }
}
