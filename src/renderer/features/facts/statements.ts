/** Facts from statements in the grammar, as POST /assert/facts takes them. Pure; loaded with the dialog. */
import { parseProgram } from '../../../engine/language/parse.ts';

export interface StatedFact {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}

export interface StatedFacts {
  readonly facts: readonly StatedFact[];
  /** What is wrong, each with its place; empty where all is well. */
  readonly problems: readonly string[];
}

/** Reads facts, one a full stop. Rules are a problem here: they are taught in their own view. */
export function factsOfStatements(text: string): StatedFacts {
  const { statements, errors, lines } = parseProgram(text, { maxErrors: 20 });
  const facts: StatedFact[] = [];
  const problems = errors.map(
    (error) => `Line ${error.range.startLine}, column ${error.range.startColumn}: ${error.message}`,
  );
  for (const statement of statements) {
    if (statement.kind === 'fact') {
      const { predicate, args, negated } = statement.atom;
      facts.push({ predicate, args, truthVal: !negated });
    } else {
      const { startLine } = lines.range(statement.span);
      problems.push(`Line ${startLine}: this is a rule. Rules are taught in the Rules view.`);
    }
  }
  return { facts, problems };
}
