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
  window: { bounds: { x: 1, y: 2, width: 900, height: 700 }, maximized: true },
  port: 9304,
  chosenPort: 9400,
  folder: resolve('/knowledge/mine'),
  departure: 'keep',
  asksForReleases: true,
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
