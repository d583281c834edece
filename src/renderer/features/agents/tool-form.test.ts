import { describe, expect, test } from 'vitest';
import {
  argumentsOf,
  draftOf,
  emptyDraft,
  fieldsOf,
  readArgumentsText,
  readTryDraft,
  textsOf,
} from './tool-form.ts';

const term = { type: ['string', 'number', 'boolean'] };

/** Arguments as `tools/list` describes them, one field of each kind. */
const schema = {
  type: 'object',
  properties: {
    truthVal: { description: 'false: explicitly not so', default: true, type: 'boolean' },
    predicate: { type: 'string', description: 'The name of a relation' },
    args: { maxItems: 64, type: 'array', items: term },
    ttl: { type: 'integer', minimum: 1 },
    minSalience: { type: 'number', default: 0 },
    validFrom: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    dependents: { type: 'string', enum: ['known', 'all'], default: 'known' },
    text: { type: 'string' },
    note: { type: 'string', maxLength: 100_000 },
    metadata: { type: 'object', additionalProperties: {} },
    body: { type: 'array', items: { $ref: '#/$defs/literal' } },
    predicates: { type: 'array', items: { type: 'string' } },
  },
  required: ['predicate', 'args'],
};
const fields = fieldsOf(schema);

describe('the form of a tool', () => {
  test('has a field for each argument, required ones first', () => {
    expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'predicate text',
      'args texts',
      'truthVal boolean',
      'ttl number',
      'minSalience number',
      'validFrom number-or-text',
      'dependents choice',
      'text long-text',
      'note long-text',
      'metadata json',
      'body json',
      'predicates texts',
    ]);
    expect(fields[2]).toMatchObject({ fallback: 'true', description: 'false: explicitly not so' });
    expect(fields[6]?.choices).toEqual(['known', 'all']);
  });

  test('sends only required lists if it is empty', () => {
    expect(argumentsOf(fields, {})).toEqual({ given: { args: [] }, problems: {} });
    expect(fieldsOf({ type: 'object', properties: {} })).toEqual([]);
  });

  test('converts typed texts to typed arguments', () => {
    const texts = {
      predicate: 'parent',
      args: 'ada\n?who\n',
      truthVal: 'false',
      ttl: '60000',
      minSalience: '0.5',
      validFrom: '2026-01-01',
      dependents: 'all',
      metadata: '{"note": "x"}',
    };
    expect(argumentsOf(fields, texts)).toEqual({
      given: {
        predicate: 'parent',
        args: ['ada', '?who'],
        truthVal: false,
        ttl: 60_000,
        minSalience: 0.5,
        validFrom: '2026-01-01',
        dependents: 'all',
        metadata: { note: 'x' },
      },
      problems: {},
    });
    expect(argumentsOf(fields, { validFrom: '-5' }).given).toMatchObject({ validFrom: -5 });
  });

  test('reports an unreadable value at its field and does not send it', () => {
    const { given, problems } = argumentsOf(fields, { ttl: 'soon', metadata: '{', predicate: 'p' });
    expect(Object.keys(problems)).toEqual(['ttl', 'metadata']);
    expect(given).toEqual({ predicate: 'p', args: [] });
  });

  test('shows arguments only if it can show them unchanged', () => {
    const given = { predicate: 'p', args: ['a', '?x'], ttl: 5, metadata: { a: [1] } };
    const texts = textsOf(fields, given);
    expect(texts).not.toBeNull();
    expect(argumentsOf(fields, texts ?? {}).given).toEqual(given);
    expect(textsOf(fields, { predicate: 'p', args: ['a'], colour: 'red' })).toBeNull();
    expect(textsOf(fields, { predicate: 'p', args: ['a\nb'] })).toBeNull();
    expect(textsOf(fields, { predicate: 'p', args: [''] })).toBeNull();
    expect(textsOf(fields, { predicate: 'p', args: [3] })).toBeNull();
    expect(textsOf(fields, { predicate: 'p' })).toBeNull();
    expect(textsOf(fields, { predicate: '', args: [] })).toBeNull();
  });

  test('fills its fields from a call, or else the JSON editor', () => {
    expect(draftOf(fields, { predicate: 'p', args: ['a'] })).toMatchObject({
      form: 'fields',
      texts: { predicate: 'p', args: 'a' },
    });
    const odd = draftOf(fields, { wrong: { deep: null } });
    expect(odd.form).toBe('json');
    expect(JSON.parse(odd.json)).toEqual({ wrong: { deep: null } });
  });
});

describe('arguments as JSON', () => {
  test('must be an object', () => {
    expect(readArgumentsText(' ')).toEqual({ given: {} });
    expect(readArgumentsText('{"a": 1}')).toEqual({ given: { a: 1 } });
    expect(readArgumentsText('[1]')).toHaveProperty('problem', 'Arguments must be a JSON object.');
    expect(readArgumentsText('{a}')).toHaveProperty('problem');
  });

  test('reads a stored draft back and rejects anything else', () => {
    const draft = { form: 'json', texts: { predicate: 'p' }, json: '{' } as const;
    expect(readTryDraft(JSON.stringify(draft))).toEqual(draft);
    expect(readTryDraft(JSON.stringify(emptyDraft))).toEqual(emptyDraft);
    for (const text of ['', '{', '3', '{"form": "other", "texts": {}, "json": ""}', '{"form": "json"}'])
      expect(readTryDraft(text)).toBeNull();
  });
});
