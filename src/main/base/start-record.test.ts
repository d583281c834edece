import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseConfig, repeatableSettings, variableNames } from './config.ts';
import {
  readStartRecord,
  recordStart,
  type StartRecord,
  startRecordOf,
  writeStartRecord,
} from './start-record.ts';

const folder = mkdtempSync(join(tmpdir(), 'corollary-record-'));
afterAll(() => rmSync(folder, { recursive: true }));

const record: StartRecord = {
  command: '/usr/bin/node',
  args: ['/opt/headless.js', 'serve'],
  environment: { PORT: '9300' },
  needs: ['API_KEY'],
  lacks: [],
};

describe('the start record', () => {
  it('is written beside the endpoint file, readable by this user only', async () => {
    const file = startRecordOf(join(folder, 'state', 'endpoint.json'));
    expect(file).toBe(join(folder, 'state', 'service.json'));
    await writeStartRecord(file, record);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'state')).mode & 0o777).toBe(0o700);
    expect(await readStartRecord(file)).toEqual(record);
  });

  it('is ignored if it is missing, damaged or writable by others', async () => {
    const file = join(folder, 'service.json');
    expect(await readStartRecord(file)).toBeNull();
    for (const text of ['', '{', 'null', '{}', '{"command":"x"}', JSON.stringify({ ...record, args: [1] })]) {
      writeFileSync(file, text, { mode: 0o600 });
      expect(await readStartRecord(file), text).toBeNull();
    }
    writeFileSync(file, JSON.stringify(record));
    chmodSync(file, 0o600);
    expect(await readStartRecord(file)).toEqual(record);
    for (const mode of [0o620, 0o602, 0o666]) {
      chmodSync(file, mode);
      expect(await readStartRecord(file), mode.toString(8)).toBeNull();
    }
  });
});

describe('a service that an application started', () => {
  it('is restarted by that application with the same environment, without its secrets', async () => {
    const endpointFile = join(folder, 'application', 'endpoint.json');
    const config = { ...parseConfig({}, { host: '127.0.0.1', port: 0 }), endpointFile };
    const environment = { LOG_LEVEL: 'WARN', API_KEY: 'hidden' };
    await recordStart(config, { ...environment, STORAGE_DIR: '/chosen' }, 9301, {
      command: '/opt/Corollary/corollary',
      args: ['--hidden'],
      environment,
    });
    expect(await readStartRecord(startRecordOf(endpointFile))).toEqual({
      command: '/opt/Corollary/corollary',
      args: ['--hidden'],
      environment: { LOG_LEVEL: 'WARN' },
      needs: ['API_KEY'],
      lacks: [],
    });
  });
});

describe('the recorded settings', () => {
  it('contain no secrets, only their names, grouped by whether the service would be open without them', () => {
    const secrets = {
      API_KEY: 'hidden-1',
      SERVICE_ADMIN_PASS: 'hidden-2',
      ENCRYPTION_KEY: 'hidden-3',
      TLS_KEYSTORE_PASSWORD: 'hidden-4',
      ANTHROPIC_API_KEY: 'hidden-5',
      REPLICATION_API_KEY: 'hidden-6',
      LEADER_URL: 'http://user:hidden-7@leader',
    };
    const settings = repeatableSettings({ ...secrets, AUTH_ENABLED: 'true', UNKNOWN: 'x' });
    expect(settings.environment).toEqual({ AUTH_ENABLED: 'true' });
    expect(new Set(settings.needs)).toEqual(
      new Set(['API_KEY', 'SERVICE_ADMIN_PASS', 'ENCRYPTION_KEY', 'TLS_KEYSTORE_PASSWORD']),
    );
    expect(new Set(settings.lacks)).toEqual(
      new Set(['ANTHROPIC_API_KEY', 'REPLICATION_API_KEY', 'LEADER_URL']),
    );
    expect(JSON.stringify(settings)).not.toContain('hidden');
  });

  it('contain absolute paths, so they work from any directory', () => {
    const { environment } = repeatableSettings({
      STORAGE_DIR: 'data',
      TLS_KEYSTORE_PATH: '/k.p12',
      HOST: '',
    });
    expect(environment).toEqual({ STORAGE_DIR: resolve('data'), TLS_KEYSTORE_PATH: '/k.p12' });
  });

  it('include every name of a variable', () => {
    expect(variableNames()).toEqual(
      expect.arrayContaining(['PORT', 'LLM_PROVIDER_A_API_KEY', 'ANTHROPIC_API_KEY']),
    );
  });
});
