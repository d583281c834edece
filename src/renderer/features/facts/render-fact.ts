/** A fact as the language writes it. */
import { renderAtom } from '../../../engine/language/print.ts';
import type { FactContent } from './staged-edits.ts';

export function renderFact(fact: Pick<FactContent, 'predicate' | 'args' | 'truthVal'>): string {
  return renderAtom({ predicate: fact.predicate, args: [...fact.args], negated: !fact.truthVal });
}
