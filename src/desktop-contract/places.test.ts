import { describe, expect, it } from 'vitest';
import { placeOfLink, readPlace } from './places.ts';

describe('parsing a link', () => {
  it('accepts a known place with known parameters and normalizes it', () => {
    expect(placeOfLink('corollary://facts')).toBe('/facts');
    expect(placeOfLink('corollary:///facts/')).toBe('/facts');
    expect(placeOfLink('COROLLARY://ask?question=p(?x)&tenant=t')).toBe('/ask?question=p%28%3Fx%29&tenant=t');
    expect(placeOfLink('corollary://proof?question=a%20b&from=3')).toBe('/proof?question=a+b&from=3');
    expect(placeOfLink('corollary://')).toBe('/');
    expect(placeOfLink('corollary:admin/keys')).toBe('/admin/keys');
  });

  it('keeps the line breaks of a question', () => {
    expect(placeOfLink('corollary://ask?question=p(?x),%0Aq(?x)')).toBe(
      '/ask?question=p%28%3Fx%29%2C%0Aq%28%3Fx%29',
    );
  });

  it.each([
    'corollary://nowhere',
    'corollary://constructor',
    'corollary://__proto__',
    'corollary://admin/../keys',
    'corollary://facts#x',
    'corollary://admin/keys?make=true',
    'corollary://facts?transfer=import',
    'corollary://facts?transfer=export',
    'corollary://rules?rename=p/1&to=q',
    'corollary://scopes?fork=',
    'corollary://ask?question=p&question=q',
    'corollary://ask?unknown=1',
    'corollary://ask?question=%00',
    'corollary://ask?question=%1b[2J',
    'corollary://ask?question=a\nb',
    'corollary://example.com/facts',
    'corollary://user:pass@facts',
    'corollary://%66acts',
    'javascript:alert(1)',
    'https://example.com/',
    'corollar://facts',
    `corollary://ask?question=${'x'.repeat(5000)}`,
    '',
  ])('rejects anything else: %j', (link) => {
    expect(placeOfLink(link)).toBeNull();
  });
});

describe('a parsed place', () => {
  it('parses to itself again', () => {
    for (const place of [
      '/',
      '/facts?q=a%26b',
      '/ask?question=%22%3F%22',
      '/what-if?add=p%28a%29.%0Aq%28b%29.',
    ]) {
      const read = readPlace(place);
      expect(read).not.toBeNull();
      expect(readPlace(read ?? '')).toBe(read);
    }
  });
});
