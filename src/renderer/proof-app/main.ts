/**
 * The MCP App that shows the proof of an answer: the program of the page beside a call of `ask` in a chat.
 *
 * It receives the call's arguments and result from the host by the official protocol and draws them. It loads and
 * stores nothing; requests to the service (more answers) go through the host, which may refuse.
 */
import '../ui/no-eval.ts';
import './proof-app.css';
import { App, type McpUiHostContext } from '@modelcontextprotocol/ext-apps';
import { version } from '../../../package.json';
import { applyLook } from './host-look.ts';
import { ProofAppView } from './proof-view.ts';
import { proofAddressOf, argumentsAfter, questionOf, readResult, type ToolInput } from './shown-result.ts';

function start(root: HTMLElement): void {
  const app = new App(
    { name: 'corollary-proof', version },
    { availableDisplayModes: ['inline', 'fullscreen'] },
  );
  const view = new ProofAppView(root);
  let input: ToolInput | null = null;

  async function askForMore(shown: number): Promise<void> {
    try {
      view.more(
        readResult(await app.callServerTool({ name: 'ask', arguments: argumentsAfter(input ?? {}, shown) })),
      );
    } catch (error) {
      view.more({ kind: 'refusal', text: wordsOf(error) });
    }
  }

  async function enlarge(): Promise<void> {
    try {
      await app.requestDisplayMode({ mode: 'fullscreen' });
    } catch (error) {
      view.told(`The chat did not enlarge it: ${wordsOf(error)}`);
    }
  }

  async function open(proofs: URL, answer: string): Promise<void> {
    const url = proofAddressOf(proofs, input, answer);
    try {
      const { isError } = await app.openLink({ url });
      if (isError === true) view.told(`The chat did not open ${url}`);
    } catch (error) {
      view.told(`The chat did not open ${url}: ${wordsOf(error)}`);
    }
  }

  function offer(): void {
    const { displayMode, availableDisplayModes = [] } = app.getHostContext() ?? {};
    const canAsk = app.getHostCapabilities()?.serverTools !== undefined && input !== null;
    const canOpen = app.getHostCapabilities()?.openLinks !== undefined;
    const canEnlarge = availableDisplayModes.includes('fullscreen') && displayMode !== 'fullscreen';
    view.offer({
      more: canAsk ? (shown) => void askForMore(shown) : null,
      enlarge: canEnlarge ? () => void enlarge() : null,
      open: canOpen ? (proofs, answer) => void open(proofs, answer) : null,
    });
  }

  function look(context: McpUiHostContext): void {
    applyLook(context);
    offer();
  }

  app.ontoolinput = ({ arguments: given = {} }) => {
    input = given;
    view.asked(questionOf(given));
    offer();
  };
  app.ontoolresult = (result) => view.shown(readResult(result));
  app.ontoolcancelled = ({ reason }) =>
    view.ended(
      reason === undefined ? 'The question was cancelled.' : `The question was cancelled: ${reason}`,
    );
  app.onhostcontextchanged = () => look(app.getHostContext() ?? {});
  app.onteardown = () => ({});
  app.connect().then(
    () => look(app.getHostContext() ?? {}),
    (error: unknown) => view.ended(`This page shows proofs inside of a chat. ${wordsOf(error)}`),
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const root = document.getElementById('proof');
if (root !== null) start(root);
