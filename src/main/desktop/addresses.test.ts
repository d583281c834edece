import { describe, expect, it } from 'vitest';
import {
  isForBrowser,
  isOwnAddress,
  isOwnRequest,
  isTrustedSender,
  placeOfArguments,
  workbenchAddress,
} from './addresses.ts';

const service = 'http://127.0.0.1:9300';

describe('the addresses that the window may load', () => {
  it('include those of the service’s origin', () => {
    expect(isOwnAddress('http://127.0.0.1:9300/#/ask', service)).toBe(true);
  });

  it.each([
    'http://127.0.0.1:9301/',
    'https://127.0.0.1:9300/',
    'http://127.0.0.1:9300.example.com/',
    'http://127.0.0.1:9300@example.com/',
    'http://localhost:9300/',
    'file:///etc/passwd',
    'data:text/html,x',
    'javascript:alert(1)',
    'about:blank',
    'not an address',
    '',
  ])('exclude all others, however similar: %j', (url) => {
    expect(isOwnAddress(url, service)).toBe(false);
  });
});

describe('requests of the page', () => {
  it.each([`${service}/facts?x=1`, 'ws://127.0.0.1:9300/', `blob:${service}/1`, 'data:image/png;base64,'])(
    'may go to the service, its sockets and its own data: %j',
    (url) => {
      expect(isOwnRequest(url, service)).toBe(true);
    },
  );

  it.each([
    'https://example.com/',
    'http://127.0.0.1:80/',
    'file:///etc/passwd',
    'ftp://127.0.0.1:9300/',
    'nonsense',
  ])('may go nowhere else: %j', (url) => {
    expect(isOwnRequest(url, service)).toBe(false);
  });
});

describe('senders of messages', () => {
  it('are trusted if they are the main frame of the service’s page', () => {
    expect(isTrustedSender({ url: `${service}/`, isMainFrame: true }, service)).toBe(true);
  });

  it('are rejected if they are inner frames, other origins or destroyed frames', () => {
    expect(isTrustedSender({ url: `${service}/`, isMainFrame: false }, service)).toBe(false);
    expect(isTrustedSender({ url: 'https://example.com/', isMainFrame: true }, service)).toBe(false);
    expect(isTrustedSender(null, service)).toBe(false);
  });
});

describe('windows that a page opens', () => {
  it.each([
    `${service}/docs`,
    'http://localhost:9301/',
    'https://127.0.0.1:9443/',
    'http://[::1]:9302/#/facts',
  ])('open in the browser if they belong to a service on this machine: %j', (url) => {
    expect(isForBrowser(url, service)).toBe(true);
  });

  it.each([
    'https://example.com/',
    'http://127.0.0.1.example.com/',
    'http://127.0.0.1@example.com/',
    'http://me:secret@127.0.0.1:9301/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'corollary://facts',
    'ms-settings:',
    '',
  ])('are blocked otherwise: %j', (url) => {
    expect(isForBrowser(url, service)).toBe(false);
  });
});

describe('places', () => {
  it('come from --open= and corollary: links, and the last one wins', () => {
    expect(placeOfArguments(['electron', '.', '--open=/facts'])).toBe('/facts');
    expect(placeOfArguments(['--open=/facts', 'corollary://ask?question=p(%3Fx)'])).toBe(
      '/ask?question=p%28%3Fx%29&unasked=true',
    );
    expect(placeOfArguments(['electron', '.', '--flag', 'file.txt'])).toBeNull();
  });

  it('lead only into the workbench', () => {
    expect(placeOfArguments(['--open=https://example.com/'])).toBeNull();
    expect(placeOfArguments(['--open=/nowhere'])).toBeNull();
    expect(placeOfArguments(['--open=/facts', 'corollary://admin/keys?make=true'])).toBeNull();
    const address = workbenchAddress(service, '//example.com/');
    expect(isOwnAddress(address, service)).toBe(true);
    expect(address).toBe('http://127.0.0.1:9300/#//example.com/');
  });

  it('are left out of the address if there is none', () => {
    expect(workbenchAddress(service, null)).toBe('http://127.0.0.1:9300/');
  });
});
