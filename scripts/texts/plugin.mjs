import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { root } from '../prepare.mjs';
import { transformTexts } from './messages.mjs';

/** Folder of the languages: `de.json` is German. English needs none. */
export const languageFolder = join(root, 'src/renderer/texts');

/** @typedef {Partial<Record<Intl.LDMLPluralRule, string>>} Forms of a text with an amount; `{0}` is the amount */
/**
 * A language: its code, its name in itself, and its texts by the English ones. A plural stands as `row|rows`. Null: not
 * translated yet, and shown in English.
 * @typedef {{language: string, name: string, texts: Record<string, string | Forms | null>}} LanguageFile
 */

/**
 * @param {string} file
 * @returns {LanguageFile}
 */
export const readLanguage = (file) => JSON.parse(readFileSync(join(languageFolder, file), 'utf8'));

/** Names of the files of all languages, in the order of their codes. */
export const languageFiles = () =>
  existsSync(languageFolder)
    ? readdirSync(languageFolder)
        .filter((name) => name.endsWith('.json'))
        .sort()
    : [];

const looked = resolve(root, 'src/renderer/ui/texts.ts');

/**
 * Whether texts are looked for in a file: the code of the workbench, and that of proofs, which it shows.
 * @param {string} path absolute, or relative to the root of the repository
 */
export function hasTexts(path) {
  const within = relative(root, resolve(root, path));
  return (
    /^src\/(?:renderer|proof)\/.*\.tsx?$/.test(within) &&
    !/\.(?:test|fuzz|long|d)\.tsx?$/.test(within) &&
    !within.startsWith('src/renderer/proof-app/') &&
    within !== 'src/renderer/ui/texts.ts'
  );
}

/** The plugin of the build: puts look-ups in place of texts, and the languages beside the workbench. */
export function texts() {
  const languages = languageFiles().map((file) => ({ file, ...readLanguage(file) }));
  return {
    name: 'texts',
    enforce: /** @type {const} */ ('pre'),
    config: () => ({
      define: {
        builtLanguages: JSON.stringify(languages.map(({ language, name }) => ({ language, name }))),
      },
    }),
    /**
     * @param {string} code
     * @param {string} id
     */
    transform(code, id) {
      const [path = ''] = id.split('?');
      return hasTexts(path) ? { code: transformTexts(code, path, looked).code, map: null } : null;
    },
    /** @this {{emitFile(file: object): string}} */
    generateBundle() {
      for (const { file, language, texts: all } of languages)
        this.emitFile({
          type: 'asset',
          fileName: `texts/${file}`,
          source: JSON.stringify({ language, texts: all }),
        });
    },
  };
}
