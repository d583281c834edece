import { expect, test } from 'vitest';
import { EngineError } from '../base/errors.ts';
import { Prng } from '../testing/prng.ts';
import { type RuleRecord, RuleStore } from '../store/rule-store.ts';
import { renderRule } from '../language/print.ts';
import { negativeCycles } from '../language/stratify.ts';
import { checkFits } from './prepare-rules.ts';
import { randomRule, randomVocabulary, richFlavour } from '../testing/generators.ts';

function refuses(act: () => void): boolean {
  try {
    act();
    return false;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'RuleException') return true;
    throw error;
  }
}

test('refuses a rule exactly if it closes a forbidden cycle among all rules', () => {
  const flavour = { ...richFlavour, relations: 8 };
  let refused = 0;
  for (let seed = 1; seed <= 150; seed++) {
    const prng = new Prng(seed);
    const vocabulary = randomVocabulary(prng, flavour);
    const store = new RuleStore();
    for (let at = 0; at < 25; at++) {
      const rule = randomRule(prng, vocabulary, flavour);
      const about = { scope: prng.pick([null, null, 's', 't']), enabled: prng.chance(0.8) };
      const text = renderRule(rule);
      const kept: RuleRecord = {
        id: `r${at}`,
        rule,
        text,
        identity: `${at}`,
        name: null,
        description: null,
        createdAt: 0,
        changedIn: 0,
        ...about,
      };
      const [cycle] = negativeCycles([...store.all(), kept]);
      const isRefused = refuses(() => checkFits(store, rule, about.scope, null));
      expect(
        isRefused,
        `seed ${seed}: ${text} beside ${store
          .all()
          .map((each) => each.text)
          .join('; ')}`,
      ).toBe(cycle !== undefined);
      if (isRefused) refused++;
      else store.put(kept);
      // Sometimes a rule is removed or moved.
      const others = store.all();
      if (prng.chance(0.2) && others.length > 0) store.remove(prng.pick(others));
    }
  }
  expect(refused).toBeGreaterThan(100);
});

test('lets a rule replace one that it conflicts with', () => {
  const store = new RuleStore();
  const atom = (predicate: string, naf = false) => ({ predicate, args: ['?x'], negated: false, naf });
  const about = { scope: null, name: null, description: null, enabled: true, createdAt: 0, changedIn: 0 };
  const rule = { head: atom('p'), body: [atom('base'), atom('q', true)] };
  store.put({ id: 'r1', rule, text: renderRule(rule), identity: '1', ...about });
  const other = { head: atom('q'), body: [atom('p')] };
  expect(refuses(() => checkFits(store, other, null, null))).toBe(true);
  expect(refuses(() => checkFits(store, other, null, 'r1'))).toBe(false);
});
