/** A fact and its fields as text. */
import { renderAtom } from '../../../engine/language/print.ts';
import { formatTime } from '../../ui/format.ts';
import type { FactContent } from './staged-edits.ts';

/** A fact in the language's syntax, without a full stop. */
export function renderFact(fact: Pick<FactContent, 'predicate' | 'args' | 'truthVal'>): string {
  return renderAtom({ predicate: fact.predicate, args: [...fact.args], negated: !fact.truthVal });
}

const words: Record<keyof FactContent, string> = {
  predicate: 'Predicate',
  args: 'Fact',
  truthVal: 'Truth',
  scope: 'Scope',
  validFrom: 'Valid from',
  validUntil: 'Valid until',
  metadata: 'Metadata',
};

/** One field of a fact as text. */
export function fieldText(fact: FactContent, field: keyof FactContent): string {
  if (field === 'args') return renderFact(fact);
  const value = fact[field];
  if (value === null) return field === 'scope' ? 'none' : field === 'validFrom' ? 'always' : 'never ends';
  if (typeof value === 'number') return formatTime(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The label of a field. */
export function fieldWord(field: keyof FactContent): string {
  return words[field];
}
