/**
 * A proof told in plain sentences: one for each conclusion, from the root down, then the facts that all of it rests on.
 *
 * An atom is written with the template of its predicate, such as `{1} lives in {2}`, or as code if it has none; a rule by
 * its description or name. Each conclusion is told once, however often it is used.
 */
import type { ProofStep } from '../engine/contract/inference.ts';
import { parseBody } from '../engine/language/parse.ts';
import { isAggregate, isBuiltin } from '../engine/language/terms.ts';
import { chainInWords, type ChainedStep } from './chains.ts';

/** The words of a knowledge base. Both functions may know nothing. */
export interface ToldWords {
  /** `{1} lives in {2}`: the arguments by position, from 1; undefined: the atom is written as code. */
  readonly templateOf?: (predicate: string, arity: number) => string | undefined;
  readonly ruleOf?: (
    ruleId: string,
  ) => { readonly name: string | null; readonly description: string | null } | undefined;
}

/** A run of a sentence: words, or code. */
export interface ToldRun {
  readonly text: string;
  readonly isCode: boolean;
}

/** A sentence about one step. */
export interface ToldSentence {
  readonly step: number;
  readonly runs: readonly ToldRun[];
}

/** A told proof. */
export interface ToldProof {
  /** The conclusion alone. */
  readonly title: readonly ToldRun[];
  readonly sentences: readonly ToldSentence[];
  /** The stored facts, and what must be absent, each once. */
  readonly restsOn: readonly ToldSentence[];
}

const words = (text: string): ToldRun => ({ text, isCode: false });
const code = (text: string): ToldRun => ({ text, isCode: true });

/** The atom by its template; null if it has none. */
function byTemplate(atom: string, { templateOf }: ToldWords): string | null {
  if (templateOf === undefined) return null;
  const [literal, another] = parseBody(atom);
  if (literal === undefined || another !== undefined || isAggregate(literal) || isBuiltin(literal))
    return null;
  const template = templateOf(literal.predicate, literal.args.length);
  if (template === undefined) return null;
  const said = template.replaceAll(/\{(\d+)\}/g, (place, position: string) => {
    const term = literal.args[Number(position) - 1];
    return term === undefined ? place : term === '?_' ? 'anything' : term;
  });
  return literal.negated ? `it is not so that ${said}` : said;
}

function atomRuns(step: ProofStep, known: ToldWords): ToldRun[] {
  const { atom, kind } = step;
  if (kind === 'absence') {
    const positive = atom.replace(/^not /, '');
    const said = byTemplate(positive, known);
    return said === null
      ? [words('nothing matches '), code(positive)]
      : [words(`it is not known that ${said}`)];
  }
  const said = kind === 'builtin' || kind === 'aggregate' ? null : byTemplate(atom, known);
  return [said === null ? code(atom) : words(said)];
}

/** Joins the parts as `a, b and c`. */
function listed(parts: readonly (readonly ToldRun[])[]): ToldRun[] {
  return parts.flatMap((part, index) => {
    const before = index === 0 ? '' : index === parts.length - 1 ? ' and ' : ', ';
    return before === '' ? [...part] : [words(before), ...part];
  });
}

/** A description ends the sentence; a name names the rule; the rule's text is written as code. */
function ruleRuns({ rule, ruleId }: ProofStep, { ruleOf }: ToldWords): ToldRun[] {
  if (rule === null) return [];
  const known = ruleId === null ? undefined : ruleOf?.(ruleId);
  if (known?.description) return [words(` (${known.description.trim().replace(/\.$/, '')})`)];
  if (known?.name) return [words(` (rule “${known.name}”)`)];
  return [words(' by '), code(rule)];
}

function sentenceOf(step: ChainedStep, steps: ReadonlyMap<number, ChainedStep>, known: ToldWords): ToldRun[] {
  const premises = step.premises
    .map((id) => steps.get(id))
    .filter((premise) => premise !== undefined)
    .map((premise) => atomRuns(premise, known));
  const said = atomRuns(step, known);
  if (step.chain !== undefined) {
    const start = premises.length === 0 ? [] : [words(', beginning with '), ...listed(premises)];
    return [
      ...said,
      words(`, by applying one rule ${chainInWords(step.chain)}`),
      ...start,
      ...ruleRuns(step, known),
      words('.'),
    ];
  }
  if (step.kind === 'aggregate')
    return premises.length === 0
      ? [...said, words(', computed over nothing.')]
      : [...said, words(', computed over '), ...listed(premises), words('.')];
  if (premises.length === 0) return [...said, words(step.kind === 'fact' ? ' was asserted.' : '.')];
  return [...said, words(' because '), ...listed(premises), ...ruleRuns(step, known), words('.')];
}

/** Returns the proof of `root` in sentences, in the order of its outline. */
export function toldProof(
  steps: ReadonlyMap<number, ChainedStep>,
  root: number,
  known: ToldWords = {},
): ToldProof {
  const sentences: ToldSentence[] = [];
  const restsOn: ToldSentence[] = [];
  const met = new Set<number>();
  const waiting = [root];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const step = steps.get(id);
    if (step === undefined || met.has(id)) continue;
    met.add(id);
    const isLeaf = step.premises.length === 0 && step.chain === undefined && step.kind !== 'aggregate';
    if (!isLeaf || id === root) sentences.push({ step: id, runs: sentenceOf(step, steps, known) });
    if (isLeaf && (step.kind === 'fact' || step.kind === 'absence'))
      restsOn.push({ step: id, runs: atomRuns(step, known) });
    waiting.push(...step.premises.toReversed());
  }
  const top = steps.get(root);
  return { title: top === undefined ? [] : atomRuns(top, known), sentences, restsOn };
}

function asPlain(runs: readonly ToldRun[]): string {
  return runs.map(({ text }) => text).join('');
}

/** Code in Markdown: fenced by more backticks than it contains. */
function markdownCode(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${space}${text}${space}${fence}`;
}

function asMarkdown(runs: readonly ToldRun[]): string {
  return runs
    .map(({ text, isCode }) => (isCode ? markdownCode(text) : text.replaceAll(/([\\`*_[\]<>#|])/g, '\\$1')))
    .join('');
}

/** Returns the told proof as lines of plain text. */
export function toldAsText({ sentences, restsOn }: ToldProof): string {
  const facts =
    restsOn.length === 0 ? [] : ['', 'It rests on:', ...restsOn.map(({ runs }) => `- ${asPlain(runs)}`)];
  return `${[...sentences.map(({ runs }) => asPlain(runs)), ...facts].join('\n')}\n`;
}

/** Returns the told proof as Markdown: a heading, a numbered list of the sentences, and the facts. */
export function toldAsMarkdown({ title, sentences, restsOn }: ToldProof): string {
  const facts =
    restsOn.length === 0
      ? []
      : ['', '## It rests on', '', ...restsOn.map(({ runs }) => `- ${asMarkdown(runs)}`)];
  const lines = sentences.map(({ runs }, index) => `${index + 1}. ${asMarkdown(runs)}`);
  return `${[`# Why ${asMarkdown(title)}`, '', ...lines, ...facts].join('\n')}\n`;
}
