/**
 * Find and replace in rules and facts.
 *
 * It changes names, not text: predicates, constants and variables, and the name and description of a rule. So a constant
 * with a comma stays one constant, and nothing has to be parsed again. Pure.
 */
import {
  type Atom,
  isBuiltinName,
  type Literal,
  predicateProblem,
  type Rule,
} from '../../../engine/contract/language.ts';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { ruleProblems } from '../../../engine/language/check.ts';
import { renderConstant, renderIdentity, renderRule } from '../../../engine/language/print.ts';
import { isAggregate, isBuiltin } from '../../../engine/language/terms.ts';
import type { FactEdit, FactWhole, RuleEdit } from './knowledge-step.ts';
import { type BaseRule, baseRuleOf, type DocumentRule, ruleKeyOf } from './rule-document.ts';

/** What to find, and what to put in its place. */
export interface Replacement {
  readonly find: string;
  readonly put: string;
  readonly matchesCase: boolean;
  /** True: only whole names, and in descriptions whole words. */
  readonly isWhole: boolean;
}

/** A rule in which the text occurs. */
export interface RuleHit {
  readonly kind: 'rule';
  readonly key: string;
  readonly base: BaseRule;
  readonly after: DocumentRule;
  /** Why it cannot be replaced; null if it can. */
  readonly problem: string | null;
}

/** A fact in which the text occurs. */
export interface FactHit {
  readonly kind: 'fact';
  readonly key: string;
  readonly base: FactWhole;
  readonly after: FactWhole;
  readonly problem: string | null;
  /** True if the fact that it becomes is stored already. */
  readonly isMerged: boolean;
}

/** One line of the preview. */
export type ReplaceHit = RuleHit | FactHit;

/** Replaces in one text; the same text if nothing occurs. */
type Replace = (text: string) => string;

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** Replacers of names, and of texts for people. */
function replacersOf({ find, put, matchesCase, isWhole }: Replacement): { name: Replace; words: Replace } {
  const flags = matchesCase ? 'gu' : 'giu';
  const within = new RegExp(escaped(find), flags);
  const whole = new RegExp(`^${escaped(find)}$`, flags);
  const words = new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(find)}(?![\\p{L}\\p{N}_])`, flags);
  const by = (pattern: RegExp) => (text: string) => text.replace(pattern, () => put);
  return { name: by(isWhole ? whole : within), words: by(isWhole ? words : within) };
}

/** A variable stays one, and a constant does not become one. */
function termProblem(before: string, after: string): string | null {
  if (before === after) return null;
  const isVariable = before.startsWith('?');
  if (isVariable && !/^\?[\p{L}\p{N}_]+$/u.test(after))
    return `${after === '' ? 'Nothing' : after} is no variable: ? and letters, digits or _`;
  if (!isVariable && after.startsWith('?')) return `The constant ${after} would be a variable`;
  return null;
}

function nameProblem(before: string, after: string): string | null {
  if (before === after) return null;
  return isBuiltinName(after) ? `${after} is the name of a built-in` : predicateProblem(after);
}

/** Replaces in atoms and collects the problems. */
class Replacer {
  readonly #name: Replace;
  readonly problems: string[] = [];

  constructor(name: Replace) {
    this.#name = name;
  }

  #checked(problem: string | null): void {
    if (problem !== null) this.problems.push(problem);
  }

  predicate(before: string): string {
    const after = this.#name(before);
    this.#checked(nameProblem(before, after));
    return after;
  }

  term(before: string): string {
    const after = this.#name(before);
    this.#checked(termProblem(before, after));
    return after;
  }

  atom<Of extends Atom>(atom: Of): Of {
    return {
      ...atom,
      predicate: this.predicate(atom.predicate),
      args: atom.args.map((arg) => this.term(arg)),
    };
  }

  literal(literal: Literal): Literal {
    if (isAggregate(literal))
      return {
        ...literal,
        result: this.term(literal.result),
        over: literal.over.map((each) => this.term(each)),
        body: literal.body.map((inner) => this.literal(inner)),
      };
    return isBuiltin(literal)
      ? { ...literal, args: literal.args.map((arg) => this.term(arg)) }
      : this.atom(literal);
  }

  rule({ head, body }: Rule): Rule {
    return { head: this.atom(head), body: body.map((literal) => this.literal(literal)) };
  }
}

/** Returns the rules in which the text occurs, in their order. A rule that would become another one has a problem. */
export function ruleHitsOf(rules: readonly StoredRule[], replacement: Replacement): RuleHit[] {
  if (replacement.find === '') return [];
  const replacers = replacersOf(replacement);
  const bases = rules.map(baseRuleOf);
  const found = bases.flatMap((base) => {
    const replacer = new Replacer(replacers.name);
    const rule = replacer.rule(base.rule);
    const textOf = (text: string | null) => (text === null ? null : replacers.words(text) || null);
    const after = {
      ...base,
      rule,
      text: renderRule(rule),
      name: textOf(base.name),
      description: textOf(base.description),
    };
    const isSame =
      after.text === base.text && after.name === base.name && after.description === base.description;
    return isSame ? [] : [{ base, after, problems: replacer.problems }];
  });
  const changed = new Set(found.map(({ base }) => base.id));
  const taken = new Set(bases.filter(({ id }) => !changed.has(id)).map(ruleKeyOf));
  return found.map(({ base, after, problems }) => {
    const identity = ruleKeyOf(after);
    const [problem = ruleProblems(after.rule)[0]?.message ?? null] = problems;
    const doubled = problem === null && taken.has(identity) ? 'There is this rule already' : null;
    taken.add(identity);
    return { kind: 'rule', key: base.id, base, after, problem: problem ?? doubled };
  });
}

/** Equal for facts of one identity. */
export function factIdentityOf({ predicate, args, truthVal, scope }: FactWhole): string {
  return JSON.stringify([predicate, args, truthVal, scope]);
}

/** Returns the stored facts in which the text occurs. `isMerged` is not known here. */
export function factHitsOf(facts: readonly StoredFact[], replacement: Replacement): FactHit[] {
  if (replacement.find === '') return [];
  const { name } = replacersOf(replacement);
  return facts.flatMap(({ id, predicate, args, truthVal, scope, validFrom, validUntil, metadata }) => {
    const base = { predicate, args, truthVal, scope, validFrom, validUntil, metadata };
    const replacer = new Replacer(name);
    const after = {
      ...base,
      predicate: replacer.predicate(predicate),
      args: args.map((arg) => replacer.term(arg)),
    };
    if (factIdentityOf(after) === factIdentityOf(base)) return [];
    const [problem = null] = replacer.problems;
    return [{ kind: 'fact', key: id ?? factIdentityOf(base), base, after, problem, isMerged: false }];
  });
}

/**
 * Returns what `GET /facts?q=` finds all facts with that have the text: its longest part that is rendered as it is
 * written. Empty if there is none.
 */
export function searchTextOf(find: string): string {
  const parts = find.split(/["\\\p{Cc}\u2028\u2029]/u);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

/** Returns the hit as the preview shows it, before and after. */
export function hitTextsOf(hit: ReplaceHit): { readonly before: string; readonly after: string } {
  if (hit.kind === 'fact') return { before: renderIdentity(hit.base), after: renderIdentity(hit.after) };
  const { base, after } = hit;
  if (base.text !== after.text) return { before: base.text, after: after.text };
  const beside = ({ name, description }: DocumentRule) =>
    `% ${[name, description]
      .filter((text) => text !== null)
      .map((text) => renderConstant(text))
      .join(': ')}`;
  return { before: beside(base), after: beside(after) };
}

/** Returns the changes of hits; facts that become one are asserted once, with what the first of them has. */
export function replaceChangesOf(hits: readonly ReplaceHit[]): { rules: RuleEdit[]; facts: FactEdit[] } {
  const rules: RuleEdit[] = [];
  const retracted: FactEdit[] = [];
  const asserted = new Map<string, FactEdit>();
  for (const hit of hits) {
    if (hit.kind === 'rule') {
      const { id, etag } = hit.base;
      rules.push({ place: { id, etag }, before: hit.base, after: hit.after });
      continue;
    }
    retracted.push({ before: hit.base, after: null });
    const identity = factIdentityOf(hit.after);
    if (!hit.isMerged && !asserted.has(identity)) asserted.set(identity, { before: null, after: hit.after });
  }
  return { rules, facts: [...retracted, ...asserted.values()] };
}

/** Marks facts that become what is stored already, unless that is replaced itself. `unknown`: what is not stored. */
export function withMerged(hits: readonly FactHit[], unknown: ReadonlySet<string>): FactHit[] {
  const replaced = new Set(
    hits.filter(({ problem }) => problem === null).map(({ base }) => factIdentityOf(base)),
  );
  return hits.map((hit) => {
    const identity = factIdentityOf(hit.after);
    return { ...hit, isMerged: !unknown.has(identity) && !replaced.has(identity) };
  });
}
