/**
 * Which addresses the window may load, and from which pages messages are accepted: only those of the service.
 *
 * Addresses are compared as origins (scheme, host, port), never as prefixes of text: `http://127.0.0.1:9300.example` is
 * not ours.
 */
import { isLink, placeOfLink, readPlace } from '../../desktop-contract/places.ts';

/** Whether `url` has the service's own origin. False for an invalid address. */
export function isOwnAddress(url: string, serviceAddress: string): boolean {
  return URL.canParse(url) && new URL(url).origin === new URL(serviceAddress).origin;
}

/** Whether the window's page may send a request: only to the service, or to data that the page made itself. */
export function isOwnRequest(url: string, serviceAddress: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  if (protocol === 'data:' || protocol === 'blob:' || protocol === 'devtools:') return true;
  const isWebProtocol = ['http:', 'https:', 'ws:', 'wss:'].includes(protocol);
  return isWebProtocol && host === new URL(serviceAddress).host;
}

/**
 * Whether an address that a page opens in a new window goes to the system's browser: the service's documentation, and
 * the workbench of another service on this machine. Everything else stays closed.
 */
export function isForBrowser(url: string, serviceAddress: string): boolean {
  if (isOwnAddress(url, serviceAddress)) return true;
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  const isWeb = protocol === 'http:' || protocol === 'https:';
  return isWeb && username === '' && password === '' && loopbackHosts.has(hostname);
}

const loopbackHosts: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The sender of a message: the relevant part of Electron's frame. */
export interface Sender {
  readonly url: string;
  readonly isMainFrame: boolean;
}

/** Whether to accept a message: only from the window's own page, not from a frame inside it. */
export function isTrustedSender(sender: Sender | null, serviceAddress: string): boolean {
  return sender !== null && sender.isMainFrame && isOwnAddress(sender.url, serviceAddress);
}

/** The address to load: the workbench, at `place` if given. */
export function workbenchAddress(serviceAddress: string, place: string | null): string {
  const url = new URL('/', serviceAddress);
  if (place !== null) url.hash = place;
  return url.href;
}

/**
 * The place in the workbench that the arguments of a start name: `--open=/ask?question=…` or
 * `corollary://ask?question=…`; the last one counts. null if they name none, or none that a link may open.
 */
export function placeOfArguments(argv: readonly string[]): string | null {
  const given = argv.filter((argument) => argument.startsWith(openOption) || isLink(argument)).at(-1);
  if (given === undefined) return null;
  return isLink(given) ? placeOfLink(given) : readPlace(given.slice(openOption.length));
}

const openOption = '--open=';
