/** Consequences of a change and counts of conclusions in words, as far as they are computed. */
import { formatAmount, formatCount } from './format.ts';

/** Consequences as answers report them; absent fields mean complete. */
export interface ReportedConsequences {
  readonly gained?: number | undefined;
  readonly lost?: number | undefined;
  readonly consequencesComplete?: boolean | undefined;
  readonly notWorkedOut?: readonly string[] | undefined;
}

/** Beyond this many, the rest is counted. */
const maxNamed = 4;

/** Returns ` Not worked out: kids/2.`; empty if complete. */
export function notWorkedOutInWords({
  consequencesComplete,
  notWorkedOut = [],
}: ReportedConsequences): string {
  if (consequencesComplete !== false) return '';
  if (notWorkedOut.length === 0) return ' Not all is worked out.';
  const named = notWorkedOut.slice(0, maxNamed).join(', ');
  const rest = notWorkedOut.length - maxNamed;
  return ` Not worked out: ${named}${rest > 0 ? ` and ${formatCount(rest)} more` : ''}.`;
}

/** Returns a sentence such as `Would withdraw 5 and gain at least 2 conclusions.` */
export function consequencesInWords(told: ReportedConsequences): string {
  const { gained = 0, lost = 0, consequencesComplete } = told;
  const isComplete = consequencesComplete !== false;
  if (gained + lost === 0)
    return isComplete ? 'No conclusion would change.' : notWorkedOutInWords(told).trim();
  const least = isComplete ? '' : 'at least ';
  const conclusions = gained + lost === 1 ? 'conclusion' : 'conclusions';
  const change = `Would withdraw ${least}${formatCount(lost)} and gain ${least}${formatCount(gained)} ${conclusions}.`;
  return `${change}${notWorkedOutInWords(told)}`;
}

/** The counts of an answer. */
export interface CountedConclusions {
  readonly derived: number;
  readonly derivedComplete: boolean;
}

/** Returns `11,325`, `150+` if that is not all, or `?` if nothing is computed. */
export function countOfConclusions({ derived, derivedComplete }: CountedConclusions): string {
  if (derivedComplete) return formatCount(derived);
  return derived > 0 ? `${formatCount(derived)}+` : '?';
}

/** Returns the same count in words. */
export function conclusionsInWords({ derived, derivedComplete }: CountedConclusions): string {
  if (derivedComplete) return formatAmount(derived, 'conclusion');
  return derived > 0 ? `${formatCount(derived)} or more conclusions` : 'conclusions not worked out';
}
