import { present } from '../base/assert.ts';
import type { Answer, AskedForms, AskInput, Proof } from '../contract/inference.ts';
import { isVariable, type Literal } from '../contract/language.ts';
import { type ReadContext, type LookupContext, scopeChoice } from '../session/read-context.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { planWithCounts } from './plan.ts';
import { factsOf, pointLookup } from './point-lookup.ts';
import { hintsOfNothing, hintsPart } from './hints.ts';
import { KnownNames } from './known-names.ts';
import { checkBody } from '../language/check.ts';
import { parseBody } from '../language/parse.ts';
import { renderAtom } from '../language/print.ts';
import { namedBy } from '../language/argument-names.ts';
import { isAggregate, isPositiveAtom, relationOf, wildcard } from '../language/terms.ts';
import { toMicroseconds } from '../datalog/tables/evaluation.ts';
import { Profile } from '../datalog/plan/profile.ts';
import { factStep, type ProofReader, provingFact } from '../datalog/explain/proof.ts';
import { instance, isNamed, question, renderInstance } from '../datalog/tables/question.ts';
import type { AnswerPage } from '../datalog/maintain/reasoner.ts';
import { rowSeen } from '../datalog/model/reader.ts';

/** The body of a question; a pattern becomes a body of one atom. Throws if the body is invalid. */
export function bodyOf(input: AskedForms): Literal[] {
  const body = input.text !== null ? parseBody(input.text) : (input.body ?? patternOf(input));
  checkBody(body);
  return body;
}

function patternOf(input: AskedForms): Literal[] {
  const predicate = present(input.predicate, 'the schema requires one form');
  const args = present(input.args, 'the schema requires args beside predicate');
  return [{ predicate, args, negated: input.negated, naf: false }];
}

/** What the inference of an answer reads. */
export type InferenceContext = Pick<ReadContext, 'database' | 'tenant' | 'reasoner' | 'reader' | 'pacer'>;

/** An answer without hints, and the stored facts among the results of the page and the proof's premises. */
interface Inferred {
  readonly answer: Answer;
  readonly used: Set<FactRow>;
}

/** Answers a question by inference. */
export async function ask(
  context: ReadContext,
  input: AskInput,
  body: readonly Literal[],
): Promise<Inferred> {
  const { answer, used } = await inferWithPlan(context, input, body);
  return { answer: { ...answer, ...hintsOf(context, input, body, answer.results) }, used };
}

/** Answers a question by inference, with the plan if it is wanted, without hints. */
export async function inferWithPlan(
  context: InferenceContext,
  input: AskInput,
  body: readonly Literal[],
): Promise<Inferred> {
  if (input.plan !== true) return infer(context, input, body, null);
  const profile = new Profile();
  const { answer, used } = await infer(context, input, body, profile);
  const { plan, text } = await planWithCounts(question(scopeChoice(input), body), profile, context);
  return { answer: { ...answer, plan, planText: text }, used };
}

/** `profile` counts what the steps do. */
async function infer(
  context: InferenceContext,
  input: AskInput,
  body: readonly Literal[],
  profile: Profile | null,
): Promise<Inferred> {
  const { reasoner, reader, pacer } = context;
  const names = namesOfAnswers(reader, body);
  const asked = question(scopeChoice(input), body);
  const page = await reasoner.answer(asked, reader, pacer, {
    offset: input.offset,
    limit: input.limit,
    withProof: input.withProof || input.allProofs,
    withAlternatives: input.allProofs,
    profile,
  });
  const used: UsedFacts = new Map();
  for (const fact of page.proof?.facts ?? []) noteFact(used, fact);
  const { results, bindings, named } = await renderPage(context, page, asked.view, names, used);
  const answer: Answer = {
    results,
    bindings,
    ...(names === null ? {} : { named }),
    count: results.length,
    truncated: page.isTruncated,
    total: page.total,
    generation: reader.generation,
    elapsedMs: pacer.elapsedRounded,
    ...(page.proof === null ? {} : { proof: page.proof.proof }),
  };
  return { answer, used: new Set(used.values()) };
}

/**
 * The point look-up path of `ask`: for a single atom that no rule concludes, if an index finds its few stored facts;
 * else null. Synchronous. Proofs have one step without premises. Not for a reader with an overlay.
 */
export function askByPointLookup(
  context: LookupContext,
  input: AskInput,
  [literal, ...others]: readonly Literal[],
): { result: Answer; facts: readonly FactRow[] } | null {
  const { reader } = context;
  const startedAt = performance.now();
  if (literal === undefined || others.length > 0 || !isPositiveAtom(literal)) return null;
  const scope = scopeChoice(input);
  if (reader.program.rulesFor(scope, relationOf(literal)).length > 0) return null;
  const { predicate, args, negated } = literal;
  const found = pointLookup(reader, { predicate, args, truthVal: !negated, scope }, input);
  if (found === null) return null;
  const results: string[] = [];
  const bindings: Record<string, string>[] = [];
  const names = namesOfAnswers(reader, [literal]);
  const named: Record<string, string>[] = [];
  const proof: Proof | null = input.withProof || input.allProofs ? { roots: [], steps: [] } : null;
  for (const atom of found.atoms) {
    const rendered = renderAtom({ predicate, args: atom.args, negated });
    results.push(rendered);
    if (names !== null) named.push(namedBy(names, atom.args));
    const binding: Record<string, string> = Object.create(null) as Record<string, string>;
    for (let position = 0; position < args.length; position++) {
      const term = args[position] as string;
      if (isVariable(term) && term !== wildcard) binding[term.slice(1)] = atom.args[position] as string;
    }
    bindings.push(binding);
    if (proof === null) continue;
    const proving = present(provingFact(reader, atom.facts), 'an atom has a fact');
    const id = proof.roots.length;
    proof.roots.push(id);
    proof.steps.push({ id, ...factStep(reader, proving, rendered, reader.facts.idOf(proving)) });
  }
  const result: Answer = {
    results,
    bindings,
    ...(names === null ? {} : { named }),
    count: results.length,
    truncated: found.isTruncated,
    total: found.total,
    generation: reader.generation,
    elapsedMs: toMicroseconds(performance.now() - startedAt),
    ...(proof === null ? {} : { proof }),
    ...hintsOf(context, input, [literal], results),
  };
  return { result, facts: factsOf(found) };
}

/** The declared names of the arguments of a question of one atom; null: it is another, or not all have names. */
function namesOfAnswers({ names }: ProofReader, body: readonly Literal[]): readonly string[] | null {
  const [literal, ...others] = body;
  if (literal === undefined || others.length > 0 || !isPositiveAtom(literal) || literal.args.length === 0)
    return null;
  return names.of(literal.predicate, literal.args.length);
}

/** Hints for a question without answers. An empty page past the last answer gets none. */
export function hintsOf(
  context: LookupContext,
  { offset }: AskInput,
  body: readonly Literal[],
  results: readonly string[],
): Pick<Answer, 'hints'> {
  if (results.length > 0 || offset > 0) return {};
  return hintsPart(hintsOfNothing(KnownNames.of(context), body));
}

/**
 * Estimated bytes of rendered answers beside the characters of their texts: the head of a string and its
 * element of a list; the object of the bindings, and each binding in it; the entry of a text in a map. V8's
 * own sizes, rounded up.
 */
const [bytesOfText, bytesOfBindings, bytesOfBinding, bytesOfEntry] = [32, 80, 32, 64];

/** Answers rendered and facts visited between pauses. */
const workBetweenBreaths = 1024;
/** So many bytes rendered count as much as one answer. */
const bytesOfWork = 256;

/** Stored facts by number, each once. */
type UsedFacts = Map<number, FactRow>;

function noteFact(used: UsedFacts, fact: FactRow): void {
  used.set(fact.relation.number[fact.row] as number, fact);
}

async function renderPage(
  context: InferenceContext,
  page: AnswerPage,
  view: ScopeChoice,
  names: readonly string[] | null,
  used: UsedFacts,
): Promise<Pick<Answer, 'results' | 'bindings'> & { named: Record<string, string>[] }> {
  const { matches } = page;
  const { question: asked, constants, columns } = matches;
  const { variables } = asked;
  const { memory } = context.pacer;
  const texts = new Map<number, string>();
  const textOf = (id: number): string => {
    let text = texts.get(id);
    if (text === undefined) {
      memory.take(constants.sizeOf(id) + bytesOfText + bytesOfEntry);
      texts.set(id, (text = constants.text(id)));
    }
    return text;
  };
  const columnOf = new Map(variables.map((variable, at) => [variable, at]));
  const bound = variables.filter(isNamed);
  const named: Record<string, string>[] = [];
  const results: string[] = [];
  const bindings: Record<string, string>[] = [];
  let work = 0;
  for (const row of page.page) {
    const constantOf = (variable: string): string | undefined => {
      const at = columnOf.get(variable);
      return at === undefined ? undefined : textOf((columns[at] as Int32Array)[row] as number);
    };
    const result = renderInstance(asked, constantOf);
    memory.takeText(
      result,
      bytesOfText + bytesOfBindings + (bound.length + (names?.length ?? 0)) * bytesOfBinding,
    );
    results.push(result);
    const binding: Record<string, string> = Object.create(null) as Record<string, string>;
    for (const variable of bound) binding[variable.slice(1)] = constantOf(variable) ?? '';
    bindings.push(binding);
    work += 1 + result.length / bytesOfWork;
    for (const literal of instance(asked, constantOf)) {
      work += noteUsed(context, view, literal, used);
      if (names !== null && !isAggregate(literal)) named.push(namedBy(names, literal.args));
    }
    if (work < workBetweenBreaths) continue;
    work = 0;
    await context.pacer.breathe();
  }
  return { results, bindings, named };
}

/** Records the stored facts that are this answer, in every scope of the view. Returns how many it visited. */
function noteUsed(context: InferenceContext, view: ScopeChoice, literal: Literal, used: UsedFacts): number {
  if (!isPositiveAtom(literal)) return 0;
  const { reader, tenant } = context;
  const { predicate, args, negated } = literal;
  const newest = tenant.facts.versionsOf(predicate, args, !negated, view);
  for (const fact of newest) {
    const row = rowSeen(reader, fact.relation, fact.row);
    if (row >= 0) noteFact(used, { relation: fact.relation, row });
  }
  return newest.length;
}
