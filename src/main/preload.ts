/**
 * Runs in the window before the workbench's page, and gives it the channels' table as `window.corollary`.
 *
 * Nothing else of Electron or Node reaches the page. Bundled as CommonJS, since a sandboxed preload can be
 * nothing else.
 */
import { contextBridge, ipcRenderer } from 'electron';
import { channelNames, type ShellApi, wireName } from './desktop/channels.ts';

const api = Object.fromEntries(
  channelNames.map((name) => [name, (argument?: unknown) => ipcRenderer.invoke(wireName(name), argument)]),
) as ShellApi;

contextBridge.exposeInMainWorld('corollary', api);
