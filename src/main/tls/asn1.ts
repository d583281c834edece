/** Reads ASN.1: node-forge's parser, and accessors that throw a KeystoreProblem in place of its errors. */
import forge from 'node-forge';
import { KeystoreProblem } from './keystore.ts';

export type Asn1 = forge.asn1.Asn1;

/** Throws a KeystoreProblem if the bytes are not exactly one ASN.1 value; a truncated file is not one. */
export function parseAsn1(bytes: Buffer): Asn1 {
  try {
    return forge.asn1.fromDer(forge.util.createBuffer(bytes.toString('latin1')), true);
  } catch (error) {
    throw new KeystoreProblem('file', 'which is damaged, or no PKCS12 key store', { cause: error });
  }
}

/** The parts of a constructed value, between `least` and `most` of them. */
export function childrenOf(node: Asn1 | undefined, least: number, most = least): Asn1[] {
  if (node === undefined || !Array.isArray(node.value)) throw misshapen();
  const { length } = node.value;
  if (length < least || length > most) throw misshapen();
  return node.value;
}

/** The bytes of a primitive value, or of an octet string in pieces. */
export function bytesOf(node: Asn1 | undefined): Buffer {
  if (node === undefined) throw misshapen();
  if (typeof node.value === 'string') return Buffer.from(node.value, 'latin1');
  return Buffer.concat(node.value.map((piece) => bytesOf(piece)));
}

/** The object identifier of a value. */
export function oidOf(node: Asn1 | undefined): string {
  if (node === undefined || typeof node.value !== 'string' || node.type !== forge.asn1.Type.OID)
    throw misshapen();
  return forge.asn1.derToOid(node.value);
}

/** A non-negative integer; Infinity if it has too many digits for a count. */
export function integerOf(node: Asn1 | undefined): number {
  if (node === undefined || typeof node.value !== 'string' || node.type !== forge.asn1.Type.INTEGER)
    throw misshapen();
  const bytes = Buffer.from(node.value, 'latin1');
  if (bytes.length === 0 || (bytes[0] ?? 0) >= 0x80) throw misshapen();
  return bytes.length > 6 ? Number.POSITIVE_INFINITY : bytes.readUIntBE(0, bytes.length);
}

/** A text of two bytes per character, or null if the value is not one. */
export function wideTextOf(node: Asn1 | undefined): string | null {
  const isText = node !== undefined && node.type === forge.asn1.Type.BMPSTRING;
  return isText && typeof node.value === 'string' ? node.value : null;
}

/** The bytes of the value, as DER. */
export function derOf(node: Asn1 | undefined): Buffer {
  if (node === undefined) throw misshapen();
  return Buffer.from(forge.asn1.toDer(node).getBytes(), 'latin1');
}

/** The problem of a value with an unexpected structure. */
export function misshapen(): KeystoreProblem {
  return new KeystoreProblem('file', 'which is damaged, or no PKCS12 key store');
}
