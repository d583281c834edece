/**
 * `ask`: always with the proof. A question may end in a question mark, and without an answer the tool can say why not.
 */
import { type Atom, isBuiltinName, type Literal } from '../../engine/contract/language.ts';
import { parseBody, renderAtom } from '../../engine/index.ts';
import { fitAnswer } from './answer-size.ts';
import type { Answered, SlimWhyNot } from '../../engine/contract/tool-contents.ts';
import { projections, slimWhyNot } from './tool-content.ts';
import type { ToolArguments } from './tool-input.ts';
import { perform, type ToolContext } from './tool-run.ts';

/** Maximum number of conditions that are explained. */
const maxExplained = 8;

/** The answer of `ask`. The arguments have been checked. */
export async function askTool(run: ToolContext, given: ToolArguments): Promise<Answered> {
  const { whyNot, text, ...others } = given;
  const question = typeof text === 'string' ? { ...others, text: withoutMark(text) } : others;
  const output = await perform(run, 'ask', { body: { ...question, withProof: true } });
  const answer = fitAnswer(projections.ask(output));
  if (whyNot !== true || answer.count > 0) return answer;
  const atoms = atomsOf(question);
  const ground = atoms.filter(({ args }) => !args.some((arg) => arg.startsWith('?')));
  const explained: SlimWhyNot[] = [];
  for (const atom of ground.slice(0, maxExplained)) {
    const why = await perform(run, 'explain', { body: { ...atom, ...placeOf(given), mode: 'whyNot' } });
    if (!why.holds) explained.push(slimWhyNot(why));
  }
  const open = atoms.filter((atom) => !ground.includes(atom)).map((atom) => renderAtom(atom));
  const hint =
    explained.length > 0 || open.length === 0
      ? []
      : [`whyNot explains atoms without variables: put constants into ${open.slice(0, 3).join(', ')}`];
  const hints = [...(answer.hints ?? []), ...hint];
  return {
    ...answer,
    ...(explained.length === 0 ? {} : { whyNot: explained }),
    ...(hints.length === 0 ? {} : { hints }),
  };
}

/** The question without its final question mark, which is not a variable. */
function withoutMark(text: string): string {
  return text.replace(/([\s)"}\w])\s*\?\s*$/u, '$1');
}

/** The atoms of a question that would have to be derivable. The question has been answered, so it is valid. */
function atomsOf({ predicate, args, negated, text, body }: ToolArguments): Atom[] {
  if (typeof predicate === 'string' && Array.isArray(args))
    return [{ predicate, args: args.map(String), negated: negated === true }];
  const literals =
    typeof text === 'string' ? parseBody(text) : Array.isArray(body) ? (body as Literal[]) : [];
  return literals.flatMap((literal) =>
    'aggregate' in literal || literal.naf || isBuiltinName(literal.predicate)
      ? []
      : [{ predicate: literal.predicate, args: literal.args.map(String), negated: literal.negated }],
  );
}

function placeOf({ scope, unscoped }: ToolArguments): ToolArguments {
  return { ...(scope === undefined ? {} : { scope }), ...(unscoped === undefined ? {} : { unscoped }) };
}
