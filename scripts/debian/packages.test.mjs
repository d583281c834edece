import { expect, test } from 'vitest';
import { factsOf, parsePackages } from './packages.mjs';

const list = `Package: git
Version: 1:2.39.5-0+deb12u2
Depends: libc6 (>= 2.34), perl:any, liberror-perl, git-man (<< 1:2.39.5-.)
Pre-Depends: dpkg (>= 1.17)
Recommends: ca-certificates
Description: fast, scalable, distributed revision control system
 Depends: this line is prose

Package: exim4-daemon-light
Provides: mail-transport-agent, exim4-localscanapi-6.0 (= 4.96)
Depends: adduser | systemd-sysusers [linux-any] <!nocheck>,
 adduser
`;

/** @param {Iterable<string>} pieces */
async function all(pieces) {
  const found = [];
  for await (const each of parsePackages(pieces)) found.push(each);
  return found;
}

const expected = [
  { name: 'git', needs: ['dpkg', 'libc6', 'perl', 'liberror-perl', 'git-man'], provides: [] },
  {
    name: 'exim4-daemon-light',
    needs: ['adduser', 'systemd-sysusers'],
    provides: ['mail-transport-agent', 'exim4-localscanapi-6.0'],
  },
];

test('lists every package with its dependencies and what it provides, each name once', async () => {
  expect(await all([list])).toEqual(expected);
});

test('accepts the text in pieces of any size', async () => {
  for (const size of [1, 7, 64]) {
    const pieces = Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
      list.slice(index * size, (index + 1) * size),
    );
    expect(await all(pieces)).toEqual(expected);
  }
});

test('turns a package into facts: itself, each dependency and alternative, each virtual package', () => {
  expect(factsOf({ name: 'a', needs: ['b', 'c'], provides: ['v'] })).toEqual([
    { predicate: 'package', args: ['a'] },
    { predicate: 'depends', args: ['a', 'b'] },
    { predicate: 'depends', args: ['a', 'c'] },
    { predicate: 'provides', args: ['a', 'v'] },
  ]);
});
