import { describe, expect, test } from 'vitest';
import { parseRule } from '../../../engine/language/parse.ts';
import { TracePositions } from './trace-positions.ts';
import type { EventRow } from './trace-rows.ts';

const rules = [
  { ruleId: 'r8', rule: 'path(?x, ?y) :- edge(?x, ?y)', fired: 0, derived: 0, elapsedMs: 0 },
  { ruleId: 'r9', rule: 'path(?x, ?z) :- path(?x, ?y), path(?y, ?z)', fired: 0, derived: 0, elapsedMs: 0 },
  {
    ruleId: 'r10',
    rule: 'far(?x, ?n) :- path(?x, ?z), not near(?x, ?z), ?n = count { ?q : path(?q, ?z) }',
    fired: 0,
    derived: 0,
    elapsedMs: 0,
  },
];

/** Parses an event such as `4 reuse 2 path(a, ?z) r9`. */
function event(line: string): EventRow {
  const [, seq, port, depth, atom, ruleId] = /^(\d+) (\w+) (\d+) (.*\)) ?(\w+)?$/.exec(line) ?? [];
  return {
    seq: Number(seq),
    port: port as EventRow['port'],
    depth: Number(depth),
    atom: atom ?? '',
    ruleId: ruleId ?? null,
    scope: null,
  };
}

const events = [
  '1 call 0 far(a, ?who)',
  '2 call 1 path(a, ?z) r10',
  '3 exit 1 path(a, b) r8',
  '4 reuse 2 path(a, ?z) r9',
  '5 call 2 path(b, ?z) r9',
  '6 exit 2 path(b, c) r8',
  '7 reuse 3 path(b, ?z) r9',
  '8 exit 1 path(a, c) r9',
  '9 call 1 near(a, b) r10',
  '10 fail 1 near(a, b)',
  '11 call 1 path(?_, c) r10',
  '12 exit 0 far(a, 1) r10',
].map(event);
const places = new TracePositions({ rules, events });
const placeOf = (seq: number) => places.placeOf(events[seq - 1] as EventRow);

describe('the position of an event in its rule', () => {
  test('is the premise that matches the bindings of the demand above it', () => {
    expect(placeOf(2)).toMatchObject({ asked: { ruleId: 'r10', at: [0] }, caller: { seq: 1 } });
    expect(placeOf(4)).toMatchObject({ asked: { ruleId: 'r9', at: [0] }, caller: { seq: 2 } });
    expect(placeOf(5)).toMatchObject({ asked: { ruleId: 'r9', at: [1] }, caller: { seq: 2 } });
    expect(placeOf(7)).toMatchObject({ asked: { ruleId: 'r9', at: [0] }, caller: { seq: 5 } });
  });

  test('is a negation or an aggregate if that made the demand', () => {
    expect(placeOf(9)).toMatchObject({ asked: { ruleId: 'r10', at: [1] }, caller: { seq: 1 } });
    expect(placeOf(11)).toMatchObject({ asked: { ruleId: 'r10', at: [2] }, caller: { seq: 1 } });
  });

  test('is the conclusion if something was found, beside the premise that asked for it', () => {
    expect(placeOf(3)).toMatchObject({
      concluded: { ruleId: 'r8', at: 'head' },
      asked: { ruleId: 'r10', at: [0] },
    });
    expect(placeOf(6)).toMatchObject({
      concluded: { ruleId: 'r8', at: 'head' },
      asked: { ruleId: 'r9', at: [1] },
    });
    expect(placeOf(10)).toMatchObject({ concluded: null, asked: { ruleId: 'r10', at: [1] } });
  });

  test('is in no rule for what the question itself asks', () => {
    expect(placeOf(1)).toEqual({ concluded: null, asked: null, caller: null });
    expect(placeOf(12)).toMatchObject({ concluded: { ruleId: 'r10' }, asked: null, caller: null });
  });

  test('names all premises that match equally well', () => {
    const rule = 'pair(?x, ?y) :- item(?x), item(?y)';
    const both = [event('1 call 0 pair(?a, ?b)'), event('2 call 1 item(?x) r1')];
    const found = new TracePositions({
      rules: [{ ruleId: 'r1', rule, fired: 0, derived: 0, elapsedMs: 0 }],
      events: both,
    }).placeOf(both[1] as EventRow);
    expect(found.asked).toEqual({ ruleId: 'r1', rule: parseRule(rule), at: [0, 1] });
  });
});
