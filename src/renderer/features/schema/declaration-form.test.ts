import { expect, test } from 'vitest';
import type { ShownDeclaration } from '../../api/declared.ts';
import {
  type DeclarationFields,
  declarationOf,
  declaredFields,
  filledFields,
  isSameDeclaration,
  readFields,
} from './declaration-form.ts';

const declared: ShownDeclaration = {
  name: 'wears',
  arity: 2,
  description: 'what somebody wears',
  arguments: [
    { name: 'person', description: null, type: 'entity' },
    { name: 'colour', description: 'of the coat', type: { oneOf: ['red', 'dark, green'] } },
  ],
  key: ['person'],
  onConflict: 'supersede',
  check: 'reject',
};

test('a declaration survives the form', () => {
  const { declaration, problems } = declarationOf(declaredFields(declared, 2));
  expect(problems).toEqual({});
  expect(isSameDeclaration(declared, declaration)).toBe(true);
  expect(isSameDeclaration(declared, null)).toBe(false);
});

test('the key follows a renamed argument', () => {
  const fields = declaredFields(declared, 2);
  const renamed = {
    ...fields,
    arguments: fields.arguments.map((each) => ({ ...each, name: `${each.name}_x` })),
  };
  expect(declarationOf(renamed).declaration?.key).toEqual(['person_x']);
});

test('an untouched form declares no names, and one with a type needs them', () => {
  const empty = declaredFields(null, 2);
  expect(declarationOf(empty).declaration?.arguments).toEqual([]);
  const typed: DeclarationFields = {
    ...empty,
    arguments: empty.arguments.map((each) => ({ ...each, type: 'date' })),
  };
  expect(Object.keys(declarationOf(typed).problems)).toEqual(['arguments.0.name', 'arguments.1.name']);
});

test('problems stand at their fields: names that are alike, no choices', () => {
  const fields = declaredFields(declared, 2);
  const alike = { ...fields, arguments: fields.arguments.map((each) => ({ ...each, name: 'same' })) };
  expect(declarationOf(alike).problems).toHaveProperty(['arguments.1.name']);
  const [first, second] = fields.arguments;
  if (first === undefined || second === undefined) throw new Error('two arguments');
  const { problems } = declarationOf({ ...fields, arguments: [first, { ...second, choices: '' }] });
  expect(Object.keys(problems)).toEqual(['arguments.1.type']);
});

test('filling keeps names that are given and replaces types', () => {
  const filled = filledFields(
    {
      ...declaredFields(null, 2),
      arguments: [
        { name: 'who', type: 'any', choices: '', description: '' },
        { name: '', type: 'any', choices: '', description: '' },
      ],
    },
    [
      { type: 'entity', distinct: 2, examples: [] },
      { type: { oneOf: ['a', 'b'] }, distinct: 2, examples: [] },
    ],
    ['person', 'size'],
  );
  expect(filled.arguments).toMatchObject([
    { name: 'who', type: 'entity' },
    { name: 'size', type: 'oneOf', choices: 'a\nb' },
  ]);
});

test('a stored draft is read back, and anything else is none', () => {
  const fields = declaredFields(declared, 2);
  expect(readFields(JSON.stringify({ base: 'b', fields }), 2)).toEqual({ base: 'b', fields });
  for (const kept of [
    '',
    'no JSON',
    '7',
    '{"base":"b"}',
    JSON.stringify({ base: 'b', fields: { ...fields, key: ['x'] } }),
  ])
    expect(readFields(kept, 2), kept).toBeNull();
  expect(readFields(JSON.stringify({ base: 'b', fields }), 3)).toBeNull();
});
