import { describe, expect, it } from 'vitest';
import {
  isOwnAddress,
  isOwnRequest,
  isTrustedSender,
  routeOfArguments,
  workbenchAddress,
} from './addresses.ts';

const service = 'http://127.0.0.1:9300';

describe('addresses the window may load', () => {
  it('are those of the service’s origin', () => {
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
  ])('are no others, however alike they look: %j', (url) => {
    expect(isOwnAddress(url, service)).toBe(false);
  });
});

describe('requests of the page', () => {
  it.each([`${service}/facts?x=1`, 'ws://127.0.0.1:9300/', `blob:${service}/1`, 'data:image/png;base64,'])(
    'go to the service, its sockets and its own data: %j',
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
  ])('go nowhere else: %j', (url) => {
    expect(isOwnRequest(url, service)).toBe(false);
  });
});

describe('senders of messages', () => {
  it('are trusted when they are the main frame of the service’s page', () => {
    expect(isTrustedSender({ url: `${service}/`, isMainFrame: true }, service)).toBe(true);
  });

  it('are refused from inner frames, other origins and frames that are gone', () => {
    expect(isTrustedSender({ url: `${service}/`, isMainFrame: false }, service)).toBe(false);
    expect(isTrustedSender({ url: 'https://example.com/', isMainFrame: true }, service)).toBe(false);
    expect(isTrustedSender(null, service)).toBe(false);
  });
});

describe('routes', () => {
  it('are taken from --open= and corollary: links, the last one counting', () => {
    expect(routeOfArguments(['electron', '.', '--open=/facts'])).toBe('/facts');
    expect(routeOfArguments(['--open=/facts', 'corollary://ask?q=p(%3Fx)'])).toBe('/ask?q=p(%3Fx)');
    expect(routeOfArguments(['electron', '.', '--flag', 'file.txt'])).toBeNull();
  });

  it('lead nowhere but into the workbench', () => {
    expect(routeOfArguments(['--open=https://example.com/'])).toBeNull();
    expect(routeOfArguments([`--open=/${'x'.repeat(3000)}`])).toBeNull();
    expect(routeOfArguments(['--open=/a\nb'])).toBeNull();
    const address = workbenchAddress(service, '//example.com/');
    expect(isOwnAddress(address, service)).toBe(true);
    expect(address).toBe('http://127.0.0.1:9300/#//example.com/');
  });

  it('are left out of the address when there is none', () => {
    expect(workbenchAddress(service, null)).toBe('http://127.0.0.1:9300/');
  });
});
