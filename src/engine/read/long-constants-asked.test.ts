import { expect, test } from 'vitest';
import { Dictionary } from '../store/dictionary.ts';
import { Constants } from '../datalog/model/constants.ts';
import { workAtOnce } from '../datalog/join/machine.ts';
import { factInput, openSession } from '../testing/engine-fixtures.ts';

/** Questions about long constants pause as often as their bytes ask for, not only as their rows do. */

const longBytes = 65_000;
const facts = 40;

/** An engine with facts of one long argument each, which differ only at the end, and the pauses so far. */
async function longFacts() {
  const pauses = { count: 0 };
  const session = await openSession({
    pause: () => {
      pauses.count++;
      return Promise.resolve();
    },
  });
  const texts = Array.from({ length: facts }, (_, at) => `${'x'.repeat(longBytes)}${at}`);
  await session.engine.tellAll(
    session.caller,
    texts.map((text) => ({ ...factInput('long(a)'), args: [text] })),
  );
  return { ...session, pauses };
}

test('different texts are compared for equality without being read', () => {
  const dictionary = new Dictionary();
  const constants = new Constants(dictionary);
  const [one, other] = [
    dictionary.intern('a'.repeat(9_000_000)),
    dictionary.intern(`${'a'.repeat(9_000_000)}b`),
  ];
  expect(constants.compare('!=', one, other)).toBe(true);
  expect(constants.compare('=', one, other)).toBe(false);
  expect(constants.work).toBe(0);
  expect(constants.compare('<', one, other)).toBe(true);
  expect(constants.compare('>=', one, other)).toBe(false);
  expect(constants.work).toBe(18_000_000);
});

test('numbers are compared by value, and texts by code point, whatever their ids', () => {
  const dictionary = new Dictionary();
  const constants = new Constants(dictionary);
  const id = (text: string): number =>
    text.startsWith('own') ? constants.idOf(text) : dictionary.intern(text);
  const cases: [string, string, string, boolean][] = [
    ['1', '=', '1.0', true],
    ['10', '<', '9', false],
    ['10', '<', '9x', true],
    ['-5', '<', '-x', true],
    ['', '<', 'a', true],
    ['own b', '>', 'own a', true],
    ['own a', '<', 'z', true],
    ['z', '<=', 'own a', false],
    ['\u{1f600}', '>', '\uffff', true],
  ];
  for (const [left, operator, right, expected] of cases)
    expect(constants.compare(operator, id(left), id(right)), `${left} ${operator} ${right}`).toBe(expected);
});

test('a join over long constants runs in parts of about a megabyte', async () => {
  const { teach, ask, pauses } = await longFacts();
  await teach('less(?x, ?y) :- long(?x), long(?y), ?x < ?y');
  let parts = 0;
  const { compare } = Constants.prototype;
  Constants.prototype.compare = function (this: Constants, ...given: Parameters<typeof compare>) {
    if (this.work === 0) parts++;
    expect(this.work).toBeLessThan(workAtOnce + longBytes * 8);
    return compare.apply(this, given);
  };
  try {
    const { count } = await ask('less(?x, ?y)', { limit: 1, timeoutMs: 600_000 });
    expect(count).toBe(1);
  } finally {
    Constants.prototype.compare = compare;
  }
  expect(parts).toBeGreaterThan((facts * facts * longBytes) / workAtOnce / 2);
  expect(pauses.count).toBeGreaterThan(0);
});
