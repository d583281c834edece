import type { Rule } from '../../contract/language.ts';
import type { RuleRecord } from '../../store/rule-store.ts';
import { RuleStore } from '../../store/rule-store.ts';
import { ruleIdentity } from '../../language/identity.ts';
import { renderRule } from '../../language/print.ts';
import type { ColumnReader, ColumnWriter } from './columns.ts';

/** What is written of a rule; its text and identity follow from it. */
type WrittenRule = Omit<RuleRecord, 'text' | 'identity'>;

/** The rules of one database in their order, in a column and back. */
export function writeRules(rules: readonly RuleRecord[], columns: ColumnWriter): AsyncGenerator<Uint8Array> {
  return columns.texts(utf8Of(rules));
}

/** Reads what `writeRules` wrote. */
export async function readRules(columns: ColumnReader): Promise<RuleStore> {
  const rules = new RuleStore();
  await columns.texts((text) => {
    const written = JSON.parse(decoder.decode(text)) as WrittenRule;
    const rule: Rule = written.rule;
    rules.put({ ...written, text: renderRule(rule), identity: ruleIdentity(rule) });
  });
  return rules;
}

function* utf8Of(rules: readonly RuleRecord[]): Generator<Uint8Array> {
  for (const { text: _text, identity: _identity, ...written } of rules)
    yield encoder.encode(JSON.stringify(written satisfies WrittenRule));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
