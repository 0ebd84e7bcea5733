import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';

/** A test certificate with its private key, both in PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

interface CertificateRequest {
  /** Host names and addresses of the certificate. */
  readonly names?: readonly string[];
  /** Authority that signs the certificate. If absent, the certificate is self-signed. */
  readonly issuer?: TestCertificateAuthority;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** An authority that signs test certificates. The client under test must trust its certificate. */
interface TestCertificateAuthority extends TestCertificate {
  readonly subject: Buffer;
  readonly privateKey: KeyObject;
}

const DAY_MS = 86_400_000;

export function createCertificateAuthority(name = 'Test authority'): TestCertificateAuthority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = encodeDistinguishedName(name);
  const extensions = [
    encodeCertificateExtension(
      X509_OBJECT_IDENTIFIERS.basicConstraints,
      true,
      encodeDerSequence(encodeDerBoolean(true)),
    ),
  ];
  const cert = encodeCertificate({ subject, issuer: subject, publicKey, signer: privateKey, extensions });
  return { cert, key: exportPemKey(privateKey), subject, privateKey };
}

/** @returns a server certificate, valid from yesterday until tomorrow by default */
export function issueCertificate(request: CertificateRequest = {}): TestCertificate {
  const { names = ['localhost', '127.0.0.1', '::1'], issuer, notBefore, notAfter } = request;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = encodeDistinguishedName(names[0] ?? 'nobody');
  const cert = encodeCertificate({
    subject,
    issuer: issuer?.subject ?? subject,
    publicKey,
    signer: issuer?.privateKey ?? privateKey,
    extensions: [
      encodeCertificateExtension(
        X509_OBJECT_IDENTIFIERS.subjectAltName,
        false,
        encodeDerSequence(...names.map(encodeAlternativeName)),
      ),
    ],
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(notAfter === undefined ? {} : { notAfter }),
  });
  return { cert, key: exportPemKey(privateKey) };
}

// Encoder of X.509 v3 certificates (RFC 5280) with the necessary subset of DER.

const X509_OBJECT_IDENTIFIERS = {
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  commonName: [0x55, 0x04, 0x03],
  basicConstraints: [0x55, 0x1d, 0x13],
  subjectAltName: [0x55, 0x1d, 0x11],
};

interface CertificateParts {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

function encodeCertificate(parts: CertificateParts): string {
  const now = Date.now();
  const { notBefore = new Date(now - DAY_MS), notAfter = new Date(now + DAY_MS) } = parts;
  const algorithm = encodeDerSequence(encodeAsn1ObjectIdentifier(X509_OBJECT_IDENTIFIERS.ecdsaWithSha256));
  const toBeSigned = encodeDerSequence(
    encodeDer(0xa0, encodeDer(0x02, Buffer.from([2]))), // version 3
    encodeDer(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    parts.issuer,
    encodeDerSequence(encodeGeneralizedTime(notBefore), encodeGeneralizedTime(notAfter)),
    parts.subject,
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(0xa3, encodeDerSequence(...parts.extensions)),
  );
  const signature = sign('sha256', toBeSigned, parts.signer);
  const whole = encodeDerSequence(toBeSigned, algorithm, encodeDer(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function encodeDer(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const prefix =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(prefix), content]);
}
function encodeDerSequence(...items: readonly Buffer[]): Buffer {
  return encodeDer(0x30, Buffer.concat(items));
}
function encodeAsn1ObjectIdentifier(bytes: readonly number[]): Buffer {
  return encodeDer(0x06, Buffer.from(bytes));
}
function encodeDerBoolean(value: boolean): Buffer {
  return encodeDer(0x01, Buffer.from([value ? 0xff : 0]));
}
/** Encodes a GeneralizedTime in whole seconds. */
function encodeGeneralizedTime(at: Date): Buffer {
  return encodeDer(0x18, Buffer.from(at.toISOString().replace(/[-:T]|\.\d+/g, '')));
}
function encodeDistinguishedName(commonName: string): Buffer {
  return encodeDerSequence(
    encodeDer(
      0x31,
      encodeDerSequence(
        encodeAsn1ObjectIdentifier(X509_OBJECT_IDENTIFIERS.commonName),
        encodeDer(0x0c, Buffer.from(commonName)),
      ),
    ),
  );
}
function encodeCertificateExtension(id: readonly number[], critical: boolean, value: Buffer): Buffer {
  return encodeDerSequence(
    encodeAsn1ObjectIdentifier(id),
    ...(critical ? [encodeDerBoolean(true)] : []),
    encodeDer(0x04, value),
  );
}
function encodeAlternativeName(name: string): Buffer {
  if (isIPv4(name)) return encodeDer(0x87, Buffer.from(name.split('.').map(Number)));
  return isIPv6(name) ? encodeDer(0x87, parseIpv6(name)) : encodeDer(0x82, Buffer.from(name));
}
function parseIpv6(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const before = groups(head);
  const after = groups(tail ?? '');
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
function exportPemKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
