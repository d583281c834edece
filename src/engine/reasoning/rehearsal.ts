import { assert } from '../base/assert.ts';
import type { AskInput } from '../contract/inference.ts';
import { bodyOf } from '../read/ask.ts';
import { parseRule } from '../language/parse.ts';
import { relationsRead } from '../datalog/model/program.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import type { CopiedVersion, ThreadReply } from './messages.ts';
import { ReasoningThread, type ReasoningThreadParts } from './reasoning-thread.ts';

/** The family and how often it is asked about: what made the first question of a thread faster than it took itself. */
const people = 24;
const rounds = 8;

const rules = [
  'ancestor(?x, ?y) :- parent(?x, ?y)',
  'ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z)',
  'sibling(?x, ?y) :- parent(?z, ?x), parent(?z, ?y), ?x != ?y',
  'leaf(?y) :- parent(?_, ?y), not parent(?y, ?_)',
  'children(?x, ?n) :- parent(?x, ?_), ?n = count { ?y : parent(?x, ?y) }',
  'depth(?y, 1) :- parent(1, ?y)',
  'depth(?y, ?m) :- depth(?x, ?n), parent(?x, ?y), ?m = ?n + 1',
];

const questions = [
  'ancestor(?x, ?y)',
  'ancestor(?x, 23)',
  'ancestor(1, ?y), sibling(?y, ?z)',
  'leaf(?x), children(?y, ?n), ?n > 1',
  'depth(?x, ?n)',
];

/**
 * Warms up this thread: V8 runs code slowly until it has been called often, and the first question that moves here is heavy.
 * Asks questions of each kind about a copy of made-up facts, one a turn, and leaves nothing behind but compiled code.
 */
export async function rehearse(
  parts: Omit<ReasoningThreadParts, 'post'>,
  turn: () => Promise<void>,
): Promise<void> {
  let replied = (_: ThreadReply): void => {};
  const thread = new ReasoningThread({
    ...parts,
    post: (message) => {
      if (message.kind !== 'started') replied(message);
    },
  });
  for (let copy = 1; copy <= rounds; copy++) {
    tellFamily(thread, copy);
    for (const [id, text] of questions.entries()) {
      await turn();
      const input: AskInput = { ...asked, text, withProof: id % 2 === 0 };
      const reply = await new Promise<ThreadReply>((resolve) => {
        replied = resolve;
        const task = { kind: 'answer', input, names: null } as const;
        const goals = relationsRead(bodyOf(input));
        const { timeoutMs, maxDerivations } = input;
        const at = { generation: 1, time: 0, askedAt: Date.now(), lightMs: 0 };
        thread.take({ kind: 'ask', id, copy, task, goals, timeoutMs, maxDerivations, ...at });
      });
      assert(reply.kind === 'answer', `warming up: ${text} was not answered`);
    }
    thread.take({ kind: 'drop', copy });
  }
}

/** Opens a copy in which person 1 has the children 2 and 3, person 2 has 4 and 5, and so on. */
function tellFamily(thread: ReasoningThread, copy: number): void {
  const texts = Array.from({ length: people }, (_, at) => String(at + 1));
  const bytes = new TextEncoder().encode(texts.join(''));
  const ids = Int32Array.from(texts.keys());
  let end = 0;
  const ends = Int32Array.from(texts, ({ length }) => (end += length));
  const parent = { predicate: 'parent', arity: 2, negated: false, metadata: null };
  const always = { validFrom: Number.NEGATIVE_INFINITY, validUntil: Number.POSITIVE_INFINITY };
  const versions = Array.from({ length: people - 1 }, (_, number): CopiedVersion => {
    return { ...parent, ...always, number, identity: [Math.floor(number / 2), number + 1, 0] };
  });
  const records = rules.map((text): RuleRecord => {
    const given = { text, identity: text, scope: null, name: null, description: null, enabled: true };
    return { ...given, id: text, rule: parseRule(text), createdAt: 0, changedIn: 1 };
  });
  thread.take({ kind: 'open', copy, database: 'default', tenant: 'rehearsal' });
  thread.take({ kind: 'constants', copy, bytes, ends, ids });
  thread.take({ kind: 'writes', copy, generations: Float64Array.of(1), firsts: Int32Array.of(0) });
  thread.take({ kind: 'changes', copy, generation: 1, versions });
  thread.take({ kind: 'rules', copy, rules: records });
  thread.take({ kind: 'order', copy, ids: records.map(({ id }) => id) });
}

const asked = {
  predicate: null,
  args: null,
  body: null,
  negated: false,
  scope: null,
  unscoped: false,
  allProofs: false,
  limit: 100,
  offset: 0,
  timeoutMs: 60_000,
  maxDerivations: 1_000_000,
};
