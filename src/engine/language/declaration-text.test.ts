import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { declarationInputSchema } from '../contract/declarations.ts';
import { isDeclarationLine, parseDeclaration, renderDeclaration } from './declaration-text.ts';

function parsed(text: string) {
  const { name, arity, ...rest } = parseDeclaration(text);
  const input = declarationInputSchema.parse(rest);
  return { name: String(name), arity: Number(arity), ...input };
}

describe('a declaration as text', () => {
  it('is read as the contract writes it', () => {
    const text =
      ':declare lives_in(person: entity, city: entity) key person on conflict supersede "where somebody lives"';
    expect(isDeclarationLine(text)).toBe(true);
    expect(parsed(text)).toEqual({
      name: 'lives_in',
      arity: 2,
      description: 'where somebody lives',
      arguments: [
        { name: 'person', description: null, type: 'entity' },
        { name: 'city', description: null, type: 'entity' },
      ],
      key: ['person'],
      onConflict: 'supersede',
      check: 'warn',
    });
    expect(renderDeclaration(parsed(text))).toBe(text);
  });

  it('comes back from its text, whatever it declares', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
    const type = fc.oneof(
      fc.constantFrom('any', 'text', 'integer', 'number', 'boolean', 'date', 'instant', 'entity'),
      fc.record({
        oneOf: fc.array(
          text.filter((each) => !each.startsWith('?')),
          { minLength: 1, maxLength: 4 },
        ),
      }),
    );
    const arbitrary = fc.record({
      count: fc.nat({ max: 4 }),
      hasNames: fc.boolean(),
      types: fc.array(type, { minLength: 4, maxLength: 4 }),
      description: fc.option(text),
      keyed: fc.boolean(),
      onConflict: fc.constantFrom('warn', 'supersede', 'reject'),
      check: fc.constantFrom('warn', 'reject'),
    });
    fc.assert(
      fc.property(arbitrary, ({ count, hasNames, types, description, keyed, onConflict, check }) => {
        const named = hasNames
          ? types.slice(0, count).map((each, at) => ({ name: `a${at}`, type: each, description }))
          : [];
        const key = keyed ? named.slice(0, 1).map(({ name }) => name) : [];
        const input = declarationInputSchema.safeParse({
          description,
          arguments: named,
          key,
          onConflict,
          check,
        });
        fc.pre(input.success);
        if (!input.success) return;
        const declaration = { name: 'p', arity: count, ...input.data };
        expect(parsed(renderDeclaration(declaration))).toEqual(declaration);
      }),
    );
  });

  it.each([
    [':declare p', 'arguments in parentheses'],
    [':declare p(a', ') is expected'],
    [':declare p(a) key a key a', 'key is given twice'],
    [':declare p(a: {x, ) check', 'a constant is expected'],
    [':declare p(a) unique a', 'unique is none of'],
    [':declare p(a) "open', 'no closing quotation mark'],
    [':declare p(a) "\\x"', 'JSON string'],
  ])('%s is refused', (text, message) => {
    expect(() => parseDeclaration(text)).toThrow(message);
  });
});
