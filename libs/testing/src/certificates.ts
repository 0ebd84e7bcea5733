import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';

/** A certificate for tests with its key, both PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

interface CertificateRequest {
  /** Host names and addresses that the certificate is for. */
  readonly names?: readonly string[];
  /** The authority that signs it; without one it signs itself. */
  readonly issuer?: TestAuthority;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/** Signs certificates for tests. Its own is to be trusted by the client under test. */
interface TestAuthority extends TestCertificate {
  readonly subject: Buffer;
  readonly privateKey: KeyObject;
}

const dayMs = 86_400_000;

export function createAuthority(name = 'Test authority'): TestAuthority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = distinguishedName(name);
  const extensions = [extension(oid.basicConstraints, true, sequence(boolean(true)))];
  const cert = certificate({ subject, issuer: subject, publicKey, signer: privateKey, extensions });
  return { cert, key: pemKey(privateKey), subject, privateKey };
}

/** @returns a server's certificate, valid from yesterday until tomorrow unless told */
export function issueCertificate(request: CertificateRequest = {}): TestCertificate {
  const { names = ['localhost', '127.0.0.1', '::1'], issuer, notBefore, notAfter } = request;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = distinguishedName(names[0] ?? 'nobody');
  const cert = certificate({
    subject,
    issuer: issuer?.subject ?? subject,
    publicKey,
    signer: issuer?.privateKey ?? privateKey,
    extensions: [extension(oid.subjectAltName, false, sequence(...names.map(alternativeName)))],
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(notAfter === undefined ? {} : { notAfter }),
  });
  return { cert, key: pemKey(privateKey) };
}

// X.509 v3 as RFC 5280 says, in the little of DER that it takes.

const oid = {
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

function certificate(parts: CertificateParts): string {
  const now = Date.now();
  const { notBefore = new Date(now - dayMs), notAfter = new Date(now + dayMs) } = parts;
  const algorithm = sequence(objectId(oid.ecdsaWithSha256));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    parts.issuer,
    sequence(time(notBefore), time(notAfter)),
    parts.subject,
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...parts.extensions)),
  );
  const signature = sign('sha256', toBeSigned, parts.signer);
  const whole = sequence(toBeSigned, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const prefix =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(prefix), content]);
}
function sequence(...items: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(items));
}
function objectId(bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}
function boolean(value: boolean): Buffer {
  return der(0x01, Buffer.from([value ? 0xff : 0]));
}
/** GeneralizedTime, whole seconds. */
function time(at: Date): Buffer {
  return der(0x18, Buffer.from(at.toISOString().replace(/[-:T]|\.\d+/g, '')));
}
function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(objectId(oid.commonName), der(0x0c, Buffer.from(commonName)))));
}
function extension(id: readonly number[], critical: boolean, value: Buffer): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), der(0x04, value));
}
function alternativeName(name: string): Buffer {
  if (isIPv4(name)) return der(0x87, Buffer.from(name.split('.').map(Number)));
  return isIPv6(name) ? der(0x87, ipv6Bytes(name)) : der(0x82, Buffer.from(name));
}
function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const before = groups(head);
  const after = groups(tail ?? '');
  const all = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
function pemKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
