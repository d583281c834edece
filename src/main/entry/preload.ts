/**
 * Runs in the window before the workbench's page, and gives it the channels' table as `window.corollary`.
 *
 * Nothing else of Electron or Node reaches the page: not an event of IPC, not its sender. Bundled as CommonJS, since a
 * sandboxed preload can be nothing else.
 */
import { contextBridge, ipcRenderer } from 'electron';
import { channelNames, type ShellApi, waitingChannel, wireName } from '../../desktop-contract/channels.ts';

const asked = Object.fromEntries(
  channelNames.map((name) => [name, (argument?: unknown) => ipcRenderer.invoke(wireName(name), argument)]),
);

function onWaiting(listener: () => void): () => void {
  const heard = () => listener();
  ipcRenderer.on(waitingChannel, heard);
  return () => void ipcRenderer.off(waitingChannel, heard);
}

// Its keys are the names of the channels, which the compiler does not see of an object that is made of entries.
const api = { ...asked, onWaiting } as ShellApi;

contextBridge.exposeInMainWorld('corollary', api);
