import { describe, expect, it } from 'vitest';
import { readBridgeArguments, WrongUse } from './arguments.ts';

function refusal(argv: readonly string[], environment: Record<string, string> = {}): string {
  try {
    readBridgeArguments(argv, environment);
  } catch (error) {
    if (error instanceof WrongUse) return error.message;
    throw error;
  }
  return 'taken';
}

describe('the command line of the bridge', () => {
  it('defaults to the running service, database and tenant "default", and a wait of 30 s', () => {
    expect(readBridgeArguments([], {})).toEqual({
      action: 'run',
      database: 'default',
      tenant: 'default',
      url: null,
      key: null,
      mayStart: true,
      waitMs: 30_000,
    });
  });

  it('accepts database, tenant, address, wait time and whether to start the service', () => {
    const argv = [
      '--database',
      'd',
      '--tenant=t',
      '--url',
      'http://10.0.0.1:9300/',
      '--wait',
      '1.5',
      '--no-start',
    ];
    const read = readBridgeArguments(argv, {});
    expect(read).toMatchObject({ database: 'd', tenant: 't', waitMs: 1500, mayStart: false });
    expect(read.url?.href).toBe('http://10.0.0.1:9300/');
  });

  it('treats blank values and unfilled placeholders as missing', () => {
    const argv = ['--database=', '--tenant', '${user_config.tenant}', '--url='];
    const environment = { COROLLARY_API_KEY: '${user_config.key}', API_KEY: ' ' };
    expect(readBridgeArguments(argv, environment)).toEqual(readBridgeArguments([], {}));
  });

  it('takes the key from COROLLARY_API_KEY, then API_KEY, never from the command line', () => {
    expect(readBridgeArguments([], { COROLLARY_API_KEY: ' one\n', API_KEY: 'two' }).key).toBe('one');
    expect(readBridgeArguments([], { API_KEY: 'two' }).key).toBe('two');
    for (const option of ['--key', '--key=k', '--api-key', '--apikey=k'])
      expect(refusal([option])).toMatch(/COROLLARY_API_KEY/);
  });

  it('never prints a malformed key', () => {
    const said = refusal([], { COROLLARY_API_KEY: 'very secret' });
    expect(said).toMatch(/COROLLARY_API_KEY: got 11 characters/);
    expect(said).not.toContain('secret');
  });

  it('rejects invalid names, invalid addresses and unknown options', () => {
    expect(refusal(['--database', 'a b'])).toMatch(/^--database: /);
    expect(refusal(['--tenant', 'a b'])).toMatch(/^--tenant: /);
    expect(refusal(['--tenant', 'x\r\ny'])).toMatch(/^--tenant: /);
    expect(refusal(['--url', 'localhost'])).toMatch(/^--url: /);
    expect(refusal(['--url', 'http://key@host'])).toMatch(/COROLLARY_API_KEY/);
    expect(refusal(['--wait', '-1'])).not.toBe('taken');
    expect(refusal(['--wait', '4000'])).toMatch(/^--wait: /);
    expect(refusal(['--wat'])).toMatch(/--wat/);
    expect(refusal(['serve'])).toMatch(/serve/);
  });
});
