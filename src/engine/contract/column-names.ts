const maxNameCharacters = 120;

/** Legal and distinct names of arguments for the columns of a table. */
export function namesOfColumns(columns: readonly string[]): string[] {
  const names: string[] = [];
  for (const [at, column] of columns.entries()) {
    const plain = column.replace(/[^\p{L}\p{N}_]+/gu, '_').replace(/^_+|_+$/g, '');
    const name = plain === '' ? `column_${at + 1}` : [...plain].slice(0, maxNameCharacters / 2).join('');
    let distinct = name;
    for (let count = 2; names.includes(distinct); count++) distinct = `${name}_${count}`;
    names.push(distinct);
  }
  return names;
}
