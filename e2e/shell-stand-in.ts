/** The desktop application from the page's side: a stand-in for `window.corollary` in a browser. */
import type { Page } from '@playwright/test';
import { channelNames, type DesktopSettings } from '../src/desktop-contract/channels.ts';

export const firstSettings: DesktopSettings = {
  folder: '/home/ada/.config/Corollary/data',
  isFolderFixed: false,
  port: null,
  isPortFixed: false,
  isAttached: false,
  opensAtLogin: false,
  departure: 'ask',
  asksForReleases: false,
  notifiesOfWithdrawn: true,
  canNotify: true,
  release: { kind: 'unknown' },
  secrets: 'kept',
  providers: { anthropic: 'none', openai: 'kept', google: 'environment' },
  needsRestart: false,
};

export interface ShellStandIn {
  /** The calls, in order. */
  readonly asked: { name: string; argument: unknown }[];
  /** Queues requests for the page. */
  wait(...requests: unknown[]): Promise<void>;
}

/** Installs `window.corollary` before the page loads. `key`: the key that the application keeps for this service. */
export async function standInShell(
  page: Page,
  { settings = {}, key = null }: { settings?: Partial<DesktopSettings>; key?: string | null } = {},
): Promise<ShellStandIn> {
  const asked: ShellStandIn['asked'] = [];
  const waiting: unknown[] = [];
  const kept: { key: string | null; settings: Record<string, unknown> } = {
    key,
    settings: { ...firstSettings, ...settings },
  };
  const answers: Record<string, (argument: unknown) => unknown> = {
    takeRequests: () => waiting.splice(0),
    readKey: () => ({ key: kept.key, place: 'kept' }),
    keepKey: (next) => {
      kept.key = next as string | null;
      return 'kept';
    },
    readSettings: () => kept.settings,
    savePdf: () => true,
    chooseFolder: () => {
      kept.settings = { ...kept.settings, folder: '/elsewhere', needsRestart: true };
      return kept.settings;
    },
    checkReleases: () => {
      kept.settings = { ...kept.settings, release: { kind: 'newer', version: '9.0.0' } };
      return kept.settings;
    },
    changeSettings: (change) => {
      const { kind, value, port, provider, key: secret } = change as Record<string, unknown>;
      const providers = kept.settings['providers'] as Record<string, unknown>;
      if (kind === 'port') kept.settings = { ...kept.settings, port, needsRestart: true };
      else if (kind === 'provider')
        kept.settings = {
          ...kept.settings,
          providers: { ...providers, [String(provider)]: secret === null ? 'none' : 'kept' },
          needsRestart: true,
        };
      else kept.settings = { ...kept.settings, [String(kind)]: value };
      return kept.settings;
    },
  };
  await page.exposeFunction('askStandIn', (name: string, argument: unknown) => {
    asked.push({ name, argument });
    return answers[name]?.(argument) ?? null;
  });
  await page.addInitScript((names) => {
    const page = globalThis as unknown as {
      askStandIn(name: string, argument: unknown): Promise<unknown>;
      heard: () => void;
      corollary: object;
    };
    // An absent argument arrives as null.
    const ask = async (name: string, argument: unknown) =>
      (await page.askStandIn(name, argument)) ?? undefined;
    const channels = names.map((name) => [name, (argument: unknown) => ask(name, argument)]);
    page.heard = () => undefined;
    page.corollary = {
      ...Object.fromEntries(channels),
      takeRequests: async () =>
        ((await page.askStandIn('takeRequests', undefined)) as { text?: string }[]).map((request) =>
          request.text === undefined
            ? request
            : { ...request, bytes: new TextEncoder().encode(request.text) },
        ),
      onWaiting: (listener: () => void) => {
        page.heard = listener;
        return () => undefined;
      },
    };
  }, channelNames);
  return {
    asked,
    wait: async (...requests) => {
      waiting.push(...requests);
      await page.evaluate(() => (globalThis as unknown as { heard(): void }).heard());
    },
  };
}

/** Returns the last argument of calls of `name`; undefined without one. */
export function lastOf({ asked }: ShellStandIn, name: string): unknown {
  return asked.findLast((each) => each.name === name)?.argument;
}
