import { describe, expect, it } from 'vitest';
import { answerChannel, type ChannelHandlers, channelNames, type Theme, wireName } from './channels.ts';

function recording(): { handlers: ChannelHandlers; themes: Theme[] } {
  const themes: Theme[] = [];
  const handlers: ChannelHandlers = {
    info: () => ({ version: '1', platform: 'linux', address: 'http://127.0.0.1:1', dataFolder: '/d' }),
    showDataFolder: () => undefined,
    setTheme: (theme) => {
      themes.push(theme);
    },
  };
  return { handlers, themes };
}

describe('the channels of the shell', () => {
  it('answer what their handlers answer', async () => {
    const { handlers, themes } = recording();
    expect(await answerChannel(handlers, 'info', undefined)).toMatchObject({ version: '1' });
    await answerChannel(handlers, 'setTheme', 'dark');
    expect(themes).toEqual(['dark']);
  });

  it('refuse an argument that is not of their kind before the handler sees it', async () => {
    const { handlers, themes } = recording();
    for (const theme of ['purple', undefined, null, 1, { toString: () => 'dark' }])
      await expect(answerChannel(handlers, 'setTheme', theme)).rejects.toThrow('setTheme');
    await expect(answerChannel(handlers, 'info', {})).rejects.toThrow('info');
    expect(themes).toEqual([]);
  });

  it('have names of their own on the wire', () => {
    expect(new Set(channelNames.map(wireName)).size).toBe(channelNames.length);
    for (const name of channelNames) expect(wireName(name)).toMatch(/^corollary:/);
  });
});
