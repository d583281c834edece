import { describe, expect, it } from 'vitest';
import { departures } from '../../desktop-contract/channels.ts';
import { decideLeaving, leavingLabels, leavingQuestion } from './departure.ts';

describe('quitting the program', () => {
  it('asks for confirmation while agents are connected, unless the user has decided before', () => {
    expect(decideLeaving('close', 2, 'ask')).toBe('ask');
    expect(decideLeaving('close', 2, 'keep')).toBe('keep');
    expect(decideLeaving('close', 2, 'quit')).toBe('quit');
  });

  it('never asks if there are no agents', () => {
    for (const leaving of ['close', 'quit'] as const)
      for (const setting of departures) expect(decideLeaving(leaving, 0, setting)).toBe('quit');
  });

  it('asks even if a closed window keeps the program running, so that it can be ended', () => {
    expect(decideLeaving('quit', 1, 'keep')).toBe('ask');
    expect(decideLeaving('quit', 1, 'ask')).toBe('ask');
    expect(decideLeaving('quit', 1, 'quit')).toBe('quit');
  });

  it('can be cancelled, and the choice is remembered only for closed windows', () => {
    for (const leaving of ['close', 'quit'] as const) {
      const question = leavingQuestion(leaving, 3, true);
      expect(question.message).toContain('3 agents');
      expect(question.choices).toContain('stay');
      for (const choice of question.choices) expect(leavingLabels[choice]).not.toBe('');
      expect(question.rememberLabel === null).toBe(leaving === 'quit');
    }
    expect(leavingQuestion('close', 1, true).message).toBe('An agent is connected.');
  });

  it('promises an icon only where the desktop has a tray', () => {
    expect(leavingQuestion('close', 1, true).detail).toContain('it stays in the tray');
    const { detail } = leavingQuestion('close', 1, false);
    expect(detail).not.toContain('tray');
    expect(detail).toContain('start Corollary again to open its window');
  });
});
