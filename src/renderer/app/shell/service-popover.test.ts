import { expect, test } from 'vitest';
import '../../api/testing/browser.ts';
import { addressProblem, readOrigins, serviceOriginOf, withOrigin } from './service-popover.tsx';

test('accepts an address of an origin, with or without its protocol and path', () => {
  expect(serviceOriginOf('http://127.0.0.1:9302/#/facts')).toBe('http://127.0.0.1:9302');
  expect(serviceOriginOf(' localhost:9302 ')).toBe('http://localhost:9302');
  expect(serviceOriginOf('https://kb.example.org/')).toBe('https://kb.example.org');
});

test('rejects an address that is not http or https, or has a password', () => {
  for (const address of ['', 'two words', 'javascript://alert(1)', 'file:///etc', 'http://me:secret@host'])
    expect(addressProblem(address), address).not.toBeNull();
});

test('moves an address opened again to the top and lists it once', () => {
  expect(withOrigin(['http://a', 'http://b'], 'http://b')).toEqual(['http://b', 'http://a']);
});

test('drops stored values that are not origins', () => {
  expect(readOrigins(['http://a', 'http://a/path', 7, 'javascript:x'])).toEqual(['http://a']);
  expect(readOrigins('http://a')).toBeNull();
});
