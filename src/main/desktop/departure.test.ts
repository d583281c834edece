import { describe, expect, it } from 'vitest';
import { departures } from '../../desktop-contract/channels.ts';
import { decideLeaving, discardQuestion, leavingLabels, leavingQuestion } from './departure.ts';

describe('quitting the program', () => {
  it('asks for confirmation while agents are connected, unless the user has decided before', () => {
    expect(decideLeaving('close', { agents: 2, unsaved: [] }, 'ask')).toBe('ask');
    expect(decideLeaving('close', { agents: 2, unsaved: [] }, 'keep')).toBe('keep');
    expect(decideLeaving('close', { agents: 2, unsaved: [] }, 'quit')).toBe('quit');
  });

  it('never asks if there are no agents', () => {
    for (const leaving of ['close', 'quit'] as const)
      for (const setting of departures)
        expect(decideLeaving(leaving, { agents: 0, unsaved: [] }, setting)).toBe('quit');
  });

  it('asks even if a closed window keeps the program running, so that it can be ended', () => {
    expect(decideLeaving('quit', { agents: 1, unsaved: [] }, 'keep')).toBe('ask');
    expect(decideLeaving('quit', { agents: 1, unsaved: [] }, 'ask')).toBe('ask');
    expect(decideLeaving('quit', { agents: 1, unsaved: [] }, 'quit')).toBe('quit');
  });

  it('can be cancelled, and the choice is remembered only for closed windows', () => {
    for (const leaving of ['close', 'quit'] as const) {
      const question = leavingQuestion(leaving, { agents: 3, unsaved: [] }, true);
      expect(question.message).toContain('3 agents');
      expect(question.choices).toContain('stay');
      for (const choice of question.choices) expect(leavingLabels[choice]).not.toBe('');
      expect(question.rememberLabel === null).toBe(leaving === 'quit');
    }
    expect(leavingQuestion('close', { agents: 1, unsaved: [] }, true).message).toBe('An agent is connected.');
  });

  it('promises an icon only where the desktop has a tray', () => {
    for (const unsaved of [[], ['An import is under way.']]) {
      const state = { agents: 1, unsaved };
      expect(leavingQuestion('close', state, true).detail).toContain('it stays in the tray');
      const { detail } = leavingQuestion('close', state, false);
      expect(detail).not.toContain('tray');
      expect(detail).toContain('start Corollary again to open its window');
    }
  });

  it('asks once, naming everything that would be lost, whatever the user has decided about agents', () => {
    const unsaved = ['An import is under way.', 'A new key is shown only once.'];
    for (const leaving of ['close', 'quit'] as const)
      for (const setting of departures)
        for (const agents of [0, 2]) expect(decideLeaving(leaving, { agents, unsaved }, setting)).toBe('ask');
    for (const agents of [0, 2]) {
      const { detail, choices, rememberLabel } = leavingQuestion('close', { agents, unsaved }, true);
      for (const each of unsaved) expect(detail).toContain(each);
      expect(choices.at(-1)).toBe('stay');
      expect(choices.includes('keep')).toBe(agents > 0);
      expect(rememberLabel).toBeNull();
    }
    expect(discardQuestion('If you close the window', unsaved)).toMatchObject({
      message: 'If you close the window, you lose what is not saved.',
      detail: '• An import is under way.\n• A new key is shown only once.',
      choices: ['discard', 'stay'],
    });
  });
});
