import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noSettings, readSettings, type Settings, writeSettings } from './settings.ts';

let folder: string;
let warnings: string[];
const warn = (message: string) => {
  warnings.push(message);
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-settings-'));
  warnings = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const settings: Settings = {
  windows: [
    {
      place: '/facts?database=ships',
      states: [
        {
          screens: '1920x1080+0+0',
          bounds: { x: 1, y: 2, width: 900, height: 700 },
          maximized: true,
          fullScreen: false,
        },
      ],
    },
  ],
  recent: [
    { kind: 'file', path: resolve('/knowledge/family.dl') },
    { kind: 'database', folder: resolve('/knowledge/mine'), name: 'ships' },
  ],
  port: 9304,
  chosenPort: 9400,
  folder: resolve('/knowledge/mine'),
  departure: 'keep',
  asksForReleases: true,
  notifiesOfWithdrawn: false,
};

describe('the shell’s settings', () => {
  it('are read back as written, without leaving a draft file', () => {
    const file = join(folder, 'deeper', 'shell.json');
    writeSettings(file, settings, warn);
    expect(readSettings(file, warn)).toEqual(settings);
    expect(readdirSync(join(folder, 'deeper'))).toEqual(['shell.json']);
    expect(warnings).toEqual([]);
  });

  it('are empty, without a warning, before the first write', () => {
    expect(readSettings(join(folder, 'shell.json'), warn)).toEqual(noSettings);
    expect(warnings).toEqual([]);
  });

  it('are empty, with a warning, if the file is invalid', () => {
    const file = join(folder, 'shell.json');
    writeFileSync(file, '{"window": {');
    expect(readSettings(file, warn)).toEqual(noSettings);
    expect(warnings).toHaveLength(1);
  });

  it('open the window of an earlier version where it was', () => {
    const file = join(folder, 'shell.json');
    const bounds = { x: 1, y: 2, width: 900, height: 700 };
    writeFileSync(file, JSON.stringify({ window: { bounds, maximized: true } }));
    const states = [{ screens: '', bounds, maximized: true, fullScreen: false }];
    expect(readSettings(file, warn).windows).toEqual([{ place: null, states }]);
  });

  it('open no window at a place that is none, and list no file that Import does not read', () => {
    const file = join(folder, 'shell.json');
    const windows = [{ place: '/admin/keys?make=true', states: [{ bounds: 7 }] }, 7, null];
    const recent = [
      { kind: 'file', path: '/etc/passwd' },
      { kind: 'file', path: 'relative.dl' },
      { kind: 'x' },
      7,
    ];
    writeFileSync(file, JSON.stringify({ windows, recent }));
    expect(readSettings(file, warn)).toEqual({ ...noSettings, windows: [{ place: null, states: [] }] });
  });

  it('keep their valid entries', () => {
    const file = join(folder, 'shell.json');
    writeFileSync(file, '{"window": 3, "port": 9305}');
    expect(readSettings(file, warn)).toEqual({ ...noSettings, port: 9305 });
    writeFileSync(
      file,
      '{"folder": "relative", "departure": "never", "chosenPort": "9300", "asksForReleases": 1}',
    );
    expect(readSettings(file, warn)).toEqual(noSettings);
    writeFileSync(file, '{"port": 70000}');
    expect(readSettings(file, warn)).toEqual(noSettings);
  });

  it('log a warning if they cannot be written', () => {
    writeFileSync(join(folder, 'file'), '');
    writeSettings(join(folder, 'file', 'shell.json'), settings, warn);
    expect(warnings).toHaveLength(1);
  });
});
