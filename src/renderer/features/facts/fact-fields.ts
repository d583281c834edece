/** The fields of a fact in words. */
import { formatTime } from '../../ui/format.ts';
import { renderFact } from './render-fact.ts';
import type { FactContent } from './staged-edits.ts';

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

/** The word for a field. */
export function fieldWord(field: keyof FactContent): string {
  return words[field];
}
