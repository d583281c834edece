import { describe, expect, it } from 'vitest';
import { trayTemplate } from './menu.ts';

function build(release: { version: string; show: () => void } | null = null) {
  const done: string[] = [];
  const parts = {
    open: () => void done.push('open'),
    quit: () => void done.push('quit'),
    copy: (text: string) => void done.push(text),
    release,
  };
  return { parts, done };
}

const address = 'http://127.0.0.1:9301';

describe('the tray menu', () => {
  it('shows the state of the service and copies its addresses', () => {
    const { parts, done } = build();
    const items = trayTemplate({ kind: 'running', address }, parts);
    expect(items[0]).toEqual({ label: `Running at ${address}`, enabled: false });
    for (const item of items) (item.click as (() => void) | undefined)?.();
    expect(done).toEqual([address, `${address}/mcp`, 'open', 'quit']);
  });

  it('names the other program if the service belongs to one', () => {
    const [first] = trayTemplate({ kind: 'attached', address }, build().parts);
    expect(first?.label).toBe(`Attached to ${address}`);
  });

  it('offers no address to copy if there is none', () => {
    for (const kind of ['starting', 'stopped'] as const) {
      const { parts, done } = build();
      const items = trayTemplate({ kind }, parts);
      for (const item of items) (item.click as (() => void) | undefined)?.();
      expect(done).toEqual(['open', 'quit']);
    }
  });

  it('links to the page of a newer version', () => {
    let shown = 0;
    const { parts } = build({ version: '2.0.0', show: () => void shown++ });
    const item = trayTemplate({ kind: 'starting' }, parts).find(({ label }) => label?.includes('2.0.0'));
    (item?.click as (() => void) | undefined)?.();
    expect(shown).toBe(1);
  });
});
