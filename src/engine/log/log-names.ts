/** The names of a store's logs: each database's is the database's name, and these are not names of databases. */

/** The log of the catalogue: keys, and what else belongs to no database. */
export const CATALOGUE = '';
/** The log of a store of format 2, which holds everything. */
export const UNDIVIDED = '*';
/** Begins the name of a log that is being filled. */
export const UNFINISHED = '+';
/** The same of one whose database was deleted. */
export const UNFINISHED_ENDED = '++';

/** True of a log that is being filled. */
export function isUnfinished({ name }: { readonly name: string }): boolean {
  return name.startsWith(UNFINISHED);
}
