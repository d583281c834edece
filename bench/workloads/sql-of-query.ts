/**
 * The SQL of a conjunctive query, as its authors write them for databases: all relations in FROM, all conditions in WHERE.
 * Databases order the joins themselves.
 */
import type { BenchAtom, BenchRule } from '../program.ts';
import type { Sql } from './workload.ts';

const isVariable = (term: string): boolean => term.startsWith('?');

/** `columns`: those of a predicate. The rule's body has positive atoms only, and no variable of the head is anonymous. */
function conjunctiveSql(
  { head, body }: BenchRule,
  columns: (predicate: string) => readonly string[],
): string {
  const places = new Map<string, string>();
  const conditions: string[] = [];
  const tables = (body as readonly BenchAtom[]).map(([predicate, ...args], index) => {
    const names = columns(predicate);
    for (const [column, term] of args.entries()) {
      const place = `t${index}.${names[column] ?? ''}`;
      const before = places.get(term);
      if (!isVariable(term)) conditions.push(`${place} = '${term}'`);
      else if (before !== undefined) conditions.push(`${place} = ${before}`);
      else if (term !== '?_') places.set(term, place);
    }
    return `${predicate} t${index}`;
  });
  const found = head.slice(1).map((term, index) => `${places.get(term) ?? ''} AS c${index}`);
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `SELECT DISTINCT ${found.join(', ')} FROM ${tables.join(', ')}${where}`;
}

/** The same as the question of a workload: `with` are common table expressions that it reads. */
export const sqlOfQuery = (
  query: BenchRule,
  columns: (predicate: string) => readonly string[],
  indexes: readonly string[],
  expressions: readonly string[] = [],
): Sql => ({
  with: [...expressions, `result AS (${conjunctiveSql(query, columns)})`].join(', '),
  from: 'result',
  indexes,
});
