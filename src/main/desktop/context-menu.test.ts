import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, it } from 'vitest';
import { type ContextParameters, contextTemplate, dictionaryLanguages } from './context-menu.ts';

const nothing: ContextParameters = {
  isEditable: false,
  selectionText: '',
  linkURL: '',
  misspelledWord: '',
  dictionarySuggestions: [],
  editFlags: { canCut: false, canCopy: false, canPaste: false },
};

function menu(parameters: Partial<ContextParameters>) {
  const done: string[] = [];
  const items = contextTemplate(
    { ...nothing, ...parameters },
    {
      copy: (text) => done.push(`copy ${text}`),
      replace: (word) => done.push(`replace ${word}`),
      learn: (word) => done.push(`learn ${word}`),
    },
  );
  const click = (label: string) =>
    (items.find((item) => item.label === label)?.click as (() => void) | undefined)?.();
  return { items, names: items.map(nameOf), done, click };
}

function nameOf({ role, label, type }: MenuItemConstructorOptions): string {
  return role ?? label ?? type ?? '';
}

describe('the context menu', () => {
  it('is absent where there is nothing to do', () => {
    expect(menu({}).names).toEqual([]);
    expect(menu({ selectionText: '  ' }).names).toEqual([]);
  });

  it('edits a text field, as far as it can be edited', () => {
    const { names, items } = menu({
      isEditable: true,
      editFlags: { canCut: false, canCopy: false, canPaste: true },
    });
    expect(names).toEqual(['cut', 'copy', 'paste', 'separator', 'selectAll']);
    expect(items.map(({ enabled }) => enabled)).toEqual([false, false, true, undefined, undefined]);
  });

  it('copies selected text and the address of a link', () => {
    const { names, click, done } = menu({ selectionText: 'ada', linkURL: 'http://127.0.0.1:9300/docs' });
    expect(names).toEqual(['Copy the link', 'separator', 'copy']);
    click('Copy the link');
    expect(done).toEqual(['copy http://127.0.0.1:9300/docs']);
  });

  it('corrects a misspelled word or adds it to the dictionary', () => {
    const { names, click, done } = menu({
      isEditable: true,
      misspelledWord: 'wrod',
      dictionarySuggestions: ['word', 'R&D'],
    });
    expect(names.slice(0, 5)).toEqual(['word', 'R&&D', 'separator', 'Add to the dictionary', 'separator']);
    click('word');
    click('Add to the dictionary');
    expect(done).toEqual(['replace word', 'learn wrod']);
    expect(menu({ isEditable: true, misspelledWord: 'wrod' }).names[0]).toBe('No suggestions');
  });
});

describe('spelling', () => {
  it('has the languages of the dictionaries that are there', () => {
    const files = [
      'en-US-10-1.bdic',
      'de-DE-3-0.bdic',
      'fr-FR-3-0.bdic.part',
      'custom.txt',
      'en-US-9-0.bdic',
    ];
    expect(dictionaryLanguages(files)).toEqual(['de-DE', 'en-US']);
    expect(dictionaryLanguages([])).toEqual([]);
  });
});
