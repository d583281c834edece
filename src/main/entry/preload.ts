/**
 * Runs in the window before the workbench's page, and gives it the channels' table as `window.corollary`.
 *
 * The page gets nothing else of Electron or Node: no IPC event and no sender. Bundled as CommonJS, as sandboxed
 * preloads require.
 */
import { contextBridge, ipcRenderer, webUtils } from 'electron';
import { channelNames, type ShellApi, waitingChannel, wireName } from '../../desktop-contract/channels.ts';

const asked = Object.fromEntries(
  channelNames.map((name) => [
    name,
    (argument?: unknown) => ipcRenderer.invoke(wireName(name), argument).catch(withoutPrefix),
  ]),
);

/** Electron puts `Error invoking remote method '…': Error: ` before what was meant for the user. */
function withoutPrefix(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  throw new Error(message.replace(/^Error invoking remote method '[^']*': (?:\w*Error: )?/, ''));
}

function onWaiting(listener: () => void): () => void {
  const heard = () => listener();
  ipcRenderer.on(waitingChannel, heard);
  return () => void ipcRenderer.off(waitingChannel, heard);
}

function noteFile(file: File): Promise<void> {
  return ipcRenderer.invoke(wireName('noteFile'), webUtils.getPathForFile(file)).catch(withoutPrefix);
}

// Its keys are the names of the channels, which the compiler cannot see in an object made of entries.
const api = { ...asked, noteFile, onWaiting } as ShellApi;

contextBridge.exposeInMainWorld('corollary', api);
