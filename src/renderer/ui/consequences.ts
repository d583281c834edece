/** What a change would bring and take, and how many conclusions there are, in words: as far as it is worked out. */
import { formatAmount, formatCount } from './format.ts';

/** As answers tell consequences; where fields are absent, all is worked out. */
export interface ToldConsequences {
  readonly gained?: number | undefined;
  readonly lost?: number | undefined;
  readonly consequencesComplete?: boolean | undefined;
  readonly notWorkedOut?: readonly string[] | undefined;
}

/** More than these are counted. */
const mostNamed = 4;

/** ` Not worked out: kids/2.`; empty where all is. */
export function notWorkedOutInWords({ consequencesComplete, notWorkedOut = [] }: ToldConsequences): string {
  if (consequencesComplete !== false) return '';
  if (notWorkedOut.length === 0) return ' Not all is worked out.';
  const named = notWorkedOut.slice(0, mostNamed).join(', ');
  const rest = notWorkedOut.length - mostNamed;
  return ` Not worked out: ${named}${rest > 0 ? ` and ${formatCount(rest)} more` : ''}.`;
}

/** A sentence about what would come and go: `Would withdraw 5 and gain at least 2 conclusions.` */
export function consequencesInWords(told: ToldConsequences): string {
  const { gained = 0, lost = 0, consequencesComplete } = told;
  const isComplete = consequencesComplete !== false;
  if (gained + lost === 0)
    return isComplete ? 'No conclusion would change.' : notWorkedOutInWords(told).trim();
  const least = isComplete ? '' : 'at least ';
  const conclusions = gained + lost === 1 ? 'conclusion' : 'conclusions';
  const change = `Would withdraw ${least}${formatCount(lost)} and gain ${least}${formatCount(gained)} ${conclusions}.`;
  return `${change}${notWorkedOutInWords(told)}`;
}

/** Of an answer that counts conclusions. */
export interface CountedConclusions {
  readonly derived: number;
  readonly derivedComplete: boolean;
}

/** `11,325`, `150 or more`, or `?` where nothing is worked out. */
export function countOfConclusions({ derived, derivedComplete }: CountedConclusions): string {
  if (derivedComplete) return formatCount(derived);
  return derived > 0 ? `${formatCount(derived)} or more` : '?';
}

/** The same as words. */
export function conclusionsInWords({ derived, derivedComplete }: CountedConclusions): string {
  if (derivedComplete) return formatAmount(derived, 'conclusion');
  return derived > 0 ? `${formatCount(derived)} or more conclusions` : 'conclusions not worked out';
}
