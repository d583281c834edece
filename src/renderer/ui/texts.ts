/**
 * The workbench's texts in the language that the user has chosen.
 *
 * The build calls these functions: it puts `message('{0} facts left', [count])` in place of a text in the source. The English
 * text is the key. What a language does not have stays English.
 *
 * The language is loaded before any other module of the workbench runs, since texts stand in constants too; so another
 * one is shown only after the page was loaded again.
 */
import { createElement, Fragment, type ReactNode } from 'react';

/** A language that was built in beside English. */
interface BuiltLanguage {
  /** As BCP 47 has it: `de`, `pt-BR`. */
  readonly language: string;
  /** In itself: `Deutsch`. */
  readonly name: string;
}

/** Filled in by the build of the workbench; the page that shows a proof in a chat has none. */
declare const builtLanguages: readonly BuiltLanguage[];

type Forms = Partial<Record<Intl.LDMLPluralRule, string>>;
type Texts = Readonly<Record<string, string | Forms | null>>;

const storedUnder = 'language';

/** English, and what the build found in `src/renderer/texts`. */
export const languages: readonly BuiltLanguage[] = [
  { language: 'en', name: 'English' },
  ...(typeof builtLanguages === 'undefined' ? [] : builtLanguages),
];

/**
 * Returns the stored choice: a language, or `system` for the first of the browser's that there is. A page without
 * languages has no choice, and does not look for one: in the sandbox of a chat, storage throws when it is touched.
 */
export function chosenLanguage(): string {
  return typeof builtLanguages === 'undefined' ? 'en' : (localStorage.getItem(storedUnder) ?? 'system');
}

/** Stores the choice, and loads the page again in it. */
export function chooseLanguage(language: string): void {
  localStorage.setItem(storedUnder, language);
  window.location.reload();
}

/** Returns the first of `wanted` that is among `known`, exactly or by its language alone; else English. */
export function bestLanguage(wanted: readonly string[], known: readonly string[]): string {
  for (const one of wanted) {
    const [base = one] = one.split('-');
    const found = known.find((language) => language === one) ?? known.find((language) => language === base);
    if (found !== undefined) return found;
  }
  return 'en';
}

function shownLanguage(): string {
  const chosen = chosenLanguage();
  if (chosen !== 'system') return chosen;
  return bestLanguage(
    navigator.languages,
    languages.map(({ language }) => language),
  );
}

/** The language that is shown: `en` where the chosen one could not be loaded. */
export let language = 'en';
/** Why the chosen language is not shown; null if it is. */
export let languageFailure: Error | null = null;
let texts: Texts = {};

async function loadLanguage(wanted: string): Promise<void> {
  if (wanted === 'en') return;
  try {
    // Throws for what is no tag of a language: formats of it would end the workbench.
    Intl.getCanonicalLocales(wanted);
    const response = await fetch(`./texts/${encodeURIComponent(wanted)}.json`);
    if (!response.ok) throw new Error(`the service has no texts in ${wanted}`);
    ({ texts } = (await response.json()) as { texts: Texts });
    language = wanted;
  } catch (error) {
    languageFailure = error instanceof Error ? error : new Error(String(error));
  }
}

await loadLanguage(shownLanguage());
if (typeof document !== 'undefined') document.documentElement.lang = language;

/** The locale of numbers and dates: the browser's, so that both look as elsewhere on this machine. */
export const locale = typeof document === 'undefined' ? 'en' : navigator.language;

function translated(text: string): string {
  const found = texts[text];
  return typeof found === 'string' ? found : text;
}

const place = /\{(\d+)\}/;

/** Returns a text in the language, with `values` in its places: `{0}` is the first. */
export function message(text: string, values: readonly unknown[] = []): string {
  const shown = translated(text);
  if (values.length === 0) return shown;
  return shown
    .split(place)
    .map((part, index) => (index % 2 === 0 ? part : String(values[Number(part)])))
    .join('');
}

/**
 * As {@link message}, with nodes in its places. A string if all values are text, since some elements take nothing else.
 *
 * @public called by what the build puts in place of texts
 */
export function richMessage(text: string, values: readonly ReactNode[]): ReactNode {
  if (values.every((value) => typeof value === 'string' || typeof value === 'number'))
    return message(text, values);
  const parts = translated(text)
    .split(place)
    .map((part, index) => (index % 2 === 0 ? part : values[Number(part)]));
  return createElement(Fragment, null, ...parts);
}

const english = new Intl.PluralRules('en');
const rules = new Intl.PluralRules(language);

/** Returns an amount, `shown`, with its noun in the form that the language has for `count`. */
export function amount(count: number, shown: string, one: string, many: string): string {
  const forms = texts[`${one}|${many}`];
  const form =
    typeof forms === 'object' && forms !== null ? (forms[rules.select(count)] ?? forms.other) : undefined;
  if (form !== undefined) return form.replace('{0}', shown);
  return `${shown} ${english.select(count) === 'one' ? one : many}`;
}
