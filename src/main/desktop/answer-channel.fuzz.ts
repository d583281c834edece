import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  answerChannel,
  type ChannelHandlers,
  type ChannelName,
  channelNames,
  departures,
  desktopProviderNames,
  isPort,
} from '../../desktop-contract/channels.ts';
import { commandIds } from '../../desktop-contract/commands.ts';

/** Handlers that record what reaches them. */
function recording(): { handlers: ChannelHandlers; reached: [ChannelName, unknown][] } {
  const reached: [ChannelName, unknown][] = [];
  const handlers = Object.fromEntries(
    channelNames.map((name) => [name, (argument: unknown) => void reached.push([name, argument])]),
  ) as unknown as ChannelHandlers;
  return { handlers, reached };
}

/** What each channel accepts, written independently of its check. */
function isMeant(name: ChannelName, value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  switch (name) {
    case 'setTheme':
      return ['light', 'dark', 'system'].includes(value as string);
    case 'keepKey':
      return value === null || isLine(value, 4096);
    case 'setCommands':
      return (
        Array.isArray(value) &&
        new Set(value.map((each: { id?: unknown } | null) => each?.id)).size === value.length &&
        value.every(
          (each: { id?: unknown; title?: unknown } | null) =>
            each !== null &&
            typeof each === 'object' &&
            Object.keys(each).toSorted().join() === 'id,title' &&
            (commandIds as unknown[]).includes(each.id) &&
            isLine(each.title, 200),
        )
      );
    case 'setPage': {
      if (!isObject) return false;
      const { place, title, database, unsaved, ...rest } = value as Record<string, unknown>;
      return (
        Object.keys(rest).length === 0 &&
        isLine(place, 4096) &&
        (place as string).startsWith('/') &&
        isLine(title, 300) &&
        isLine(database, 300) &&
        Array.isArray(unsaved) &&
        unsaved.length <= 20 &&
        unsaved.every((each) => isLine(each, 300))
      );
    }
    case 'dragOut': {
      if (!isObject) return false;
      const { name: file, text: content, ...rest } = value as Record<string, unknown>;
      return Object.keys(rest).length === 0 && isFileName(file) && typeof content === 'string';
    }
    case 'savePdf':
      return isFileName(value);
    case 'noteFile':
      return value === '' || isLine(value, 4096);
    case 'changeSettings': {
      if (!isObject) return false;
      const { kind, ...rest } = value as Record<string, unknown>;
      const fields = Object.keys(rest).toSorted().join();
      if (kind === 'port') return fields === 'port' && (rest['port'] === null || isPort(rest['port']));
      if (kind === 'departure')
        return fields === 'value' && (departures as readonly unknown[]).includes(rest['value']);
      if (kind === 'provider')
        return (
          fields === 'key,provider' &&
          (desktopProviderNames as unknown[]).includes(rest['provider']) &&
          (rest['key'] === null || isLine(rest['key'], 4096))
        );
      return (
        (kind === 'opensAtLogin' || kind === 'asksForReleases' || kind === 'notifiesOfWithdrawn') &&
        fields === 'value' &&
        typeof rest['value'] === 'boolean'
      );
    }
    default:
      return value === undefined;
  }
}

function isLine(line: unknown, most: number): boolean {
  return typeof line === 'string' && /^[^\p{Cc}]+$/u.test(line) && /\S/.test(line) && line.length <= most;
}

function isFileName(value: unknown): boolean {
  return (
    isLine(value, 200) &&
    !(value as string).startsWith('.') &&
    ![...(value as string)].some((each) => '/\\:*?"<>|'.includes(each))
  );
}

const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    'light',
    'dark',
    'ask',
    'keep',
    '__proto__',
    'constructor',
    'toString',
    '',
    ' ',
    'a\nb',
    '\u0000',
  ),
  fc.integer({ min: 4090, max: 4100 }).map((length) => 'k'.repeat(length)),
);
const command = fc.record(
  {
    id: fc.oneof(fc.constantFrom(...commandIds), text),
    title: fc.oneof(text, fc.integer()),
    extra: fc.constant(1),
  },
  { requiredKeys: ['id'] },
);
const change = fc.record(
  {
    kind: fc.constantFrom(
      'port',
      'opensAtLogin',
      'departure',
      'asksForReleases',
      'notifiesOfWithdrawn',
      'provider',
      '__proto__',
      'folder',
    ),
    port: fc.oneof(fc.constant(null), fc.integer({ min: -1, max: 70_000 }), fc.double(), text),
    value: fc.oneof(fc.boolean(), fc.constantFrom(...departures), text),
    provider: fc.oneof(fc.constantFrom(...desktopProviderNames), text),
    key: fc.oneof(fc.constant(null), text, fc.integer()),
    extra: fc.anything(),
  },
  { requiredKeys: ['kind'] },
);
const page = fc.record(
  {
    place: fc.oneof(
      text.map((each) => `/${each}`),
      text,
    ),
    title: text,
    database: text,
    unsaved: fc.array(text, { maxLength: 22 }),
    extra: fc.constant(1),
  },
  { requiredKeys: ['place', 'title', 'database', 'unsaved'] },
);
const dragged = fc.record({ name: fc.oneof(text, fc.constantFrom('a.txt', '../a', '.a', 'a/b')), text });
const argument = fc.oneof(
  page,
  dragged,
  fc.constant(undefined),
  fc.constant(null),
  text,
  fc.array(command, { maxLength: 40 }),
  change,
  fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true }),
);

const seed = Number(process.env['SEED'] ?? (process.env['LONG'] === '1' ? Date.now() % 1e9 : 1));

it('every channel rejects any invalid message by name and does nothing', async () => {
  let taken = 0;
  const property = fc.asyncProperty(fc.constantFrom(...channelNames), argument, async (name, value) => {
    const { handlers, reached } = recording();
    if (isMeant(name, value)) {
      await answerChannel(handlers, name, value);
      expect(reached).toEqual([[name, value]]);
      if (value !== undefined) taken++;
      return;
    }
    await expect(answerChannel(handlers, name, value)).rejects.toThrow(
      new TypeError(`the argument of ${name} is not of its kind`),
    );
    expect(reached).toEqual([]);
  });
  await fc.assert(property, { numRuns: process.env['LONG'] === '1' ? 50_000 : 1_500, seed });
  // Random messages included valid ones; otherwise the test checked nothing.
  expect(taken).toBeGreaterThan(20);
});
