import { expect, it } from 'vitest';
import { isMissingPart } from './view-failed.tsx';

it('knows a part that did not arrive by the words of each browser', () => {
  for (const message of [
    'Failed to fetch dynamically imported module: http://127.0.0.1:9301/assets/ask-view.js',
    'error loading dynamically imported module: http://127.0.0.1:9301/assets/ask-view.js',
    'Importing a module script failed.',
    'Unable to preload CSS for /assets/ask-view.css',
  ])
    expect(isMissingPart(new TypeError(message))).toBe(true);
});

it('takes no other fault for one', () => {
  expect(isMissingPart(new TypeError('x is not a function'))).toBe(false);
  expect(isMissingPart('Failed to fetch dynamically imported module')).toBe(false);
});
