/**
 * A chat that shows apps, as a page in the browser: only the host's side of the official protocol.
 *
 * The app runs in a sandboxed frame of another origin. The test supplies what the chat would get from its server,
 * through `window.chat`; requests of the app go to functions that the test exposes.
 */
import {
  AppBridge,
  type McpUiHostContext,
  PostMessageTransport,
} from '@modelcontextprotocol/ext-apps/app-bridge';
import type { CallToolRequest, CallToolResult } from '@modelcontextprotocol/client';

export interface ChatManner {
  /** The host allows server calls and links. */
  readonly isOpen: boolean;
  /** Sandbox attribute of the frame. */
  readonly sandbox: string;
}

/** The chat's interface for the test. */
export interface Chat {
  /** Opens the app and resolves after the handshake. */
  open(address: string, context: McpUiHostContext, manner: ChatManner): Promise<void>;
  input(given: Record<string, unknown>): Promise<void>;
  result(result: CallToolResult): Promise<void>;
  cancel(reason: string): Promise<void>;
  look(context: McpUiHostContext): void;
  teardown(): Promise<unknown>;
}

declare global {
  interface Window {
    chat: Chat;
    onCall(params: CallToolRequest['params']): Promise<CallToolResult>;
    onLink(url: string): Promise<boolean>;
    onSize(width: number, height: number): Promise<void>;
  }
}

let bridge: AppBridge | null = null;

function opened(): AppBridge {
  if (bridge === null) throw new Error('the app is not open');
  return bridge;
}

async function open(address: string, context: McpUiHostContext, manner: ChatManner): Promise<void> {
  const frame = document.createElement('iframe');
  frame.title = 'App';
  frame.setAttribute('sandbox', manner.sandbox);
  frame.style.cssText = 'width: 100%; height: 120px; border: 0';
  document.querySelector('main')?.append(frame);
  const view = frame.contentWindow;
  if (view === null) throw new Error('the frame has no window');
  const capabilities = manner.isOpen ? { serverTools: {}, openLinks: {} } : {};
  const made = new AppBridge(null, { name: 'chat', version: '1.0.0' }, capabilities, {
    hostContext: context,
  });
  bridge = made;
  made.oncalltool = (params) => window.onCall(params);
  made.onopenlink = async ({ url }) => ({ isError: !(await window.onLink(url)) });
  made.onsizechange = ({ width = 0, height = 0 }) => {
    if (!('height' in (context.containerDimensions ?? {}))) frame.style.height = `${height}px`;
    void window.onSize(width, height);
  };
  made.onrequestdisplaymode = ({ mode }) => {
    frame.style.height = '700px';
    made.setHostContext({ ...context, displayMode: mode });
    return Promise.resolve({ mode });
  };
  const isReady = new Promise<void>((resolve) => {
    made.oninitialized = () => resolve();
  });
  await made.connect(new PostMessageTransport(view, view));
  frame.src = address;
  await isReady;
}

window.chat = {
  open,
  input: (given) => opened().sendToolInput({ arguments: given }),
  result: (result) => opened().sendToolResult(result),
  cancel: (reason) => opened().sendToolCancelled({ reason }),
  look: (context) => opened().setHostContext(context),
  teardown: () => opened().teardownResource({}),
};
