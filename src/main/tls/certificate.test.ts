import { Buffer } from 'node:buffer';
import { createHash, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import forge from 'node-forge';
import { describe, expect, it } from 'vitest';
import { describeCertificate, outOfTime, readServerCertificate } from './certificate.ts';
import { KeystoreProblem } from './keystore.ts';
import { maxRounds } from './pkcs12.ts';

/** Created by testing/make-keystores.sh; the keys are for tests only. */
const folder = join(import.meta.dirname, 'testing', 'keystores');
const unicode = 'pässwörd 𝄞';

const stored = (name: string): Promise<Buffer> => readFile(join(folder, name));

async function problemOf(bytes: Buffer, password = 'changeit'): Promise<KeystoreProblem> {
  const error = await readServerCertificate(bytes, password).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof KeystoreProblem) return error;
  throw error ?? new Error('the key store was opened');
}

describe('PKCS12 and JKS, distinguished by content', () => {
  it.each([
    ['rsa-chain.p12', 'changeit', 'CN=rsa.test', 3],
    ['ec.p12', 'changeit', 'CN=ec.test', 1],
    ['ed25519.p12', 'changeit', 'CN=ed.test', 1],
    ['aes-128-sha512.p12', 'changeit', 'CN=ec.test', 1],
    ['sha384.p12', 'changeit', 'CN=ec.test', 1],
    ['pbes2-3des.p12', 'changeit', 'CN=ec.test', 1],
    ['open-key.p12', 'changeit', 'CN=ec.test', 1],
    ['no-checksum.p12', 'changeit', 'CN=ec.test', 1],
    ['unicode.p12', unicode, 'CN=ec.test', 1],
    ['empty-password.p12', '', 'CN=ec.test', 1],
    ['old.p12', 'changeit', 'CN=rsa.test', 3],
    ['old-3des.p12', 'changeit', 'CN=ec.test', 1],
    ['old-rc2.p12', 'changeit', 'CN=ec.test', 1],
    ['old-unicode.p12', unicode, 'CN=ec.test', 1],
    ['old-java.p12', 'changeit', 'CN=ec.test', 1],
    ['two-keys-java.p12', 'changeit', 'CN=rsa.test', 3],
    ['ec.jks', 'changeit', 'CN=ec.test', 1],
    ['two-keys.jks', 'changeit', 'CN=rsa.test', 3],
  ])('opens %s', async (name, password, subject, length) => {
    const { chain, secrets } = await readServerCertificate(await stored(name), password);
    expect(chain[0].subject).toContain(subject);
    expect(chain).toHaveLength(length);
    expect(secrets.key).toContain('-----BEGIN PRIVATE KEY-----');
    expect(secrets.cert).toBe(chain.map(String).join(''));
  });

  it.each([
    'rsa-chain.p12',
    'old.p12',
    'no-checksum.p12',
    'old-3des.p12',
    'two-keys-java.p12',
    'two-keys.jks',
  ])('reports a wrong password: %s', async (name) => {
    for (const password of ['wrong', '', 'changeiT', unicode]) {
      const problem = await problemOf(await stored(name), password);
      expect(problem.about).toBe('password');
      expect(problem.message).toMatch(/wrong|has a password/);
    }
  });

  it('accepts the empty password in both encodings', async () => {
    // The other encoding is a missing text instead of an empty one; this checksum uses it.
    const bytes = await rewritten('empty-password.p12', (pfx) => {
      const [, content, mac] = parts(pfx);
      const safes = valueOf(parts(parts(content)[1])[0]);
      const [, salt, count] = parts(mac);
      const key = pkcs12Key(
        null,
        forge.util.createBuffer(valueOf(salt)),
        3,
        Number.parseInt(forge.util.bytesToHex(valueOf(count)), 16),
        32,
        forge.md.sha256.create(),
      );
      const hmac = forge.hmac.create();
      hmac.start('sha256', key);
      hmac.update(safes);
      const digest = parts(parts(mac)[0])[1];
      if (digest !== undefined) digest.value = hmac.digest().getBytes();
    });
    // Its contents are encrypted by PBES2, for which the two are the same.
    expect((await readServerCertificate(bytes, '')).chain).toHaveLength(1);
    expect((await problemOf(bytes, 'x')).about).toBe('password');
  });
});

describe('the contents of a key store', () => {
  it('provide the first of several keys by name, and the number of others', async () => {
    for (const name of ['two-keys.jks', 'two-keys-java.p12'])
      expect(await readServerCertificate(await stored(name), 'changeit')).toMatchObject({
        alias: 'alpha',
        otherKeys: 1,
      });
  });

  it('are ordered from the certificate to its root, without unrelated certificates', async () => {
    for (const name of ['rsa-chain.p12', 'two-keys.jks']) {
      const { chain } = await readServerCertificate(await stored(name), 'changeit');
      expect(chain.map(({ subject }) => subject)).toEqual([
        'CN=rsa.test',
        'CN=Test Intermediate',
        'CN=Test Root',
      ]);
    }
  });

  it('are logged with subject and expiry of the certificate, and nothing of the key', async () => {
    const certificate = await readServerCertificate(await stored('ec.jks'), 'changeit');
    const described = describeCertificate(certificate);
    expect(described).toMatchObject({ alias: 'server', subject: 'O=Example, CN=ec.test', chain: 1 });
    expect(described['validUntil']).toMatch(/^2126-/);
    const secret = certificate.secrets.key.split('\n')[1] ?? '';
    expect(secret.length).toBeGreaterThan(20);
    expect(JSON.stringify(described)).not.toContain(secret);
  });

  it('cause a warning if the certificate has expired or is not valid yet', async () => {
    const expired = await readServerCertificate(await stored('expired.p12'), 'changeit');
    expect(outOfTime(expired, Date.now())).toContain('has expired');
    expect(outOfTime(expired, Date.parse('2020-01-15'))).toBeNull();
    expect(outOfTime(expired, Date.parse('2019-12-31'))).toContain('not valid yet');
  });
});

describe('an unusable key store', () => {
  it.each([
    ['foreign-certificate.p12', 'which has no private key'],
    ['certificates-only.jks', 'which has no private key'],
    ['ec.jceks', 'JCEKS'],
    ['ec.pem', 'openssl pkcs12 -export'],
    ['old-rc4.p12', 'keytool -importkeystore'],
  ])('is refused with what to do: %s', async (name, words) => {
    const problem = await problemOf(await stored(name));
    expect(problem.about).toBe('file');
    expect(problem.message).toContain(words);
  });

  it('is refused if the key of a JKS has a password of its own', async () => {
    const problem = await problemOf(await stored('other-key-password.jks'));
    expect(problem.about).toBe('password');
    expect(problem.message).toContain('keytool -keypasswd');
  });

  it('is refused if no certificate belongs to the key', async () => {
    const other = valueOfCertificate(await stored('root.pem'));
    const bytes = await rewritten('open-key.p12', (pfx) => replaceCertificate(pfx, other));
    const problem = await problemOf(bytes);
    expect(problem.message).toContain('no certificate belongs to the private key');
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('hello')],
    ['one byte', Buffer.from([0x30])],
    ['a JKS without end', Buffer.from('feedfeed00000002ffffffff', 'hex')],
    ['a JKS of another version', Buffer.from('feedfeed00000009', 'hex')],
    ['brackets without end', Buffer.from('3080'.repeat(50_000), 'hex')],
    ['a sequence of nothing', Buffer.from('3000', 'hex')],
  ])('is refused, whatever it is: %s', async (_name, bytes) => {
    expect((await problemOf(bytes)).about).toBe('file');
  });

  it('is refused if it has only a certificate', async () => {
    expect((await problemOf(valueOfCertificate(await stored('ec.pem')))).message).toContain('not a PKCS12');
  });

  it.each(['ec.p12', 'ec.jks', 'no-checksum.p12'])(
    'is refused if it is truncated anywhere: %s',
    async (name) => {
      const bytes = await stored(name);
      for (let length = 0; length < bytes.length; length += 11) await problemOf(bytes.subarray(0, length));
    },
  );

  it.each(['ec.p12', 'ec.jks', 'no-checksum.p12'])(
    'is refused, or opened unchanged, with any byte flipped: %s',
    async (name) => {
      const bytes = await stored(name);
      const original = (await readServerCertificate(bytes, 'changeit')).secrets.key;
      for (let at = 0; at < bytes.length; at += 13) {
        const turned = Buffer.from(bytes);
        turned[at] = (turned[at] ?? 0) ^ 0x41;
        const opened = await readServerCertificate(turned, 'changeit').catch((error: unknown) => error);
        if (!(opened instanceof KeystoreProblem))
          expect(opened).toMatchObject({ secrets: { key: original } });
      }
    },
    20_000,
  );

  it('is refused if it requests more hashing rounds than the limit', async () => {
    const setRounds = (rounds: string) => (pfx: forge.asn1.Asn1) => {
      const count = parts(parts(pfx)[2])[2];
      if (count !== undefined) count.value = forge.util.hexToBytes(rounds);
    };
    for (const rounds of ['00989681', '7fffffff', '00ffffffffffffffff', '00'])
      expect((await problemOf(await rewritten('ec.p12', setRounds(rounds)))).message).toContain(
        String(maxRounds),
      );
    expect((await problemOf(await rewritten('ec.p12', setRounds('80')))).about).toBe('file');
  });

  it('is refused if it has too many keys', async () => {
    const one = await stored('ec.jks');
    const withKeys = (count: number): Buffer => {
      const body = Buffer.concat([one.subarray(0, 12), ...Array<Buffer>(count).fill(one.subarray(12, -20))]);
      body.writeUInt32BE(count, 8);
      const digest = createHash('sha1').update(Buffer.from('changeit', 'utf16le').swap16());
      return Buffer.concat([body, digest.update('Mighty Aphrodite').update(body).digest()]);
    };
    expect(await readServerCertificate(withKeys(100), 'changeit')).toMatchObject({ otherKeys: 99 });
    expect((await problemOf(withKeys(101))).message).toContain('more than 100 private keys');
  });

  it('never reveals a key or a password in the message', async () => {
    const password = 'the-secret-password';
    for (const name of ['ec.p12', 'ec.jks', 'old.p12', 'other-key-password.jks']) {
      const { message, stack, cause } = await problemOf(await stored(name), password);
      expect(`${message} ${stack} ${String(cause)}`).not.toContain(password);
    }
  });
});

type Asn1 = forge.asn1.Asn1;
type Bytes = forge.util.ByteBuffer;

/** node-forge's key derivation, which its types leave out. */
const { generatePkcs12Key: pkcs12Key } = Reflect.get(forge, 'pbe') as {
  generatePkcs12Key(
    password: string | null,
    salt: Bytes,
    purpose: number,
    rounds: number,
    length: number,
    digest: forge.md.MessageDigest,
  ): Bytes;
};

/** The key store with its outermost structure changed; a checksum is not recomputed. */
async function rewritten(name: string, change: (pfx: Asn1) => void): Promise<Buffer> {
  const pfx = forge.asn1.fromDer((await stored(name)).toString('latin1'));
  change(pfx);
  return Buffer.from(forge.asn1.toDer(pfx).getBytes(), 'latin1');
}

function parts(node: Asn1 | undefined): Asn1[] {
  return Array.isArray(node?.value) ? node.value : [];
}

function valueOf(node: Asn1 | undefined): string {
  return typeof node?.value === 'string' ? node.value : '';
}

function valueOfCertificate(pem: Buffer): Buffer {
  return Buffer.from(new X509Certificate(pem).raw);
}

/** In a file whose safes are not encrypted; removes the checksum, since it would no longer match. */
function replaceCertificate(pfx: Asn1, der: Buffer): void {
  const content = parts(parts(pfx)[1])[1];
  const octets = parts(content)[0];
  const safes = forge.asn1.fromDer(valueOf(octets));
  for (const safe of parts(safes)) {
    const inner = parts(parts(safe)[1])[0];
    const bags = forge.asn1.fromDer(valueOf(inner));
    for (const bag of parts(bags)) {
      const [id, value] = parts(parts(parts(bag)[1])[0]);
      const certificate = parts(value)[0];
      if (id === undefined || certificate === undefined) continue;
      if (forge.asn1.derToOid(valueOf(id)) === forge.pki.oids['x509Certificate'])
        certificate.value = der.toString('latin1');
    }
    if (inner !== undefined) inner.value = forge.asn1.toDer(bags).getBytes();
  }
  if (octets !== undefined) octets.value = forge.asn1.toDer(safes).getBytes();
  parts(pfx).length = 2;
}
