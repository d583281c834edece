/** What an import came to, in words. */
import { formatAmount } from '../../ui/format.ts';
import type { ImportOutcome, ImportState } from './import-run.ts';
import type { StoredPart } from './stored-part.ts';

/** The parts of the outcome that are not nothing. */
export function outcomeParts({ asserted, updated, unchanged, rules, failed }: ImportOutcome): string[] {
  const parts = [
    asserted > 0 && `${formatAmount(asserted, 'fact')} asserted`,
    updated > 0 && `${formatAmount(updated, 'fact')} updated`,
    unchanged > 0 && `${formatAmount(unchanged, 'fact')} known already`,
    rules > 0 && `${formatAmount(rules, 'rule')} taught`,
    failed > 0 && `${formatAmount(failed, 'row')} failed`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? ['nothing in it'] : parts;
}

/** What stays of an import that ended early. `isUnknown`: it could not be found out. */
export function storedWords(stored: StoredPart | null, isUnknown: boolean): string {
  if (isUnknown) return 'What it has stored could not be found out; it stays stored.';
  if (stored === null || stored.facts === 0) return 'It had asserted nothing new.';
  const facts = formatAmount(stored.facts, 'fact');
  if (stored.isAtLeast)
    return `More than ${facts} had been asserted by then, and stay stored until you undo it.`;
  return `${facts} had been asserted by then, and ${stored.facts === 1 ? 'stays' : 'stay'} stored until you undo it.`;
}

/** The failures as text to be copied: a line each. */
export function failuresText({ errors }: ImportOutcome): string {
  return errors.map(({ line, message }) => `${line}\t${message}`).join('\n');
}

/** How an import ended, as a title. */
export function outcomeTitle(state: ImportState, fileName: string): string {
  if (state.kind === 'done') return `Imported ${fileName}`;
  return state.kind === 'cancelled' ? `Cancelled ${fileName}` : `${fileName} broke off`;
}
