import { describe, expect, it } from 'vitest';
import { openedAtOf, sessionLifeSeconds, SessionTokens, type TokenClaims } from './session-store.ts';

const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
const tokens = new SessionTokens(random(32), random);
const now = 1_795_000_000;
const claims: TokenClaims = {
  openedAt: now,
  revision: '2025-11-25',
  binding: { database: 'default', tenant: 'default' },
  clientName: 'an agent',
  clientVersion: '1.2.3',
};

describe('the id of a session', () => {
  it('encodes what the session was opened for, bound to its credential', () => {
    for (const credential of [null, 'k1', 'nobody']) {
      const read = tokens.read(tokens.issue(claims, credential), now);
      expect(read).toMatchObject(claims);
      expect([null, 'k1', 'nobody', ''].map((each) => read?.isOf(each))).toEqual(
        [null, 'k1', 'nobody', ''].map((each) => each === credential),
      );
    }
  });

  it('has at most 512 visible characters, whatever the names', () => {
    const visible = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 0x21 + index));
    for (const [databaseLength, tenantLength] of [
      [128, 256],
      [128, 1],
      [1, 256],
    ] as const) {
      const binding = {
        database: 'a.b-'.repeat(32).slice(0, databaseLength),
        tenant: visible.repeat(3).slice(-tenantLength),
      };
      for (const clientName of ['', 'ü'.repeat(256), '\u{1f600}'.repeat(128)]) {
        const id = tokens.issue({ ...claims, binding, clientName, clientVersion: 'v'.repeat(64) }, 'k1');
        expect(id).toMatch(/^[\x21-\x7e]{1,512}$/);
        const read = tokens.read(id, now);
        expect(read).toMatchObject({ binding, revision: '2025-11-25' });
        expect(clientName.startsWith(read?.clientName ?? '-')).toBe(true);
        expect(read?.clientName).not.toContain('\ufffd');
      }
    }
  });

  it('reveals neither the credential nor the key', () => {
    const key = random(32);
    const id = new SessionTokens(key, random).issue(claims, 'the-id-of-a-credential');
    const bytes = Buffer.from(id.split('~')[0] ?? '', 'base64url');
    expect(bytes.includes('credential')).toBe(false);
    expect(bytes.includes(Buffer.from(key.subarray(0, 8)))).toBe(false);
  });

  it('is valid for 30 days', () => {
    const id = tokens.issue(claims, null);
    expect(tokens.read(id, now + sessionLifeSeconds - 1)).not.toBeNull();
    expect(tokens.read(id, now + sessionLifeSeconds)).toBeNull();
    expect(sessionLifeSeconds).toBe(2_592_000);
  });

  it('is invalid if any character was changed, added or removed, or with another key', () => {
    const id = tokens.issue({ ...claims, binding: { database: 'kb', tenant: 'acme' } }, 'k1');
    for (let at = 0; at < id.length; at++) {
      const other = id[at] === 'A' ? 'B' : 'A';
      expect(tokens.read(id.slice(0, at) + other + id.slice(at + 1), now)).toBeNull();
      expect(tokens.read(id.slice(0, at), now)).toBeNull();
      expect(tokens.read(id.slice(0, at) + id.slice(at + 1), now)).toBeNull();
    }
    for (const more of ['x', '~', '=']) expect(tokens.read(id + more, now)).toBeNull();
    expect(new SessionTokens(random(32), random).read(id, now)).toBeNull();
    for (const rubbish of ['', '~', '~~', 'a~b~c', 'x'.repeat(100_000), `${'A'.repeat(600)}~a~b`])
      expect(tokens.read(rubbish, now)).toBeNull();
  });

  it('is unique to each session by its start time and a random number', () => {
    const read = [1, 2].map(() => tokens.read(tokens.issue(claims, null), now)?.session ?? '');
    expect(new Set(read).size).toBe(2);
    expect(read.map(openedAtOf)).toEqual([now, now]);
  });
});
