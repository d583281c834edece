/**
 * The header of a CSV file as a declaration: its columns are the names of the arguments.
 *
 * Each row then has its arguments by name, so that columns in another order than that of a declaration find their places.
 */
import { namesOfColumns } from '../../engine/contract/column-names.ts';
import { declarationInputSchema } from '../../engine/contract/declarations.ts';
import { NamedTerms } from '../../engine/contract/language.ts';
import { type ImportItem, type ImportItems, problemItem } from './items.ts';

/** The items of a file whose first record names the columns: a declaration, and facts with named arguments. */
export async function* withHeader(items: ImportItems, predicate: string): ImportItems {
  let names: readonly string[] | null = null;
  for await (const some of items) {
    const read: ImportItem[] = [];
    for (const item of some) {
      if (names !== null) read.push(withNames(item, names));
      else if (item.what.kind === 'fact') {
        const columns = item.what.fact.args;
        names = namesOfColumns(columns);
        read.push({ ...item, what: declarationOf(predicate, names, columns) });
      } else read.push(item);
    }
    yield read;
  }
}

function declarationOf(
  name: string,
  names: readonly string[],
  columns: readonly string[],
): ImportItem['what'] {
  const declared = names.map((each, at) => ({
    name: each,
    // What the column is called if it is no legal name.
    description: columns[at] === each ? null : columns[at],
  }));
  const declaration = declarationInputSchema.parse({ arguments: declared });
  return { kind: 'declaration', declaration: { name, arity: names.length, ...declaration }, isBare: true };
}

/** The item of a row with its arguments by name. */
function withNames(item: ImportItem, names: readonly string[]): ImportItem {
  const { what, line } = item;
  if (what.kind !== 'fact') return item;
  const { args } = what.fact;
  if (args.length !== names.length)
    return problemItem(line, `the line has ${args.length} columns, the first one names ${names.length}`);
  const given = new Map(names.map((name, at) => [name, args[at] as string]));
  return { ...item, what: { ...what, fact: { ...what.fact, args: new NamedTerms(given, true) } } };
}
