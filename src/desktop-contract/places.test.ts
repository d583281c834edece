import { describe, expect, it } from 'vitest';
import {
  barePlace,
  databaseOfPlace,
  linkablePlace,
  linkedRoutes,
  linkOfPlace,
  placeOfLink,
  readPlace,
} from './places.ts';

describe('parsing a link', () => {
  it('accepts a known place with known parameters and normalizes it', () => {
    expect(placeOfLink('corollary://facts')).toBe('/facts');
    expect(placeOfLink('corollary:///facts/')).toBe('/facts');
    expect(placeOfLink('COROLLARY://ask?question=p(?x)&tenant=t')).toBe(
      '/ask?question=p%28%3Fx%29&tenant=t&unasked=true',
    );
    expect(placeOfLink('corollary://proof?question=a%20b&from=3')).toBe(
      '/proof?question=a+b&from=3&unasked=true',
    );
    expect(placeOfLink('corollary://')).toBe('/');
    expect(placeOfLink('corollary:admin/keys')).toBe('/admin/keys');
  });

  it.each([
    ['entity/ada', '/entity/ada'],
    ['entity/a%2Fb?part=rules', '/entity/a%2Fb?part=rules'],
    ['entity/100%25', '/entity/100%25'],
    ['entity/%C3%86r%C3%B8/', '/entity/%C3%86r%C3%B8'],
    ['entity?of=..', '/entity?of=..'],
    ['entity/constructor', '/entity/constructor'],
  ])('accepts the page of an entity: %s', (link, place) => {
    expect(placeOfLink(`corollary://${link}`)).toBe(place);
    expect(readPlace(place)).toBe(place);
    expect(linkOfPlace(place)).toBe(`corollary:/${place}`);
    expect(barePlace(place)).toBe(place.replace(/\?.*/, ''));
  });

  it('keeps the line breaks of a question', () => {
    expect(placeOfLink('corollary://ask?question=p(?x),%0Aq(?x)')).toBe(
      '/ask?question=p%28%3Fx%29%2C%0Aq%28%3Fx%29&unasked=true',
    );
  });

  it.each([
    'corollary://nowhere',
    'corollary://entity/a/b',
    'corollary://entity/%',
    'corollary://entity/%2E%2E',
    'corollary://entity/a%00',
    'corollary://entity/ada?merge=bob',
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

describe('a link', () => {
  it('fills in what a view would compute, and asks nothing', () => {
    for (const place of ['ask?question=p', 'proof?question=p', 'why-not?question=p', 'trace?question=p'])
      expect(placeOfLink(`corollary://${place}`)).toBe(`/${place}&unasked=true`);
    expect(placeOfLink('corollary://what-if?retract=p(a).')).toContain('unasked=true');
    expect(placeOfLink('corollary://context?goals=p')).toContain('unasked=true');
    expect(placeOfLink('corollary://context?part=rules')).toBe('/context?part=rules');
    expect(placeOfLink('corollary://facts?predicate=p')).toBe('/facts?predicate=p');
    expect(placeOfLink('corollary://ask?question=p&plan=true')).toBe(
      '/ask?question=p&plan=true&unasked=true',
    );
    expect(placeOfLink('corollary://ask?question=p&unasked=true')).toBe('/ask?question=p&unasked=true');
  });

  it('opens what it was made from, for every view, without what only a click may start', () => {
    for (const route of linkedRoutes)
      expect(placeOfLink(linkOfPlace(`${route}?database=d`) ?? '')).toBe(`${route}?database=d`);
    expect(linkOfPlace('/facts?predicate=p&transfer=import')).toBe('corollary://facts?predicate=p');
    expect(linkOfPlace('/ask?question=p&tab=7')).toBe('corollary://ask?question=p');
    expect(linkOfPlace('/nowhere')).toBeNull();
    expect(linkOfPlace(`/ask?question=${'x'.repeat(5000)}`)).toBeNull();
  });

  it('names its database, and the view that it can be reduced to', () => {
    expect(databaseOfPlace('/facts')).toBe('default');
    expect(databaseOfPlace('/facts?database=ships&q=x')).toBe('ships');
    expect(placeOfLink('corollary://facts?predicate=p&asKnown=412')).toBe('/facts?predicate=p&asKnown=412');
    expect(placeOfLink('corollary://history?part=compare&from=3')).toBe('/history?part=compare&from=3');
    expect(barePlace('/history?open=3&asKnown=412')).toBe('/history?asKnown=412');
    expect(barePlace('/ask?question=p&database=ships&scope=s')).toBe('/ask?database=ships&scope=s');
    expect(linkablePlace('/ask?tab=7&database=ships')).toBe('/ask?database=ships');
  });
});
