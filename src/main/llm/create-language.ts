import type { Engine } from '../../engine/index.ts';
import type { LanguageModel } from './language-model.ts';
import type { Language } from './language.ts';

export interface LanguageParts {
  readonly engine: () => Engine;
  /** null: no provider is configured. */
  readonly model: LanguageModel | null;
  /** Whether text may be sent to the provider. */
  readonly isEnabled: boolean;
}

function notYet(): Error {
  return new Error('to be written');
}

export function createLanguage(_parts: LanguageParts): Language {
  return {
    contextOfTurns: () => Promise.reject(notYet()),
    ingest: () => Promise.reject(notYet()),
    extract: () => Promise.reject(notYet()),
    synthesize: () => Promise.reject(notYet()),
  };
}
