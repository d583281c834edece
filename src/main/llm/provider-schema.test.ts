import { expect, it } from 'vitest';
import { z } from 'zod';
import { providerSchema } from './provider-call.ts';

it('requires every property of every object and allows no others', () => {
  const schema = z.object({
    name: z.string().min(1).max(10).regex(/x/).describe('A name'),
    kind: z.enum(['a', 'b']),
    one: z.literal('c'),
    maybe: z.string().nullable(),
    parts: z.array(z.object({ size: z.number().min(0).max(1), more: z.boolean().optional() })).max(3),
  });
  expect(providerSchema(schema)).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string', description: 'A name' },
      kind: { type: 'string', enum: ['a', 'b'] },
      one: { type: 'string', enum: ['c'] },
      maybe: { type: ['string', 'null'] },
      parts: {
        type: 'array',
        items: {
          type: 'object',
          properties: { size: { type: 'number' }, more: { type: 'boolean' } },
          required: ['size', 'more'],
          additionalProperties: false,
        },
      },
    },
    required: ['name', 'kind', 'one', 'maybe', 'parts'],
    additionalProperties: false,
  });
});

it('describes an object and is not recursive', () => {
  const list = z.object({
    get next() {
      return z.array(list);
    },
  });
  expect(() => providerSchema(list)).toThrow(/holds itself/);
  expect(() => providerSchema(z.array(z.string()))).toThrow(/asked for an object/);
});
