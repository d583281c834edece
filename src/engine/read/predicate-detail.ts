import { EngineError } from '../base/errors.ts';
import type { PredicateDetail } from '../contract/declarations.ts';
import type { ReadContext } from '../session/read-context.ts';
import type { DeclarationRecord } from '../store/declaration-store.ts';
import { renderAtom } from '../language/print.ts';
import { sees } from '../datalog/model/reader.ts';
import { listPredicates } from './describe.ts';
import { countViolations } from './violations.ts';

const maxExamples = 3;

/** A declared predicate with the tenant's counts, examples and violations; NotFound if it is not declared. */
export async function predicateDetail(
  context: ReadContext,
  { name, arity }: { readonly name: string; readonly arity: number },
): Promise<PredicateDetail> {
  const { database } = context;
  const declaration = database.declarations.get(name, arity);
  if (declaration === null)
    throw new EngineError(
      'NotFound',
      `${name}/${arity} is not declared: declare it with PUT /predicates/${name}/${arity}`,
    );
  const { predicates } = await listPredicates(context);
  const row = predicates.find((each) => each.name === name && each.arity === arity);
  const { description, arguments: named, key, onConflict, check, createdAt } = declaration;
  return {
    name,
    arity,
    description,
    arguments: [...named],
    key: [...key],
    onConflict,
    check,
    createdAt,
    facts: row?.facts ?? 0,
    derived: row?.derived ?? 0,
    derivedComplete: row?.derivedComplete ?? true,
    rules: row?.rules ?? 0,
    scopes: row?.scopes ?? [],
    examples: await examplesOf(context, declaration),
    violations: await countViolations(context, declaration),
  };
}

/** The first visible facts of the predicate, rendered. */
async function examplesOf(
  { tenant, reader, pacer }: ReadContext,
  { name, arity }: DeclarationRecord,
): Promise<string[]> {
  const examples: string[] = [];
  for (const negated of [false, true]) {
    const relation = tenant.facts.relation(name, arity, negated);
    if (relation === null) continue;
    for (let row = 0; row < relation.rowsAt(reader.generation) && examples.length < maxExamples; row++) {
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
      if (!sees(reader, relation, row)) continue;
      examples.push(renderAtom({ predicate: name, args: tenant.facts.argsOf({ relation, row }), negated }));
    }
  }
  return examples;
}
