import { expect, test } from 'vitest';
import '../../api/testing/browser.ts';
import { addressProblem, readOrigins, serviceOriginOf, withOrigin } from './connection-status.tsx';

test('an address names an origin, with or without its protocol and path', () => {
  expect(serviceOriginOf('http://127.0.0.1:9302/#/facts')).toBe('http://127.0.0.1:9302');
  expect(serviceOriginOf(' localhost:9302 ')).toBe('http://localhost:9302');
  expect(serviceOriginOf('https://kb.example.org/')).toBe('https://kb.example.org');
});

test('what is no address of the web, or carries a password, is refused', () => {
  for (const address of ['', 'two words', 'javascript://alert(1)', 'file:///etc', 'http://me:secret@host'])
    expect(addressProblem(address), address).not.toBeNull();
});

test('an address that is opened again comes first and is listed once', () => {
  expect(withOrigin(['http://a', 'http://b'], 'http://b')).toEqual(['http://b', 'http://a']);
});

test('what is stored and is no origin is dropped', () => {
  expect(readOrigins(['http://a', 'http://a/path', 7, 'javascript:x'])).toEqual(['http://a']);
  expect(readOrigins('http://a')).toBeNull();
});
