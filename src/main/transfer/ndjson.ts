/** NDJSON: a line is a fact as `/assert/fact` takes it, or a rule with its text in `rule`. Blank lines are skipped. */
import { plainFact } from '../../engine/contract/facts.ts';
import { importedFactSchema, importedRuleSchema } from '../../engine/contract/transfer.ts';
import { type Validated, validate } from '../../engine/contract/validation.ts';
import { namesPrototype } from '../base/prototype-field.ts';
import { type ImportItem, type ImportItems, type Line, problemItem, readLines } from './items.ts';

const maxDepth = 64;
/** In characters. */
const longText = 64 * 1024;

/** `scope` is for lines without one. */
export async function* readNdjson(chunks: AsyncIterable<Uint8Array>, scope: string | null): ImportItems {
  for await (const lines of readLines(chunks)) {
    const items: ImportItem[] = [];
    for (const line of lines) {
      const item = itemOf(line, scope);
      if (item !== null) items.push(item);
    }
    yield items;
  }
}

function itemOf({ number, text, problem }: Line, scope: string | null): ImportItem | null {
  if (text === null) return problemItem(number, problem ?? '');
  if (text.trim() === '') return null;
  // Deep nesting also takes long to parse.
  if (text.length > longText && isTooDeep(text)) return tooDeep(number);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return problemItem(number, 'the line is not valid JSON');
    throw error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return problemItem(number, 'a line must be an object: a fact, or a rule with its text in rule');
  return quickItem(number, text.length, value, scope) ?? carefulItem(number, text, value, scope);
}

/** The item of a fact in the common form; else null. */
function quickItem(line: number, size: number, value: object, scope: string | null): ImportItem | null {
  const fact = plainFact(value);
  if (fact === null) return null;
  return { line, size, what: { kind: 'fact', fact: inScope({ ...fact, ifGeneration: null }, scope) } };
}

function carefulItem(line: number, text: string, value: object, scope: string | null): ImportItem {
  if (isTooDeep(text)) return tooDeep(line);
  if (namesPrototype(text)) return problemItem(line, '__proto__ cannot be the name of a field');
  const size = text.length;
  if ('rule' in value) {
    const rule = validate(importedRuleSchema, value);
    if (!rule.ok) return problemItem(line, wording(rule));
    return { line, size, what: { kind: 'rule', rule: inScope(rule.value, scope) } };
  }
  const fact = validate(importedFactSchema, value);
  if (!fact.ok) return problemItem(line, wording(fact));
  return { line, size, what: { kind: 'fact', fact: inScope(fact.value, scope) } };
}

function tooDeep(line: number): ImportItem {
  return problemItem(line, `the line nests deeper than ${maxDepth} levels`);
}

function inScope<Named extends { scope: string | null; unscoped: boolean }>(
  named: Named,
  scope: string | null,
): Named {
  return named.scope === null && !named.unscoped ? { ...named, scope } : named;
}

function wording({ errors }: Extract<Validated<unknown>, { ok: false }>): string {
  return errors
    .slice(0, 3)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
}

/** Whether brackets outside of strings nest too deep. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) {
      for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++)
        if (text.charCodeAt(at) === 0x5c) at++;
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return false;
}
