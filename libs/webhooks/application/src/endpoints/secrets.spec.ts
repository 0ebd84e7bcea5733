import { randomBytes } from 'node:crypto';
import { SecretBox } from './secrets.ts';

const key = randomBytes(32);
const box = new SecretBox(key);

describe('a sealed secret', () => {
  test('opens under its key and context', () => {
    const sealed = box.seal('whsec_ä', 'whe_1 secret');
    expect(sealed).not.toContain('whsec');
    expect(new SecretBox(key).open(sealed, 'whe_1 secret')).toBe('whsec_ä');
  });

  test('differs each time', () => {
    expect(box.seal('a', 'c')).not.toBe(box.seal('a', 'c'));
  });

  test('does not open in another context', () => {
    expect(() => box.open(box.seal('a', 'whe_1 secret'), 'whe_2 secret')).toThrow();
  });

  test('does not open under another key, and names the required key', () => {
    const sealed = box.seal('a', 'c');
    expect(() => new SecretBox(randomBytes(32)).open(sealed, 'c')).toThrow(/sealed with another key \([0-9a-f]{8}\)/);
  });

  test('does not open when it was altered', () => {
    const sealed = box.seal('secret', 'c');
    for (const altered of [sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA'), 'v1.x', '', 'plain']) {
      expect(() => box.open(altered, 'c')).toThrow();
    }
  });

  test('needs a key of 32 bytes', () => {
    expect(() => new SecretBox(randomBytes(16))).toThrow(RangeError);
  });
});
