import { beforeEach, expect, test } from 'vitest';
import type { WithdrawnConclusions } from '../base/service-messages.ts';
import { type WatchedSpace, type WithdrawnNotice, WithdrawnNotices } from './withdrawn-notices.ts';

/** A timer that the test runs: `ms` of the one that waits, or null. */
let timer: { ms: number; run: () => void } | null;
let shown: WithdrawnNotice[];
let removed: number;
let see: () => void;
let isWanted: boolean;
let watched: WatchedSpace | null;
let notices: WithdrawnNotices;

beforeEach(() => {
  timer = null;
  shown = [];
  removed = 0;
  isWanted = true;
  watched = null;
  notices = new WithdrawnNotices({
    isWanted: () => isWanted,
    isWatched: ({ database }) => watched?.database === database,
    show: (notice, onSeen) => {
      shown.push(notice);
      see = onSeen;
      return () => {
        removed += 1;
      };
    },
    after: (ms, run) => {
      timer = { ms, run };
      return () => {
        timer = null;
      };
    },
  });
});

function withdrawn(atom: string | null, count = 1, database = 'default', tenant = 'default') {
  return { database, tenant, count, atom } satisfies WithdrawnConclusions;
}

/** Lets the time pass until the timer that waits. */
function passTime(): number | undefined {
  const waiting = timer;
  timer = null;
  waiting?.run();
  return waiting?.ms;
}

test('names a conclusion that is no longer true, and opens what is missing for it', () => {
  notices.note([withdrawn('ancestor(ada, carl)')]);
  expect(shown).toEqual([
    {
      title: 'A conclusion is no longer true',
      body: 'ancestor(ada, carl), in database default',
      place: '/why-not?question=ancestor%28ada%2C+carl%29&database=default&tenant=default',
    },
  ]);
});

test('counts several conclusions, and opens what agents did', () => {
  notices.note([withdrawn('p(a)', 7, 'ships', 'acme')]);
  expect(shown).toEqual([
    {
      title: '7 conclusions are no longer true',
      body: 'p(a) and 6 others, in database ships, tenant acme',
      place: '/agents?database=ships&tenant=acme',
    },
  ]);
});

test('names no conclusion that the service does not name, and none that no link can carry', () => {
  notices.note([withdrawn(null)]);
  expect(shown[0]).toMatchObject({
    body: 'In database default',
    place: '/agents?database=default&tenant=default',
  });
  see();
  notices.note([withdrawn(`p(${'a'.repeat(5_000)})`)]);
  expect(shown[1]?.body.length).toBeLessThan(200);
  expect(shown[1]?.place).toBe('/agents?database=default&tenant=default');
});

test('one notification counts what is withdrawn meanwhile, at growing distances until it is seen', () => {
  notices.note([withdrawn('p(a)')]);
  const pauses = [];
  for (let more = 0; more < 8; more++) {
    notices.note([withdrawn('p(b)'), withdrawn('q(c)', 2, 'ships')]);
    expect(shown).toHaveLength(more + 1);
    pauses.push(passTime());
    expect(removed).toBe(more + 1);
  }
  expect(pauses).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600].map((seconds) => seconds * 1_000));
  expect(shown.at(-1)).toMatchObject({
    title: '25 conclusions are no longer true',
    body: '9 in database default, 16 in database ships',
    place: '/agents?database=ships&tenant=default',
  });
  see();
  expect(timer).toBeNull();
  notices.note([withdrawn('r(d)')]);
  expect(shown.at(-1)?.body).toBe('r(d), in database default');
  expect(timer).toMatchObject({ ms: 60_000 });
});

test('shows nothing again while nothing more is withdrawn', () => {
  notices.note([withdrawn('p(a)')]);
  passTime();
  expect(shown).toHaveLength(1);
  notices.note([withdrawn('p(b)')]);
  expect(shown).toHaveLength(2);
});

test('is silent about a space that a window in use shows, and removes what the user has come to see', () => {
  watched = { database: 'default', tenant: 'default' };
  notices.note([withdrawn('p(a)')]);
  expect(shown).toEqual([]);
  watched = null;
  notices.note([withdrawn('p(b)'), withdrawn('q(c)', 1, 'ships')]);
  notices.seen({ database: 'elsewhere', tenant: 'default' });
  notices.seen({ database: 'default', tenant: 'default' });
  expect(removed).toBe(0);
  notices.seen({ database: 'ships', tenant: 'default' });
  expect(removed).toBe(1);
  expect(timer).toBeNull();
});

test('shows nothing if the user does not want it, also when that changes meanwhile', () => {
  isWanted = false;
  notices.note([withdrawn('p(a)')]);
  expect(shown).toEqual([]);
  isWanted = true;
  notices.note([withdrawn('p(b)')]);
  notices.note([withdrawn('p(c)')]);
  isWanted = false;
  passTime();
  expect(shown).toHaveLength(1);
  expect(removed).toBe(1);
});
