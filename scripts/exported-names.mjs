import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, root } from './prepare.mjs';

const testOrSupport = /\.(test|fuzz|long|bench)\.tsx?$|\/testing\//;

/**
 * Checks the exports of src: no name twice, so that a search for a name finds only one thing, and a comment directly
 * above every class and function.
 * @returns {Promise<import('./check.mjs').Outcome>}
 */
export async function exportedNames() {
  // Loaded here, since this module is loaded before anything is installed.
  const { default: ts } = await import('typescript');
  /** @type {Map<string, string>} */
  const seen = new Map();
  const lines = [];
  for (const path of filesBelow('src').filter((file) => /\.tsx?$/.test(file) && !testOrSupport.test(file)))
    for (const { name, isDescribed } of exportsOf(ts, path)) {
      const other = seen.get(name);
      if (other !== undefined) lines.push(`${path}: ${name} is exported by ${other} too`);
      else seen.set(name, path);
      if (!isDescribed) lines.push(`${path}: ${name} has no comment of its own`);
    }
  return { ok: lines.length === 0 && seen.size > 1000, output: lines.join('\n') };
}

/**
 * The declarations that a file exports. Types need no comment: their fields have them.
 * @param {typeof import('typescript')} ts
 * @param {string} path
 * @returns {{name: string, isDescribed: boolean}[]}
 */
function exportsOf(ts, path) {
  const text = readFileSync(join(root, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  /** @type {Map<string, boolean>} */
  const found = new Map();
  for (const statement of source.statements) {
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
    if (!isExported) continue;
    // A comment above a blank line belongs to what follows that, not to this.
    const isDescribed = ts
      .getJSDocCommentsAndTags(statement)
      .some(
        (comment) => ts.isJSDoc(comment) && /^\s?$/.test(text.slice(comment.end, statement.getStart(source))),
      );
    /** @param {import('typescript').Node | undefined} name @param {boolean} needsComment */
    const note = (name, needsComment) => {
      // Overloads, and a type of the same name, share one comment.
      if (name !== undefined && ts.isIdentifier(name))
        found.set(name.text, (found.get(name.text) ?? false) || isDescribed || !needsComment);
    };
    if (ts.isVariableStatement(statement))
      for (const { name, initializer } of statement.declarationList.declarations)
        note(
          name,
          initializer !== undefined &&
            (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)),
        );
    else if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
      note(statement.name, true);
    else if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
      note(statement.name, false);
  }
  return [...found].map(([name, isDescribed]) => ({ name, isDescribed }));
}
