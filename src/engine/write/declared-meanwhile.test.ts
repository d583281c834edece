import { afterEach, expect, test, vi } from 'vitest';
import { Slices } from '../base/slices.ts';
import { declarationInputSchema } from '../contract/declarations.ts';
import { factInput, openSession, refusal, type Session } from '../testing/engine-fixtures.ts';
import { type FactBlock, FactBlockBuilder } from '../store/fact-block.ts';

/** Facts that are told while their predicate is declared: the declaration that was written first counts. */

afterEach(() => vi.restoreAllMocks());

function declare({ engine, caller }: Session, fields: object): Promise<unknown> {
  return engine.declare(caller, { ...declarationInputSchema.parse(fields), name: 'lives_in', arity: 2 });
}

const named = [{ name: 'person' }, { name: 'city', type: { oneOf: ['oslo', 'bergen'] } }];

test.each([
  [
    'a key',
    { arguments: named, key: ['person'], onConflict: 'reject' },
    'lives_in(ida, bergen)',
    'KeyConflict',
  ],
  ['a type', { arguments: named, check: 'reject' }, 'lives_in(ola, mars)', 'ShapeViolation'],
])('%s that is declared while a fact waits refuses it', async (_what, declaration, fact, code) => {
  const session = await openSession();
  await session.tell('lives_in(ida, oslo)');
  const [declared, one, many] = await Promise.allSettled([
    declare(session, declaration),
    session.tell(fact),
    session.tellAll([fact]),
  ]);
  expect(declared.status).toBe('fulfilled');
  for (const told of [one, many]) expect(told).toMatchObject({ status: 'rejected', reason: { code } });
  expect(await session.results('lives_in(?x, ?y)')).toEqual(['lives_in(ida, oslo)']);
});

/** The facts of these atoms as lines of an import, or in columns. */
function batchOf(atoms: readonly string[], isBlock: boolean): FactBlock | ReturnType<typeof factInput>[] {
  const facts = atoms.map((atom) => factInput(atom));
  if (!isBlock) return facts;
  const builder = new FactBlockBuilder();
  for (const { predicate, args, truthVal, scope } of facts)
    builder.addPlain(predicate, args, truthVal, scope);
  return builder.built();
}

test.each([
  ['lines', false],
  ['columns', true],
])(
  'a type that is declared while %s of an import wait refuses only what is not of it',
  async (_how, isBlock) => {
    const session = await openSession();
    const importing = session.engine.import(session.caller, false);
    const atoms = ['lives_in(ida, oslo)', 'lives_in(ola, mars)', 'lives_in(eva, bergen)'];
    const [, batch] = await Promise.all([
      declare(session, { arguments: named, check: 'reject' }),
      importing.assert(batchOf(atoms, isBlock)),
    ]);
    expect(batch).toMatchObject({ asserted: 2, refused: [{ index: 1 }], stopped: null });
    expect(await session.results('lives_in(?x, ?y)')).toEqual([
      'lives_in(eva, bergen)',
      'lives_in(ida, oslo)',
    ]);
  },
);

test('facts in columns are refused by type and key, as a list is', async () => {
  for (const isBlock of [false, true]) {
    const session = await openSession();
    await declare(session, { arguments: named, key: ['person'], onConflict: 'reject', check: 'reject' });
    await session.tell('lives_in(ida, oslo)');
    const typed = batchOf(['sees(ida, ola)', 'lives_in(ola, mars)'], isBlock) as FactBlock;
    const refused = await refusal(session.engine.tellAll(session.caller, typed));
    expect(refused).toMatchObject({ code: 'ShapeViolation', members: { path: 'facts.1.args.1' } });
    const keyed = batchOf(['sees(ida, ola)', 'lives_in(ida, bergen)'], isBlock) as FactBlock;
    const conflicting = await refusal(session.engine.tellAll(session.caller, keyed));
    expect(conflicting.code).toBe('KeyConflict');
    expect(await session.results('sees(?x, ?y)')).toEqual([]);
    const importing = session.engine.import(session.caller, false);
    const lines = ['lives_in(ola, mars)', 'sees(ida, ola)', 'lives_in(eva, oslo)', 'lives_in(ida, bergen)'];
    const batch = await importing.assert(batchOf(lines, isBlock));
    expect(batch).toMatchObject({ asserted: 2, refused: [{ index: 0 }, { index: 3 }] });
  }
});

test('a declaration that is withdrawn while columns are looked at refuses nothing', async () => {
  const session = await openSession();
  await declare(session, { arguments: named, check: 'reject' });
  const atoms = Array.from({ length: 600 }, (_, at) => `lives_in(p${at}, mars)`);
  // So the columns are looked at in several slices, however fast the machine is.
  vi.spyOn(Slices.prototype, 'isOver', 'get').mockReturnValue(true);
  const importing = session.engine.import(session.caller, false);
  const [batch, told] = await Promise.all([
    importing.assert(batchOf(atoms.slice(0, 300), true)),
    session.engine.tellAll(session.caller, batchOf(atoms.slice(300), true) as FactBlock),
    session.engine.withdraw(session.caller, { name: 'lives_in', arity: 2 }),
  ]);
  expect(batch).toMatchObject({ asserted: 300, refused: [] });
  expect(told).toMatchObject({ asserted: 300 });
});
