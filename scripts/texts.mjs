import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { filesBelow, root } from './prepare.mjs';
import { transformTexts } from './texts/messages.mjs';
import { hasTexts, languageFiles, languageFolder, readLanguage } from './texts/plugin.mjs';

/**
 * `npm run texts`: the catalogue of the workbench's texts, every one with the file in which it stands first.
 * `npm run texts -- de`: makes `src/renderer/texts/de.json` with all of them untranslated (null), or brings it up to date:
 * new texts are added, those that are gone are removed, translations stay. A plural is `row|rows`, and its translation has
 * a text for each form of the language: `{"one": "{0} Zeile", "other": "{0} Zeilen"}`.
 */

/**
 * @returns {Map<string, string>} the texts, in the order of the source, with the file of the first
 */
export function catalogue() {
  /** @type {Map<string, string>} */
  const first = new Map();
  for (const path of filesBelow('src').filter(hasTexts))
    for (const message of transformTexts(readFileSync(join(root, path), 'utf8'), path, '').messages)
      if (!first.has(message)) first.set(message, path);
  return first;
}

/** @typedef {import('./texts/plugin.mjs').LanguageFile} LanguageFile */

/**
 * Brings a language up to date.
 * @param {LanguageFile} known
 * @param {Iterable<string>} messages
 * @returns {{file: LanguageFile, added: number, removed: number, missing: number}}
 */
export function updated(known, messages) {
  /** @type {LanguageFile['texts']} */
  const texts = {};
  let added = 0;
  let missing = 0;
  for (const message of messages) {
    if (!(message in known.texts)) added += 1;
    texts[message] = known.texts[message] ?? null;
    if (texts[message] === null) missing += 1;
  }
  const removed = Object.keys(known.texts).filter((message) => !(message in texts)).length;
  return { file: { ...known, texts }, added, removed, missing };
}

/** @param {string} language */
function update(language) {
  const file = `${language}.json`;
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;
  const known = languageFiles().includes(file) ? readLanguage(file) : { language, name, texts: {} };
  const { file: made, added, removed, missing } = updated(known, catalogue().keys());
  const path = join(languageFolder, file);
  writeFileSync(path, `${JSON.stringify(made, null, 2)}\n`);
  console.log(`${relative(root, path)}: ${added} added, ${removed} removed, ${missing} not translated yet`);
}

if (process.argv[1] === import.meta.filename) {
  const [language] = process.argv.slice(2);
  if (language === undefined)
    for (const [text, file] of catalogue()) console.log(`${file}\t${JSON.stringify(text)}`);
  else if (/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language)) update(language);
  else {
    console.error(`${language} is no code of a language: write one such as de or pt-BR.`);
    process.exitCode = 1;
  }
}
