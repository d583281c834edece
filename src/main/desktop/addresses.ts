/**
 * Which addresses the window may load and whose messages count: those of the service, and nobody else's.
 *
 * Compared as origins (scheme, host, port), never as prefixes of text: `http://127.0.0.1:9300.example` is not ours.
 */

/** Whether `url` is of the service's own origin. Text that is no address is not. */
export function isOwnAddress(url: string, serviceAddress: string): boolean {
  return URL.canParse(url) && new URL(url).origin === new URL(serviceAddress).origin;
}

/** Whether a request of the window's page may go out: to the service, or to data the page made itself. */
export function isOwnRequest(url: string, serviceAddress: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  if (protocol === 'data:' || protocol === 'blob:' || protocol === 'devtools:') return true;
  const isWebProtocol = ['http:', 'https:', 'ws:', 'wss:'].includes(protocol);
  return isWebProtocol && host === new URL(serviceAddress).host;
}

/** Who sent a message: Electron's frame, as far as it matters here. */
export interface Sender {
  readonly url: string;
  readonly isMainFrame: boolean;
}

/** Whether a message may be obeyed: only from the window's own page, not from a frame inside it. */
export function isTrustedSender(sender: Sender | null, serviceAddress: string): boolean {
  return sender !== null && sender.isMainFrame && isOwnAddress(sender.url, serviceAddress);
}

/** The address to load: the workbench, at `route` where one is given. */
export function workbenchAddress(serviceAddress: string, route: string | null): string {
  const url = new URL('/', serviceAddress);
  if (route !== null) url.hash = route;
  return url.href;
}

/**
 * The place in the workbench that the arguments of a start name: `--open=/ask?q=…` or `corollary://ask?q=…`; the
 * last one counts. null where they name none. A route is a path of the workbench and can lead nowhere else.
 */
export function routeOfArguments(argv: readonly string[]): string | null {
  let route: string | null = null;
  for (const argument of argv) {
    const given = argument.startsWith(openOption)
      ? argument.slice(openOption.length)
      : argument.startsWith(linkScheme)
        ? `/${argument.slice(linkScheme.length).replace(/^\/+/, '')}`
        : null;
    if (given !== null && isRoute(given)) route = given;
  }
  return route;
}

const openOption = '--open=';
const linkScheme = 'corollary://';

function isRoute(text: string): boolean {
  return text.startsWith('/') && text.length <= 2048 && !/\p{Cc}/u.test(text);
}
