/** The text part of an answer: what each line came to, for who reads and does not compute. */
import type { RetractOutcome } from '../../engine/contract/facts.ts';
import type { Answer } from '../../engine/contract/inference.ts';
import type { Outcome } from './carry-out.ts';

/** Answers to one question that are written out. */
const shownResults = 50;

/** Characters after which no more outcomes are written out. */
const shownCharacters = 100_000;

const shownOfQuestion = 200;

/** One or more lines for each outcome, in order, without a line break at the end. What is left out is said. */
export function answerText(outcomes: readonly Outcome[]): string {
  const lines: string[] = [];
  let characters = 0;
  for (const [index, outcome] of outcomes.entries()) {
    if (characters > shownCharacters) {
      lines.push(`and ${outcomes.length - index} more, in the data parts`);
      break;
    }
    const text = textOf(outcome);
    characters += text.length;
    lines.push(text);
  }
  return lines.join('\n');
}

function textOf({ line, ...outcome }: Outcome): string {
  switch (outcome.kind) {
    case 'told':
      return withHints(`${outcome.data.status}: ${outcome.data.atom}`, outcome.data);
    case 'taught':
      return withHints(`${outcome.data.status}: ${outcome.data.rule}`, outcome.data);
    case 'forgotten':
      return withHints(forgotten(outcome.data), outcome.data);
    case 'untaught':
      return `${outcome.data.status}: ${outcome.data.rule}`;
    case 'answered':
      return withHints(answered(outcome.question, outcome.data), outcome.data);
    case 'unknown':
      return `line ${line} was not understood: ${outcome.data.detail}`;
    case 'failed':
      return `line ${line} failed: ${outcome.data.code}: ${outcome.data.detail}`;
  }
}

function withHints(text: string, { hints = [] }: { readonly hints?: string[] | undefined }): string {
  return [text, ...hints.map((hint) => `  hint: ${hint}`)].join('\n');
}

function forgotten({ status, atom, retracted, dependents, dependentsCount }: RetractOutcome): string {
  const first = `${status}: ${atom}${retracted > 1 ? ` (${retracted} facts)` : ''}`;
  const lines = dependents.slice(0, shownResults).map((each) => `  no longer follows: ${each}`);
  const more = dependentsCount - lines.length;
  if (more > 0) lines.push(`  and ${more} more conclusions`);
  return [first, ...lines].join('\n');
}

function answered(question: string, { results }: Answer): string {
  const asked = shortened(question);
  if (results.length === 0) return `${asked} nothing that is known makes it so`;
  const lines = results.slice(0, shownResults).map((result) => `  ${result}`);
  const more = results.length - lines.length;
  if (more > 0) lines.push(`  and ${more} more, in the data part`);
  return [`${asked} ${results.length} ${results.length === 1 ? 'answer' : 'answers'}`, ...lines].join('\n');
}

/** No half of a character is left at the end. */
function shortened(question: string): string {
  if (question.length <= shownOfQuestion) return question;
  return `${question.slice(0, shownOfQuestion).replace(/[\ud800-\udbff]$/, '')}…`;
}
