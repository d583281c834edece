import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { constraintInputSchema } from '../../engine/contract/constraints.ts';
import { declarationInputSchema } from '../../engine/contract/declarations.ts';
import { factsInputSchema } from '../../engine/contract/facts.ts';
import { askInputSchema } from '../../engine/contract/inference.ts';
import { ruleInputSchema } from '../../engine/contract/rules.ts';
import { sampleIndexSchema, sampleSchema } from '../../engine/contract/samples.ts';
import { aliasInputSchema, entityInputSchema } from '../../engine/contract/entities.ts';
import { violationsQuerySchema } from '../../engine/contract/violations.ts';
import { type Caller, type Engine, openEngine, parseProgram, systemOrigin } from '../../engine/index.ts';
import { anonymous } from '../base/dispatch.ts';
import { findInstallation } from '../base/installation.ts';

const { samplesFolder } = findInstallation();
const readJson = (file: string): unknown => JSON.parse(readFileSync(join(samplesFolder, file), 'utf8'));

const caller: Caller = {
  ...anonymous,
  database: 'default',
  tenant: 'default',
  client: null,
  transaction: null,
  idempotency: null,
  requestId: 'sample',
  origin: systemOrigin,
  signal: new AbortController().signal,
};

/** Answers to a rule body, as rendered, each with its proof. */
async function ask(engine: Engine, text: string) {
  return engine.ask(caller, askInputSchema.parse({ text, withProof: true }));
}

const index = sampleIndexSchema.parse(readJson('index.json'));

test('the index names every shipped sample, and no other', () => {
  const files = readdirSync(samplesFolder).filter((file) => file !== 'index.json');
  expect(index.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
});

describe.each(index)('the sample $title', ({ id, title, description, file }) => {
  const sample = sampleSchema.parse(readJson(file));

  test('has the same description in the index', () => {
    expect({ id: sample.id, title: sample.title, description: sample.description }).toEqual({
      id,
      title,
      description,
    });
  });

  test('has facts in the format of POST /assert/facts, each once', () => {
    const { facts } = factsInputSchema.parse(sample.facts);
    const identities = facts.map(({ predicate, args, truthVal }) =>
      JSON.stringify([predicate, args, truthVal]),
    );
    expect(new Set(identities).size).toBe(facts.length);
  });

  test('has safe rules in the grammar', () => {
    for (const rule of sample.rules) expect(() => ruleInputSchema.parse(rule)).not.toThrow();
    const { statements, errors } = parseProgram(sample.rules.map(({ text }) => `${text}.`).join('\n'));
    expect(errors).toEqual([]);
    expect(statements.map(({ kind }) => kind)).toEqual(sample.rules.map(() => 'rule'));
  });

  test('has declarations that its facts fit, constraints that hold or are listed, and aliases of its entities', async () => {
    const engine = await openEngine({ storageDir: null });
    const declared = sample.declarations ?? [];
    for (const { name, arity, ...body } of declared)
      await engine.declare(caller, { ...declarationInputSchema.parse(body), name, arity });
    await engine.tellAll(caller, factsInputSchema.parse(sample.facts).facts);
    for (const rule of sample.rules) await engine.teach(caller, ruleInputSchema.parse(rule));
    for (const constraint of sample.constraints ?? [])
      await engine.addConstraint(caller, constraintInputSchema.parse(constraint));
    for (const { entity, alias } of sample.aliases ?? []) {
      await engine.addAlias(caller, aliasInputSchema.parse({ entity, alias }));
      const query = entityInputSchema.parse({ constant: alias });
      expect((await engine.entity(caller, query)).facts.length, alias).toBeGreaterThan(0);
    }
    const { violations } = await engine.violations(caller, violationsQuerySchema.parse({}));
    const refusing = violations.filter((each) => each.kind !== 'constraint' || each.mode === 'reject');
    expect(refusing).toEqual([]);
    const { predicates } = await engine.predicates(caller);
    for (const { name, arity } of declared)
      expect(
        predicates.find((each) => each.name === name && each.arity === arity)?.facts,
        name,
      ).toBeGreaterThan(0);
    await engine.close();
  });

  test('has questions that are valid rule bodies', () => {
    const { statements, errors } = parseProgram(
      sample.questions.map((text) => `asked() :- ${text}.`).join('\n'),
    );
    expect(errors).toEqual([]);
    expect(statements).toHaveLength(sample.questions.length);
  });

  test('answers every one of its questions, with a proof of each answer', async () => {
    const engine = await openEngine({ storageDir: null });
    await engine.tellAll(caller, factsInputSchema.parse(sample.facts).facts);
    for (const rule of sample.rules) await engine.teach(caller, ruleInputSchema.parse(rule));
    for (const question of sample.questions) {
      const { results, proof } = await ask(engine, question);
      expect(results, question).not.toEqual([]);
      expect(proof?.roots, question).toHaveLength(results.length);
    }
    await engine.close();
  });
});
