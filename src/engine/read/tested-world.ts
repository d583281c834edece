/** The state that a test supposes, and what is said of an expectation that it does not meet. */
import { EngineError } from '../base/errors.ts';
import type { TestFailure } from '../contract/tests.ts';
import type { Atom, Literal } from '../contract/language.ts';
import { renderBody } from '../language/print.ts';
import { isPositiveAtom } from '../language/terms.ts';
import { furthest } from '../datalog/explain/why-not.ts';
import { LiteralReader } from '../datalog/tables/literal-reader.ts';
import type { TableSet } from '../datalog/tables/table-set.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { SupposedWrite } from '../session/supposed-write.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { whyNot } from './explain.ts';

/** The supposed state of one test. */
export interface TestedWorld {
  readonly context: ReadContext;
  readonly view: ScopeChoice;
  readonly constraints: SupposedWrite['constraints'];
  /** Tables of the context's reader, for all goals of the test, one after another. */
  readonly set: TableSet;
}

/** What a failure says beside its place. */
export type Unmet = Omit<TestFailure, 'expectation' | 'line' | 'column'>;

/** The message of an exceeded limit; null for any other error. */
export function limitIn(error: unknown): string | null {
  return error instanceof EngineError && error.code === 'InferenceLimitExceeded' ? error.message : null;
}

/** Of one atom without variables the attempts of the rules, of any other body how far it gets itself. */
export async function whyMissing(
  context: ReadContext,
  view: ScopeChoice,
  goal: readonly Literal[],
): Promise<Pick<Unmet, 'attempts' | 'blockedBy'>> {
  const [only] = goal;
  const isGround = only !== undefined && goal.length === 1 && isPositiveAtom(only) && isGroundAtom(only);
  if (isGround) {
    const { attempts, blockedBy } = await whyNot(context, view, only);
    return { attempts, blockedBy };
  }
  const { reasoner, reader, pacer } = context;
  const head = { predicate: 'goal', args: [], negated: false };
  return reasoner.evaluate(reader, false, pacer, async (set) => {
    const literals = new LiteralReader(set, reader, pacer, view);
    const found = await furthest({ head, body: [...goal] }, head, literals);
    if (found === null) return {};
    const { bindings, satisfied, missing } = found;
    const attempt = { bindings, satisfied: [...satisfied], missing: [...missing] };
    return { attempts: [{ rule: renderBody(goal), ruleId: '', ...attempt }] };
  });
}

function isGroundAtom({ args }: Atom): boolean {
  return !args.some((term) => term.startsWith('?'));
}
