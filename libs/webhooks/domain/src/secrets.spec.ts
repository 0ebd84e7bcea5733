import { MAX_VALID_SECRETS, type SecretPeriod, rotated, validSecrets } from './secrets.ts';

const at = (hours: number) => new Date(Date.UTC(2026, 0, 1, hours)).toISOString();
const secret = (created: number, expires: number | null = null): SecretPeriod => ({
  created_at: at(created),
  expires_at: expires === null ? null : at(expires),
});
const ends = (secrets: readonly SecretPeriod[]) =>
  secrets.map(({ expires_at }) => expires_at && new Date(expires_at).getUTCHours());

describe('a secret', () => {
  test('is valid until it expires, to the millisecond', () => {
    const secrets = [secret(2), secret(1, 3)];
    expect(validSecrets(secrets, new Date(Date.parse(at(3)) - 1).toISOString())).toEqual(secrets);
    expect(validSecrets(secrets, at(3))).toEqual([secret(2)]);
    const stored = { created_at: at(0) } as SecretPeriod;
    expect(validSecrets([stored], at(3))).toEqual([stored]);
    expect(ends(rotated([stored], secret(1), at(5)))).toEqual([null, 5]);
  });
});

describe('rotating', () => {
  test('puts a fresh one before the old one, which is valid to the end of the overlap', () => {
    expect(rotated([secret(0)], secret(1), at(5))).toEqual([secret(1), secret(0, 5)]);
  });

  test('leaves the fresh one alone where there is no overlap', () => {
    expect(rotated([secret(0), secret(0, 9)], secret(1), at(1))).toEqual([secret(1)]);
  });

  test('shortens what former rotations granted, and never lengthens it', () => {
    expect(ends(rotated([secret(3), secret(2, 12), secret(1, 6)], secret(4), at(8)))).toEqual([null, 8, 8, 6]);
  });

  test('drops what expired', () => {
    expect(ends(rotated([secret(3), secret(1, 4)], secret(4), at(8)))).toEqual([null, 8]);
  });

  test('keeps at most five, the newest', () => {
    let secrets: readonly SecretPeriod[] = [secret(0)];
    for (let hour = 1; hour < 8; hour += 1) secrets = rotated(secrets, secret(hour), at(20));
    expect(secrets).toHaveLength(MAX_VALID_SECRETS);
    expect(secrets.map(({ created_at }) => created_at)).toEqual([7, 6, 5, 4, 3].map(at));
  });
});
