import { describe, expect, it } from 'vitest';
import { fetchRelease, isNewer, readRelease, releasesAddress, releaseState } from './releases.ts';

const address = 'https://releases.example/latest';
const page = 'https://releases.example/v1.2.0';

function answering(body: string, status = 200): typeof fetch {
  return async () => new Response(body, { status });
}

describe('newer versions', () => {
  it('are recognized by comparing numbers, not letters', () => {
    expect(isNewer('0.10.0', '0.9.9')).toBe(true);
    expect(isNewer('1.0.0', '0.99.99')).toBe(true);
    expect(isNewer('0.1.0', '0.1.0')).toBe(false);
    expect(isNewer('0.1.0', '0.2.0')).toBe(false);
    expect(isNewer('0.2.0-beta.1', '0.1.0')).toBe(false);
    expect(isNewer('nonsense', '0.1.0')).toBe(false);
  });

  it('are requested from the HTTPS address of the build, or not at all', () => {
    expect(releasesAddress(address)).toBe(address);
    for (const text of ['', 'http://releases.example/', 'file:///etc', 'nonsense'])
      expect(releasesAddress(text)).toBeNull();
  });

  it('are read from the response', async () => {
    const release = await fetchRelease(
      address,
      answering(JSON.stringify({ tag_name: 'v1.2.0', html_url: page })),
    );
    expect(release).toEqual({ version: '1.2.0', page });
    expect(releaseState('1.1.9', release)).toEqual({ kind: 'newer', version: '1.2.0' });
    expect(releaseState('1.2.0', release)).toEqual({ kind: 'newest' });
  });

  it.each([
    null,
    'text',
    {},
    { tag_name: 'v1.2.0' },
    { tag_name: 3, html_url: page },
    { tag_name: 'v1.2.0', html_url: 'javascript:alert(1)' },
    { tag_name: 'v1.2.0', html_url: 'file:///etc/passwd' },
    { tag_name: 'latest', html_url: page },
  ])('are not read from %j', (answer) => {
    expect(readRelease(answer)).toBeNull();
  });

  it('report a failed request with its reason', async () => {
    await expect(fetchRelease(address, answering('', 503))).rejects.toThrow('503');
    await expect(fetchRelease(address, answering('{}'))).rejects.toThrow('no version');
    await expect(fetchRelease(address, answering('<html>'))).rejects.toThrow('JSON');
    await expect(fetchRelease(address, answering(' '.repeat(1_000_001)))).rejects.toThrow('too long');
  });
});
