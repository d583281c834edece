import { describe, expect, it } from 'vitest';
import { parseRule } from '../../../engine/language/parse.ts';
import { renderRule } from '../../../engine/language/print.ts';
import { applyTextEdits } from '../../../editing/read-text.ts';
import { documentChangesOf, draftOfRules, rebased } from './document-changes.ts';
import { type BaseRule, documentOf, headOf, isAlike, readDocument } from './rule-document.ts';

type Beside = Partial<Pick<BaseRule, 'scope' | 'name' | 'description' | 'enabled' | 'etag'>>;

function ruleOf(id: string, text: string, beside: Beside = {}): BaseRule {
  const rule = parseRule(text);
  const plain = { scope: null, name: null, description: null, enabled: true, etag: `"${id}-1"` };
  return { id, rule, text: renderRule(rule), ...plain, ...beside };
}

const reach = ruleOf('r1', 'reach(?x, ?y) :- street(?x, ?y)');
const further = ruleOf('r2', 'reach(?x, ?z) :- reach(?x, ?y), street(?y, ?z)', {
  name: 'Onward',
  description: 'One street further.\n\n100% of them',
});
const apart = ruleOf('r3', 'apart(?x, ?y) :- place(?x), place(?y), not reach(?x, ?y)', {
  scope: 'draft',
  enabled: false,
});
const streets = [reach, apart, further];

const streetsText = `%% reach/2
reach(?x, ?y) :- street(?x, ?y).

%@ name: Onward
% One street further.
%
% 100% of them
reach(?x, ?z) :- reach(?x, ?y), street(?y, ?z).

%% apart/2
%@ scope: draft
%@ off
apart(?x, ?y) :- place(?x), place(?y), not reach(?x, ?y).
`;

function changesOf(text: string, base = streets) {
  const read = readDocument(text);
  return documentChangesOf(base, read.entries).map((change) =>
    change.kind === 'taught'
      ? `+ ${change.entry.text}`
      : change.kind === 'removed'
        ? `- ${change.base.id}`
        : `${change.base.id} ${change.entry.text}`,
  );
}

describe('the text of all rules', () => {
  it('groups rules by head, and has above each what the service keeps beside it', () => {
    expect(documentOf(streets)).toBe(streetsText);
  });

  it('reads back as the same rules', () => {
    const { entries, errors, dropped, isWhole } = readDocument(streetsText);
    expect({ errors, dropped, isWhole }).toEqual({ errors: [], dropped: [], isWhole: true });
    expect(entries.map(({ line }) => line)).toEqual([2, 8, 13]);
    for (const [index, rule] of [reach, further, apart].entries())
      expect(isAlike(entries[index] ?? reach, rule)).toBe(true);
    expect(changesOf(streetsText)).toEqual([]);
  });

  it.each([
    { name: '"quoted"' },
    { name: 'two\nlines' },
    { name: ' space ' },
    { description: ' indented\n  more\n' },
    { description: '@ off' },
    { description: '%% reach/2\nname: x' },
    { scope: 'a "b' },
  ])('reads back %j', (beside) => {
    const rule = ruleOf('r1', 'p(?x) :- q(?x, a %b, "c, d")', beside);
    const [entry, ...others] = readDocument(documentOf([rule])).entries;
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ scope: rule.scope, name: rule.name, description: rule.description });
  });

  it('reports comments that the service would not keep', () => {
    const text =
      '% alone\n\np(?x) :- q(?x), % within\n  r(?x, a %b). % behind\n% kept\ns(?x) :- q(?x).\n% last';
    const { dropped, entries } = readDocument(text);
    const reported = dropped.map(({ startLine, startColumn }) => `${startLine}:${startColumn}`);
    expect(reported.sort()).toEqual(['1:1', '3:17', '4:16', '7:1']);
    expect(entries.map(({ description }) => description)).toEqual([null, 'kept']);
  });

  it('refuses facts and the same rule twice, but not in two scopes', () => {
    const { errors } = readDocument('p(a).\nq(?x) :- p(?x).\nq(?y) :- p(?y).\n%@ scope: s\nq(?z) :- p(?z).');
    expect(errors.map(({ startLine, message }) => [startLine, message.slice(0, 21)])).toEqual([
      [1, 'This is a fact. The d'],
      [3, 'This is the rule of l'],
    ]);
  });
});

describe('the changes of a document', () => {
  it('finds a moved rule, an edited one, a new one and a removed one', () => {
    expect(changesOf(streetsText.split('%% apart/2')[0] ?? '')).toEqual(['- r3']);
    expect(changesOf(streetsText.replace('street(?y, ?z)', 'path(?y, ?z)'))).toEqual([
      'r2 reach(?x, ?z) :- reach(?x, ?y), path(?y, ?z)',
    ]);
    expect(changesOf(`near(?x) :- place(?x).\n${streetsText}`)).toEqual(['+ near(?x) :- place(?x)']);
    const [first = '', second = ''] = streetsText.split('%% apart/2');
    expect(changesOf(`%% apart/2${second}\n${first}`)).toEqual([]);
  });

  it('takes a rule with another head at the same place for the edited one', () => {
    expect(changesOf(streetsText.replace('apart(?x, ?y) :-', 'away(?x, ?y) :-'))).toEqual([
      'r3 away(?x, ?y) :- place(?x), place(?y), not reach(?x, ?y)',
    ]);
  });

  it('finds changes beside the rule', () => {
    expect(changesOf(streetsText.replace('%@ off\n', ''))).toHaveLength(1);
    expect(changesOf(streetsText.replace('Onward', 'Forward'))).toHaveLength(1);
    expect(changesOf(streetsText.replace('further.', 'on.'))).toHaveLength(1);
  });
});

describe('changes made elsewhere', () => {
  const others = {
    ...further,
    text: 'reach(?x, ?z) :- path(?x, ?z)',
    rule: parseRule('reach(?x, ?z) :- path(?x, ?z)'),
  };

  it('are taken into a text where it is not touched', () => {
    const mine = streetsText.replace('%@ off\n', '');
    const added = ruleOf('r9', 'reach(?x, ?x) :- place(?x)');
    const { draft, conflicts } = rebased({ text: mine, base: streets }, [apart, others, added]);
    expect(conflicts).toEqual([]);
    expect(draft.text).toContain('reach(?x, ?z) :- path(?x, ?z).\n\nreach(?x, ?x) :- place(?x).');
    expect(draft.text).not.toContain('reach(?x, ?y) :- street');
    expect(changesOf(draft.text, [...draft.base])).toEqual([`r3 ${apart.text}`]);
  });

  it('are a conflict where it is touched, until one is chosen', () => {
    const mine = { text: streetsText.replace('street(?y, ?z)', 'road(?y, ?z)'), base: streets };
    const stored = [reach, apart, others];
    const open = rebased(mine, stored);
    expect(open.conflicts.map(({ base, stored: now }) => [base.id, now?.text])).toEqual([
      ['r2', others.text],
    ]);
    expect(open.draft.text).toBe(mine.text);
    const kept = rebased(open.draft, stored, 'mine').draft;
    expect(changesOf(kept.text, [...kept.base])).toEqual(['r2 reach(?x, ?z) :- reach(?x, ?y), road(?y, ?z)']);
    const taken = rebased(open.draft, stored, 'theirs').draft;
    expect(changesOf(taken.text, [...taken.base])).toEqual([]);
    expect(taken.text).toContain(others.text);
  });

  it('a rule deleted elsewhere and edited here is taught again, or goes', () => {
    const mine = { text: streetsText.replace('street(?y, ?z)', 'road(?y, ?z)'), base: streets };
    const stored = [reach, apart];
    expect(rebased(mine, stored).conflicts).toHaveLength(1);
    const kept = rebased(mine, stored, 'mine').draft;
    expect(changesOf(kept.text, [...kept.base])).toEqual(['+ reach(?x, ?z) :- reach(?x, ?y), road(?y, ?z)']);
    const taken = rebased(mine, stored, 'theirs').draft;
    expect(changesOf(taken.text, [...taken.base])).toEqual([]);
    expect(taken.text).not.toContain('road');
  });

  it('leave a text that cannot be parsed alone', () => {
    const mine = { text: `${streetsText}broken(`, base: streets };
    expect(rebased(mine, [others])).toEqual({ draft: mine, conflicts: [] });
  });
});

/** A small generator with a seed (mulberry32). */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Returns another version of a rule; it stays the only one with its head. */
function otherwise(rule: BaseRule, number: number, random: (below: number) => number): BaseRule {
  const kind = random(4);
  if (kind === 0) return { ...rule, description: `note ${number}` };
  if (kind === 1) return { ...rule, enabled: !rule.enabled };
  if (kind === 2) return { ...rule, name: rule.name === null ? `name ${number}` : null };
  const head = headOf(rule).split('/')[0] ?? '';
  const changed = ruleOf(rule.id, `${head}(?x) :- base(?x), value(?x, ${number}, ?_)`);
  return { ...rule, rule: changed.rule, text: changed.text };
}

/** Changes some rules, and drops some or adds some: a new rule in the place of a dropped one is an edited one. */
function edited(base: readonly BaseRule[], who: string, random: (below: number) => number): BaseRule[] {
  const rules = base.flatMap((rule, index) => {
    const fate = random(5);
    if (fate === 0) return [];
    return [fate === 1 ? otherwise(rule, index * 10 + who.length, random) : rule];
  });
  for (let added = rules.length === base.length ? random(3) : 0; added > 0; added--)
    rules.push(ruleOf(`${who}${added}`, `${who}${added}(?x) :- base(?x)`));
  return rules;
}

/** The naive model: each rule by its id, three ways. */
function mergedByHand(base: readonly BaseRule[], mine: readonly BaseRule[], theirs: readonly BaseRule[]) {
  const byId = (rules: readonly BaseRule[]) => new Map(rules.map((rule) => [rule.id, rule]));
  const [was, here, there] = [byId(base), byId(mine), byId(theirs)];
  const result: BaseRule[] = [];
  const conflicts: string[] = [];
  const same = (left: BaseRule | undefined, right: BaseRule | undefined) =>
    left === undefined || right === undefined ? left === right : isAlike(left, right);
  for (const id of new Set([...was.keys(), ...here.keys(), ...there.keys()])) {
    const [before, left, right] = [was.get(id), here.get(id), there.get(id)];
    const isConflict = !same(before, left) && !same(before, right) && !same(left, right);
    if (isConflict) conflicts.push(id);
    const winner = same(before, left) ? right : left;
    if (winner !== undefined) result.push(winner);
  }
  return { result, conflicts };
}

const said = (rules: readonly Parameters<typeof isAlike>[0][]) =>
  rules
    .map(({ text, scope, name, description, enabled }) =>
      JSON.stringify([text, scope, name, description, enabled]),
    )
    .sort();

describe('random documents', () => {
  const rounds = process.env['LONG'] === '1' ? 20_000 : 300;

  it('merge as a three-way merge by hand does', () => {
    for (let seed = 1; seed <= rounds; seed++) {
      const random = seeded(seed);
      const base = Array.from({ length: 1 + random(6) }, (_, index) =>
        ruleOf(`b${index}`, `b${index}(?x) :- base(?x), value(?x, ?_, ?_)`),
      );
      const mine = edited(base, 'mine', random);
      const theirs = edited(base, 'others', random).map((rule) => ({ ...rule, etag: `${rule.etag}x` }));
      const expected = mergedByHand(base, mine, theirs);
      const draft = { text: documentOf(mine), base };
      const { draft: next, conflicts } = rebased(draft, theirs);
      const where = `seed ${seed}`;
      expect(conflicts.map((conflict) => conflict.base.id).sort(), where).toEqual(expected.conflicts.sort());
      expect(said(readDocument(next.text).entries), where).toEqual(said(expected.result));
      const settled = rebased(next, theirs, 'theirs');
      expect(settled.conflicts, where).toEqual([]);
      // What is stored, and my changes of what the others left alone.
      const conflicting = new Set(expected.conflicts);
      const added = mine.filter(({ id }) => id.startsWith('mine'));
      const settledByHand = [
        ...mergedByHand(base, mine, theirs).result.filter(
          ({ id }) => !conflicting.has(id) && !added.some((rule) => rule.id === id),
        ),
        ...theirs.filter(({ id }) => conflicting.has(id)),
        ...added,
      ];
      expect(said(readDocument(settled.draft.text).entries), where).toEqual(said(settledByHand));
    }
  });

  it('change a base into exactly what they say', () => {
    for (let seed = 1; seed <= rounds; seed++) {
      const random = seeded(seed);
      const base = Array.from({ length: 1 + random(8) }, (_, index) =>
        ruleOf(`b${index}`, `h${random(3)}(?x) :- base(?x), value(?x, ${index})`, {
          name: random(3) === 0 ? `n${index}` : null,
        }),
      );
      const { text } = draftOfRules(base);
      // Whole lines go, come and change places, as under a user's hands.
      const lines = text.split('\n');
      for (let edits = random(5); edits > 0; edits--) {
        const at = random(lines.length);
        if (random(2) === 0) lines.splice(at, 1);
        else lines.splice(at, 0, `h${random(3)}(?x) :- base(?x), extra(?x, ${seed + edits}).`);
      }
      const read = readDocument(lines.join('\n'));
      const now = new Map<string, Parameters<typeof isAlike>[0]>(base.map((rule) => [rule.id, rule]));
      for (const [index, change] of documentChangesOf(base, read.entries).entries()) {
        if (change.kind === 'removed') now.delete(change.base.id);
        else if (change.kind === 'changed') now.set(change.base.id, change.entry);
        else now.set(`new ${index}`, change.entry);
      }
      expect(said([...now.values()]), `seed ${seed}`).toEqual(said(read.entries));
    }
  });
});

it('applies no edit to a text that nothing changes', () => {
  const mine = { text: `\n\n${streetsText}\n\n\n% note`, base: streets };
  expect(rebased(mine, streets).draft.text).toBe(applyTextEdits(mine.text, []));
});
