/**
 * The clock of the running service is set: contract section 16. libfaketime changes what the process reads as the wall
 * clock, and leaves its monotonic clock alone.
 */
import { expect, test } from '@playwright/test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { libfaketime } from '../scripts/debian-packages.mjs';
import { ServiceProcess } from './service.ts';

/** A service whose clock the test sets. */
class SteppedService extends ServiceProcess {
  override get environment(): Record<string, string> {
    return {
      ...super.environment,
      LD_PRELOAD: libfaketime() ?? '',
      FAKETIME_TIMESTAMP_FILE: this.#stampFile,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  get #stampFile(): string {
    return join(this.folder, 'clock');
  }

  setClock(offset: string): void {
    writeFileSync(this.#stampFile, `${offset}\n`);
  }

  async call<Body>(path: string, body?: unknown): Promise<Body> {
    const headers = { 'content-type': 'application/json', 'x-tenant-id': 't' };
    const init = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${this.url}${path}`, init);
    expect(response.status, path).toBe(200);
    return (await response.json()) as Body;
  }

  async visible(): Promise<string[]> {
    const found = await this.call<{ args: string[] }[]>('/query', { predicate: 'p', args: ['?x'] });
    return found.map(({ args }) => args[0] as string);
  }
}

test('a clock that was ahead before a start leaves no fact of a ttl immortal', { tag: '@long' }, async () => {
  test.skip(libfaketime() === null, 'libfaketime is not installed: apt-get install libfaketime');
  const service = new SteppedService();
  try {
    service.setClock('+10d');
    await service.start();
    await service.call('/tell', { predicate: 'p', args: ['five'], ttl: 5000 });
    await service.stop();
    service.setClock('+0d');
    await service.start();
    await expect.poll(() => service.visible()).toEqual([]);
  } finally {
    await service.dispose();
  }
});

test('a clock that was ten days ahead for one write, then right, leaves nothing hidden or immortal', async () => {
  test.skip(libfaketime() === null, 'libfaketime is not installed: apt-get install libfaketime');
  const service = new SteppedService();
  const offset = async (): Promise<unknown> =>
    (await service.call<{ clock?: unknown }>('/health/ready')).clock;
  try {
    service.setClock('+0d');
    await service.start();
    await service.call('/tell', { predicate: 'p', args: ['day'], ttl: 86_400_000 });
    expect(await offset()).toBeUndefined();
    service.setClock('+10d');
    await expect.poll(offset).toEqual({ offsetMs: expect.closeTo(864_000_000, -4) as unknown });
    await service.call('/tell', { predicate: 'p', args: ['ahead'] });
    await service.call('/tell', { predicate: 'p', args: ['five'], ttl: 5000 });
    expect(await service.visible()).toEqual(['ahead', 'five']);
    service.setClock('+0d');
    await expect.poll(offset).toBeUndefined();
    await service.call('/tell', { predicate: 'p', args: ['brief'], ttl: 2000 });
    await expect.poll(() => service.visible()).toEqual(['ahead', 'day']);
    expect(service.log).toMatch(/The wall clock moved forward by 864000 s[\s\S]*moved back by 864000 s/);
  } finally {
    await service.dispose();
  }
});
