/** The stored facts of an atom, from the fact listing: windows answer with atoms, not facts. */
import type { FactList, StoredFact } from '../../engine/contract/facts.ts';
import { renderAtom } from '../../engine/language/print.ts';
import type { CallOptions } from './client.ts';
import type { WorkbenchSession } from './session.tsx';
import { type ScopeSelection, scopeFieldsOf } from './space.ts';

/** A ground atom, true or explicitly false. */
interface FactAtom {
  readonly predicate: string;
  readonly args: readonly string[];
  readonly truthVal: boolean;
}

function isOf(fact: StoredFact, { predicate, args, truthVal }: FactAtom): boolean {
  return (
    fact.predicate === predicate &&
    fact.truthVal === truthVal &&
    fact.args.length === args.length &&
    fact.args.every((arg, index) => arg === args[index])
  );
}

/**
 * Returns the stored facts of an atom, by code point of scope, in all scopes or one; at most `most`. Pages through the
 * listing as far as needed, since it also contains mere text matches. Throws the errors of `call`.
 */
export async function storedFactsOf(
  call: WorkbenchSession['call'],
  atom: FactAtom,
  scope: ScopeSelection,
  most: number,
  options: CallOptions = {},
): Promise<StoredFact[]> {
  const { predicate, args, truthVal } = atom;
  const { scope: name, unscoped } = scopeFieldsOf(scope);
  const found: StoredFact[] = [];
  let cursor: string | null = null;
  do {
    const page: FactList = await call(
      'listFacts',
      {
        query: {
          predicate,
          q: renderAtom({ predicate, args: [...args], negated: !truthVal }),
          truthVal: String(truthVal) as 'true' | 'false',
          scope: name,
          unscoped: unscoped === true ? 'true' : undefined,
          limit: '1000',
          cursor,
        },
      },
      options,
    );
    found.push(...page.facts.filter((fact) => isOf(fact, atom)));
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < most);
  return found.slice(0, most);
}
