import { describe, expect, it } from 'vitest';
import { extractInputSchema, ingestInputSchema, turnsInputSchema } from '../../engine/contract/extraction.ts';
import { openSession, refusal, type Session } from '../../engine/testing/engine-fixtures.ts';
import { createLanguage } from './language.ts';

/** A session of a tenant-restricted credential, and the language surfaces over its engine. */
async function restricted(): Promise<{ session: Session; language: ReturnType<typeof createLanguage> }> {
  const session = (await openSession()).as({ role: 'writer', tenants: ['tenant'], credential: 'restricted' });
  const language = createLanguage({ engine: () => session.engine, model: null, isEnabled: false });
  return { session, language };
}

const withRule = 'p(a).\nq(?x) :- p(?x).';

describe('a tenant-restricted credential', () => {
  it('gets 403 for a rule among the statements of /context, and nothing is stored', async () => {
    const { session, language } = await restricted();
    const call = language.contextOfTurns(session.caller, turnsInputSchema.parse({ turns: [withRule] }));
    expect((await refusal(call)).code).toBe('Forbidden');
    expect((await session.list()).total).toBe(0);
  });

  it('gets 403 for a rule among the statements of /context/ingest, and nothing is stored', async () => {
    const { session, language } = await restricted();
    const call = language.ingest(session.caller, ingestInputSchema.parse({ text: withRule }));
    expect((await refusal(call)).code).toBe('Forbidden');
    expect((await session.list()).total).toBe(0);
  });

  it('gets 403 for rules that /extract should store, before a provider is looked up', async () => {
    const { session, language } = await restricted();
    const input = { text: 'Words.', rules: true, assert: true };
    const call = language.extract(session.caller, extractInputSchema.parse(input));
    expect((await refusal(call)).code).toBe('Forbidden');
  });

  it('may extract rules without storing them, and store facts', async () => {
    const { session, language } = await restricted();
    const tried = language.extract(session.caller, extractInputSchema.parse({ text: 'Words.', rules: true }));
    expect((await refusal(tried)).code).toBe('LlmUnavailable');
    const kept = await language.contextOfTurns(session.caller, turnsInputSchema.parse({ turns: ['p(a).'] }));
    expect(kept.newFactsExtracted).toBe(1);
  });
});
