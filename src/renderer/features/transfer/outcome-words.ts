/** Results of imports in words. */
import { formatAmount } from '../../ui/format.ts';
import type { ImportOutcome, ImportState, PartialImport } from './import-run.ts';

/** Returns the non-zero counts of an outcome. */
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

/** Returns what an import that ended early has stored. */
export function partialImportWords(left: PartialImport): string {
  if (left.kind === 'unknown') return 'What it has stored could not be found out; it stays stored.';
  const { facts, isAtLeast } = left.stored;
  if (facts === 0) return 'It had asserted nothing new.';
  const amount = formatAmount(facts, 'fact');
  if (isAtLeast) return `More than ${amount} had been asserted by then, and stay stored until you undo it.`;
  return `${amount} had been asserted by then, and ${facts === 1 ? 'stays' : 'stay'} stored until you undo it.`;
}

/** Returns the failures as text to copy, one per line. */
export function failuresText({ errors }: ImportOutcome): string {
  return errors.map(({ line, message }) => `${line}\t${message}`).join('\n');
}

/** Returns the title of a finished import. */
export function outcomeTitle(state: ImportState, fileName: string): string {
  if (state.kind === 'done') return `Imported ${fileName}`;
  const isCancelled = state.kind === 'ended' && state.failure === null;
  return isCancelled ? `Cancelled ${fileName}` : `${fileName} broke off`;
}
