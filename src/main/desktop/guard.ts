/**
 * Restricts pages inside the shell: they cannot leave the service's origin, open windows, use devices, or load anything
 * from elsewhere.
 *
 * `addresses.ts` decides; this module ties the decisions to Electron's events. `serviceAddress` is read at each event,
 * since the service may restart at another address; before there is one, nothing is allowed.
 */
import { type App, ipcMain, type Session, shell as system, type WebContents } from 'electron';
import { isForBrowser, isOwnAddress, isOwnRequest, isTrustedSender, type Sender } from './addresses.ts';
import { tellTrouble } from './questions.ts';
import {
  answerChannel,
  type ChannelHandlers,
  channelNames,
  wireName,
} from '../../desktop-contract/channels.ts';

type CurrentAddress = () => string | null;

/**
 * Permissions that a page has without a question: writing text to the clipboard, which the browser allows only on a
 * user's own action. Everything else is denied.
 */
const allowedPermissions: ReadonlySet<string> = new Set(['clipboard-sanitized-write']);

/** Denies permissions and devices, and every request to anything but the service. */
export function guardSession(session: Session, serviceAddress: CurrentAddress): void {
  const isOwn = (url: string) => {
    const address = serviceAddress();
    return address !== null && isOwnAddress(url, address);
  };
  session.setPermissionRequestHandler((contents, permission, answer) =>
    answer(allowedPermissions.has(permission) && isOwn(contents.getURL())),
  );
  session.setPermissionCheckHandler(
    (_contents, permission, origin) => allowedPermissions.has(permission) && isOwn(origin),
  );
  session.setDevicePermissionHandler(() => false);
  session.webRequest.onBeforeRequest((details, answer) => {
    const address = serviceAddress();
    answer({ cancel: address === null || !isOwnRequest(details.url, address) });
  });
}

/**
 * Denies navigation away from the service, new windows and webviews, for every current and future page. Addresses of
 * this machine's services open in the system's browser.
 */
export function guardContents(app: App, serviceAddress: CurrentAddress): void {
  app.on('web-contents-created', (_event, contents) => {
    contents.setWindowOpenHandler(({ url }) => {
      const address = serviceAddress();
      if (address !== null && isForBrowser(url, address))
        system.openExternal(url).catch((error: unknown) => tellTrouble('The browser was not opened', error));
      return { action: 'deny' };
    });
    contents.on('will-attach-webview', (event) => event.preventDefault());
    keepInside(contents, serviceAddress);
  });
}

function keepInside(contents: WebContents, serviceAddress: CurrentAddress): void {
  const stay = (event: { preventDefault(): void; url: string }) => {
    const address = serviceAddress();
    if (address === null || !isOwnAddress(event.url, address)) event.preventDefault();
  };
  contents.on('will-navigate', stay);
  contents.on('will-frame-navigate', stay);
  contents.on('will-redirect', stay);
}

/**
 * Connects the channels' table to Electron's IPC, which checks first the sender, then the message. `handlersOf` returns
 * the handlers for the page that asks. `serviceAddress` is read at each call.
 */
export function registerChannels(
  handlersOf: (page: WebContents) => ChannelHandlers,
  serviceAddress: () => string | null,
): void {
  for (const name of channelNames)
    ipcMain.handle(wireName(name), async (event, ...given: unknown[]) => {
      const address = serviceAddress();
      const frame = event.senderFrame;
      const sender: Sender | null =
        frame === null ? null : { url: frame.url, isMainFrame: frame.parent === null };
      if (address === null || !isTrustedSender(sender, address))
        throw new Error(`${name}: this page may not ask`);
      if (given.length > 1) throw new TypeError(`${name} takes at most one argument`);
      return answerChannel(handlersOf(event.sender), name, given[0]);
    });
}
