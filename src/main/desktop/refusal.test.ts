import { describe, expect, it } from 'vitest';
import { refusalExitCodes, type RefusalKind } from '../base/start-refusal.ts';
import { lossQuestion, refusalQuestion, wayOutLabels } from './refusal.ts';

const tried = { folder: '/data/here', isPortChosen: false };
const reasons = Object.keys(refusalExitCodes) as RefusalKind[];

describe('a refused start', () => {
  it.each(reasons)('because of %s always shows the reason and offers to quit', (reason) => {
    const question = refusalQuestion({ reason, message: 'The very reason.', owner: null }, tried);
    expect(question.message).toBe('The very reason.');
    expect(question.detail).not.toContain('The very reason.');
    expect(question.waysOut).toContain('quit');
    expect(new Set(question.waysOut).size).toBe(question.waysOut.length);
    for (const way of question.waysOut) expect(wayOutLabels[way]).not.toBe('');
  });

  it('names the folder if the folder is the problem', () => {
    for (const reason of ['folder-locked', 'damaged', 'failed'] as const)
      expect(refusalQuestion({ reason, message: 'Trouble.', owner: null }, tried).detail).toContain(
        '/data/here',
      );
  });

  it('offers the running service first if it is known to use the folder', () => {
    const refusal = {
      reason: 'folder-locked',
      message: 'Held by 17.',
      owner: 'http://127.0.0.1:9300',
    } as const;
    expect(refusalQuestion(refusal, tried).waysOut[0]).toBe('attach');
    expect(refusalQuestion({ ...refusal, owner: null }, tried).waysOut).not.toContain('attach');
  });

  it('does not offer another port if the user set one', () => {
    const question = refusalQuestion({ reason: 'port-taken', message: 'Taken.', owner: null }, tried);
    expect(question.waysOut).toEqual(['retry', 'quit']);
  });

  it('offers another port if it was chosen in Settings, without blaming PORT', () => {
    const chosen = { ...tried, isPortChosen: true };
    const question = refusalQuestion({ reason: 'port-taken', message: 'Taken.', owner: null }, chosen);
    expect(question.waysOut).toEqual(['retry', 'any-port', 'quit']);
    expect(`${question.message} ${question.detail}`).not.toMatch(/\bPORT\b/);
  });

  it('leaves the port for HTTPS to the user too', () => {
    const question = refusalQuestion({ reason: 'tls-port-taken', message: 'Taken.', owner: null }, tried);
    expect(question).toMatchObject({ message: 'Taken.', waysOut: ['retry', 'quit'] });
  });

  it('of a service that ended while running offers to restart it', () => {
    const question = lossQuestion('out of memory');
    expect(question.detail).toContain('out of memory');
    expect(question.waysOut).toEqual(['retry', 'quit']);
  });
});
