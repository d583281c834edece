/**
 * The context menu of text fields, selected text and links, and the spelling that it corrects.
 *
 * A page's own menus come first: they prevent the event. The application downloads no dictionary: on macOS the system
 * has them, elsewhere spelling is checked with those in `Dictionaries` of the user-data folder.
 */
import type { ContextMenuParams, MenuItemConstructorOptions } from 'electron';

/** What the menu depends on: the relevant part of Electron's parameters. */
export type ContextParameters = Pick<
  ContextMenuParams,
  'isEditable' | 'selectionText' | 'linkURL' | 'misspelledWord' | 'dictionarySuggestions'
> & { readonly editFlags: Pick<ContextMenuParams['editFlags'], 'canCut' | 'canCopy' | 'canPaste'> };

interface ContextActions {
  readonly copy: (text: string) => void;
  readonly replace: (word: string) => void;
  readonly learn: (word: string) => void;
}

const separator: MenuItemConstructorOptions = { type: 'separator' };

/** The template of the menu; empty if there is nothing to do. */
export function contextTemplate(
  parameters: ContextParameters,
  actions: ContextActions,
): MenuItemConstructorOptions[] {
  const { isEditable, selectionText, linkURL, editFlags } = parameters;
  const groups: MenuItemConstructorOptions[][] = [
    spellingItems(parameters, actions),
    linkURL === '' ? [] : [{ label: 'Copy the link', click: () => actions.copy(linkURL) }],
    isEditable
      ? [
          { role: 'cut', enabled: editFlags.canCut },
          { role: 'copy', enabled: editFlags.canCopy },
          { role: 'paste', enabled: editFlags.canPaste },
          separator,
          { role: 'selectAll', label: 'Select all' },
        ]
      : selectionText.trim() === ''
        ? []
        : [{ role: 'copy' }],
  ];
  return groups
    .filter((items) => items.length > 0)
    .flatMap((items, index) => (index === 0 ? items : [separator, ...items]));
}

function spellingItems(
  { misspelledWord: word, dictionarySuggestions: suggestions }: ContextParameters,
  { replace, learn }: ContextActions,
): MenuItemConstructorOptions[] {
  if (word === '') return [];
  const items = suggestions.map((each) => ({ label: menuText(each), click: () => replace(each) }));
  return [
    ...(items.length === 0 ? [{ label: 'No suggestions', enabled: false }] : items),
    separator,
    { label: 'Add to the dictionary', click: () => learn(word) },
  ];
}

/** In a menu a single `&` would underline the next character. */
function menuText(text: string): string {
  return text.replaceAll('&', '&&');
}

/** The languages of the dictionaries among these files: `en-US` of `en-US-10-1.bdic`. */
export function dictionaryLanguages(files: readonly string[]): string[] {
  const found = files.flatMap(
    (file) => /^([a-z]{2,3}(?:-[A-Za-z]{2,4})?)-\d+-\d+\.bdic$/.exec(file)?.[1] ?? [],
  );
  return [...new Set(found)].toSorted();
}
