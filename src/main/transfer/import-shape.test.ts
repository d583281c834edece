import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import type { PredicateDetail } from '../../engine/contract/declarations.ts';
import type { StoredRule } from '../../engine/contract/rules.ts';
import type { ImportDone } from '../../engine/contract/transfer.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** What imports know of declarations and constraints: contract section 14. */

let service: ServiceUnderTest;
let database = '';
let count = 0;

beforeAll(async () => {
  service = await startServiceUnderTest();
});
afterAll(() => service.close());

beforeEach(async () => {
  database = `import-shape-${++count}`;
  await service.call('POST', '/databases', { name: database });
});

function call<Body>(method: string, path: string, body?: unknown) {
  return service.call<Body>(method, path, body, { headers: { 'x-database': database } });
}

async function upload(path: string, type: string, body: string): Promise<ImportDone & { detail?: string }> {
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { 'x-tenant-id': 'default', 'x-database': database, 'content-type': type },
    body,
  });
  return JSON.parse((await response.text()).trim().split('\n').at(-1) ?? '') as ImportDone;
}

const ask = async (text: string) => (await call<Answer>('POST', '/ask', { text })).body.results;
const detail = async (path: string) => (await call<PredicateDetail>('GET', `/predicates/${path}`)).body;

describe('a dry run', () => {
  const young = { text: '!- adult(?x), age(?x, ?a), ?a < 18', name: 'adults', mode: 'reject' };
  const lines = '{"predicate":"age","args":["ann","7"]}\n{"predicate":"adult","args":["ann"]}\n';

  it('judges reject constraints as the import does', async () => {
    await call('POST', '/constraints', young);
    for (const dryRun of [true, false]) {
      const done = await upload(`/import?dryRun=${dryRun}`, 'application/x-ndjson', lines);
      expect(done).toMatchObject({ asserted: 2, refused: 'ConstraintViolated', violationCount: 1 });
      expect(done.violations).toMatchObject([{ name: 'adults', bindings: { x: 'ann', a: '7' } }]);
      expect(await ask('age(?x, ?y)')).toEqual([]);
    }
    const harmless = lines.replace('"7"', '"70"');
    expect((await upload('/import?dryRun=true', 'application/x-ndjson', harmless)).refused).toBeUndefined();
  });

  it('refuses the line of a rule or constraint that the lines before it violate, as the import does', async () => {
    await call('POST', '/constraints', young);
    const rule = '{"rule":"adult(?x) :- vote(?x)"}';
    const constraint = '{"constraint":"!- age(?x, 8), vote(?x)","name":"n","mode":"reject"}';
    const line = (predicate: string, ...args: string[]) => JSON.stringify({ predicate, args });
    const facts = [line('age', 'ann', '7'), line('age', 'bob', '8'), line('vote', 'bob')];
    const file = [
      ...facts,
      line('age', 'cy', '30'),
      line('vote', 'cy'),
      rule,
      constraint,
      line('vote', 'dan'),
    ];
    const said = [];
    for (const dryRun of [true, false]) {
      const done = await upload(`/import?dryRun=${dryRun}`, 'application/x-ndjson', file.join('\n'));
      expect(done).toMatchObject({ asserted: 6, failed: 2, errors: [{ line: 6 }, { line: 7 }] });
      expect(done.refused).toBeUndefined();
      said.push(done.errors.map(({ message }) => message.replace(/\(c\d+[^)]*\)/, '')));
    }
    expect(said[0]).toEqual(said[1]);
  });

  it('counts what a key supersedes as gone when it compares with a quota', async () => {
    const declared = { arguments: [{ name: 'p' }, { name: 'c' }], key: ['p'], onConflict: 'supersede' };
    await call('PUT', '/predicates/home/2', declared);
    await call('POST', '/assert/fact', { predicate: 'home', args: ['ann', 'rome'] });
    await service.call('PUT', `/admin/databases/${database}/quota`, { facts: 2 });
    const file = ['oslo', 'bonn', 'kyiv'].map((city) => `{"predicate":"home","args":["ann","${city}"]}`);
    for (const dryRun of [true, false])
      expect(await upload(`/import?dryRun=${dryRun}`, 'application/x-ndjson', file.join('\n'))).toMatchObject(
        {
          asserted: 3,
          failed: 0,
        },
      );
  });

  it('judges the constraints and rules of the file, too', async () => {
    const constraint = '{"constraint":"!- grown(?x), age(?x, 7)","name":"n","mode":"reject"}';
    const rule = '{"rule":"grown(?x) :- adult(?x)"}';
    const file = `${rule}\n${constraint}\n${lines}`;
    for (const dryRun of [true, false])
      expect(await upload(`/import?dryRun=${dryRun}`, 'application/x-ndjson', file)).toMatchObject({
        rules: 1,
        constraints: 1,
        refused: 'ConstraintViolated',
      });
  });
});

it('a dry run judges aliases by the facts and aliases of the lines before, as the import does', async () => {
  const file = [
    { predicate: 'p', args: ['nell', 'rome'] },
    { alias: 'nelly', entity: 'nell' },
    { alias: 'nelly', entity: 'rome' },
    { alias: 'nell', entity: 'rome' },
    { alias: 'rome', entity: 'oslo' },
    { alias: 'nelly', entity: 'nell' },
  ].map((line) => JSON.stringify(line));
  for (const dryRun of [true, false]) {
    const done = await upload(`/import?dryRun=${dryRun}`, 'application/x-ndjson', file.join('\n'));
    expect(done).toMatchObject({ asserted: 1, aliases: 2, failed: 3 });
    expect(done.errors.map(({ line }) => line)).toEqual([3, 4, 5]);
  }
});

it('a declaration applies to the lines after it', async () => {
  const declare = { name: 'p', arity: 2, arguments: [{ name: 'k' }, { name: 'v', type: 'integer' }] };
  const file = [
    { predicate: 'p', args: ['a', 'x'] },
    { declare: { ...declare, key: ['k'], onConflict: 'reject', check: 'reject' } },
    { predicate: 'p', args: ['b', '1'] },
    { predicate: 'p', args: ['b', '2'] },
    { predicate: 'p', args: ['c', 'x'] },
  ].map((line) => JSON.stringify(line));
  for (const dryRun of [true, false]) {
    const done = await upload(`/import?dryRun=${dryRun}`, 'application/x-ndjson', file.join('\n'));
    expect(done).toMatchObject({ asserted: 2, failed: 2, errors: [{ line: 4 }, { line: 5 }] });
  }
});

describe('a CSV header', () => {
  const file = 'Person,home city\nann,rome\nbob,"new york"\nonly\n';

  it('declares the predicate from the columns', async () => {
    for (const dryRun of [true, false]) {
      const done = await upload(`/import?predicate=lives_in&declare=true&dryRun=${dryRun}`, 'text/csv', file);
      expect(done).toMatchObject({ asserted: 2, declarations: 1, failed: 1, errors: [{ line: 4 }] });
    }
    expect(await ask('lives_in{home_city: ?c, Person: bob}')).toEqual(['lives_in(bob, new york)']);
    expect((await detail('lives_in/2')).arguments).toMatchObject([
      { name: 'Person', description: null },
      { name: 'home_city', description: 'home city' },
    ]);
  });

  it('puts the columns in the order of a declaration with their names, and keeps it', async () => {
    const declared = { arguments: [{ name: 'city' }, { name: 'person' }], key: ['person'] };
    await call('PUT', '/predicates/lives_in/2', declared);
    const path = '/import?predicate=lives_in&declare=true';
    expect(await upload(path, 'text/tab-separated-values', 'person\tcity\nann\trome\n')).toMatchObject({
      asserted: 1,
      failed: 0,
    });
    expect(await ask('lives_in(?c, ?p)')).toEqual(['lives_in(rome, ann)']);
    expect((await detail('lives_in/2')).key).toEqual(['person']);
    const other = await upload(path, 'text/csv', 'who,where\nann,oslo\n');
    expect(other).toMatchObject({ asserted: 0, failed: 2 });
    expect(other.errors[0]?.message).toContain('is declared with other names');
  });

  it('makes legal, distinct names of any columns', async () => {
    await upload('/import?predicate=p&declare=true', 'text/csv', 'a b,a_b,,"x,y"\n1,2,3,4\n');
    expect((await detail('p/4')).arguments.map(({ name }) => name)).toEqual([
      'a_b',
      'a_b_2',
      'column_3',
      'x_y',
    ]);
  });

  it('is for CSV with a predicate', async () => {
    for (const [path, type] of [
      ['/import?declare=true', 'text/csv'],
      ['/import?declare=true', 'application/x-ndjson'],
      ['/import?shapes=true', 'text/csv'],
    ] as const)
      expect(await upload(path, type, '')).toMatchObject({ status: 400 });
  });
});

describe('a class model in Turtle', () => {
  const model = `
@prefix : <urn:e#> . @prefix sh: <http://www.w3.org/ns/shacl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:knows rdfs:domain :Person ; rdfs:range :Person .
:born rdfs:range xsd:gYear . :passport a owl:FunctionalProperty ; rdfs:comment "one each" .
:wrote a owl:SymmetricProperty ; rdfs:domain [ owl:unionOf ( :Person :Animal ) ] . :Student rdfs:subClassOf :Person .
:Person owl:disjointWith :Animal . :Off a sh:NodeShape ; sh:targetClass :Person ; sh:deactivated true ; sh:property [ sh:path :off ] .
:Owners a sh:NodeShape ; sh:targetSubjectsOf :pet ; sh:property [ sh:path :fee ; sh:minInclusive 5 ; sh:minCount 1 ] .
:PersonShape a sh:NodeShape ; sh:targetClass :Person ; sh:closed true ;
  sh:property [ sh:path :name ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:string ] ;
  sh:property [ sh:path :age ; sh:datatype xsd:integer ; sh:minCount 0 ] ;
  sh:property [ sh:path :mood ; sh:in ( "good" "bad" ) ; sh:pattern "^[gb]" ] ;
  sh:property [ sh:path :pet ; sh:class :Animal ; sh:minCount 2 ] .
:ann a :Person ; :name "Ann" , "Anna" ; :knows :rex ; :age "x" ; :mood "odd" ; :pet :tom ; :passport 1 , 2 ; :fee 3 .
:sue a :Student , :Animal .
`;

  it('becomes declarations and constraints, and what cannot is said', async () => {
    const tried = await upload('/import?shapes=true&dryRun=true', 'text/turtle', model);
    const done = await upload('/import?shapes=true', 'text/turtle', model);
    expect(tried).toMatchObject({ declarations: done.declarations, constraints: done.constraints });
    expect(done).toMatchObject({ failed: 0, declarations: 8, constraints: 9, rules: 1 });
    expect(done.leftOut).toEqual([
      'the data type http://www.w3.org/2001/XMLSchema#gYear of urn:e#born',
      'the domain of urn:e#wrote, which is no named class',
      'that urn:e#wrote is an owl:SymmetricProperty',
      'the shape urn:e#Off, which is deactivated',
      'sh:closed of the shape urn:e#PersonShape',
      'sh:pattern ^[gb] of urn:e#mood',
    ]);
    const typeOf = async (name: string) =>
      (await detail(`${encodeURIComponent(`urn:e#${name}`)}/2`)).arguments[1]?.type;
    expect(await Promise.all(['name', 'age', 'mood', 'pet', 'knows'].map(typeOf))).toEqual([
      'text',
      'integer',
      { oneOf: ['good', 'bad'] },
      'entity',
      'entity',
    ]);
    const { violations } = (
      await call<{ violations: { kind: string; name?: string }[] }>('GET', '/violations?limit=100')
    ).body;
    expect(
      violations
        .map(({ name }) => name)
        .filter((name) => name !== undefined)
        .sort(),
    ).toEqual([
      'every Person has at least 1 name',
      'every Person has at least 2 pet',
      'every Person has at least 2 pet',
      'every Person has at most 1 name',
      'fee of every subject of pet is at least 5',
      'knows is in the class Person',
      'nothing is both Person and Animal',
      'pet of every Person is in the class Animal',
    ]);
    expect(violations.filter(({ kind }) => kind === 'key')).toHaveLength(1);
    expect(await detail(`${encodeURIComponent('urn:e#passport')}/2`)).toMatchObject({
      description: 'one each',
      key: ['subject'],
    });
    expect(violations.filter(({ kind }) => kind === 'shape')).toHaveLength(2);
    // Once more changes nothing, not even the name that somebody gave to the rule.
    const listed = async () => (await call<{ rules: StoredRule[] }>('GET', '/rules')).body.rules;
    const [rule] = await listed();
    await call('PUT', `/rules/${rule?.id}`, { name: 'what a subclass means' });
    expect(await upload('/import?shapes=true', 'text/turtle', model)).toMatchObject({ failed: 0 });
    const { constraints } = (await call<{ constraints: unknown[] }>('GET', '/constraints')).body;
    expect(constraints).toHaveLength(9);
    expect(await listed()).toMatchObject([{ id: rule?.id, name: 'what a subclass means' }]);
  });

  it('stays facts alone unless it is asked for', async () => {
    const done = await upload('/import', 'text/turtle', model);
    expect([done.declarations, done.constraints, done.leftOut]).toEqual([undefined, undefined, undefined]);
  });
});

it('the predicates tell declarations and constraints', async () => {
  await call('PUT', '/predicates/p/1', { arguments: [{ name: 'x' }], key: ['x'] });
  await call('POST', '/constraints', { text: '!- p(a)', name: 'no a', mode: 'reject' });
  expect((await call('GET', '/predicates')).body).toMatchObject({
    predicates: [{ name: 'p', declaration: { key: ['x'] } }],
    constraints: [{ name: 'no a', constraint: '!- p(a)', mode: 'reject', scope: null }],
  });
  const request = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'predicates', arguments: {} },
  };
  const { result } = (
    await call<{ result: { content: { text: string }[]; structuredContent: object } }>(
      'POST',
      '/mcp',
      request,
    )
  ).body;
  expect(result.structuredContent).toMatchObject({ constraints: ['!- p(a) (no a; refuses writes)'] });
  expect(result.content[0]?.text).toContain('!- p(a) (no a; refuses writes)');
});
