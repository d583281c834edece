/**
 * A key store, from bytes to what is in it: private keys with their names, and certificates.
 *
 * PKCS12 and JKS are told apart by content, never by the name of the file. What is neither is recognised as far as it
 * can be, and refused with the command that makes a PKCS12 file of it. All work is bounded: a file of any content ends
 * in an answer or in a KeystoreProblem, without holding the thread.
 */
import { openJks } from './jks.ts';
import type { Keystore } from './keystore.ts';
import { KeystoreProblem } from './keystore-problem.ts';
import { openPkcs12 } from './pkcs12.ts';

/** Rejects with a KeystoreProblem. */
export async function openKeystore(bytes: Buffer, password: string): Promise<Keystore> {
  if (bytes.length === 0) throw new KeystoreProblem('file', 'which is empty');
  const magic = bytes.length < 4 ? 0 : bytes.readUInt32BE(0);
  if (magic === 0xfeedfeed) return openJks(bytes, password);
  if (magic === 0xcececece)
    throw new KeystoreProblem(
      'file',
      'which is a JCEKS key store; make a PKCS12 of it: keytool -importkeystore -srckeystore FILE -srcstoretype jceks -destkeystore keystore.p12 -deststoretype pkcs12',
    );
  if (bytes.subarray(0, 65_536).includes('-----BEGIN '))
    throw new KeystoreProblem(
      'file',
      'which is PEM; make a PKCS12 of key and certificates: openssl pkcs12 -export -inkey key.pem -in certificates.pem -out keystore.p12',
    );
  if (bytes[0] === 0x30) return openPkcs12(bytes, password);
  throw new KeystoreProblem('file', 'which is neither PKCS12 nor JKS');
}
