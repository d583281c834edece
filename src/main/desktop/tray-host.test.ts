import { describe, expect, it } from 'vitest';
import { hasTray } from './tray-host.ts';

/** Clients of the bus by name, with what they print; null: they fail. */
function installed(clients: Record<string, string | null>) {
  const asked: string[] = [];
  return {
    asked,
    run: async (program: string, argv: readonly string[]) => {
      asked.push([program, ...argv].join(' '));
      if (!(program in clients)) return 'missing';
      const printed = clients[program] ?? null;
      return printed === null ? 'failed' : { printed };
    },
  };
}

describe('the tray of the desktop', () => {
  it('is always there on other systems, and nobody is asked', async () => {
    const { asked, run } = installed({});
    expect(await hasTray('darwin', run)).toBe(true);
    expect(await hasTray('win32', run)).toBe(true);
    expect(asked).toEqual([]);
  });

  it('is there if a host is registered, in the words of each client', async () => {
    expect(await hasTray('linux', installed({ gdbus: '(<true>,)\n' }).run)).toBe(true);
    const variant = 'method return time=1 sender=:1.5\n   variant       boolean true\n';
    expect(await hasTray('linux', installed({ 'dbus-send': variant }).run)).toBe(true);
    expect(await hasTray('linux', installed({ busctl: 'b true\n' }).run)).toBe(true);
  });

  it('is not there without a watcher, without a host, or without a client to ask', async () => {
    expect(await hasTray('linux', installed({ gdbus: null, busctl: 'b true\n' }).run)).toBe(false);
    expect(await hasTray('linux', installed({ gdbus: '(<false>,)\n' }).run)).toBe(false);
    const { asked, run } = installed({});
    expect(await hasTray('linux', run)).toBe(false);
    expect(asked.map((line) => line.split(' ')[0])).toEqual(['gdbus', 'dbus-send', 'busctl']);
    for (const line of asked) expect(line).toMatch(/StatusNotifierWatcher.*IsStatusNotifierHostRegistered/);
  });
});
