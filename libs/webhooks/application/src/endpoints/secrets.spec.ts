import { randomBytes } from 'node:crypto';
import { SecretBox } from './secrets.ts';

const key = randomBytes(32);
const box = new SecretBox(key);

describe('a sealed secret', () => {
  test('opens under its key and context', () => {
    const sealed = box.sealText('whsec_ä', 'whe_1 secret');
    expect(sealed).not.toContain('whsec');
    expect(new SecretBox(key).openText(sealed, 'whe_1 secret')).toBe('whsec_ä');
  });

  test('differs each time', () => {
    expect(box.sealText('a', 'c')).not.toBe(box.sealText('a', 'c'));
  });

  test('does not open in another context', () => {
    expect(() => box.openText(box.sealText('a', 'whe_1 secret'), 'whe_2 secret')).toThrow();
  });

  test('does not open under another key, and names the required key', () => {
    const sealed = box.sealText('a', 'c');
    expect(() => new SecretBox(randomBytes(32)).openText(sealed, 'c')).toThrow(
      /sealed with another key \([0-9a-f]{8}\)/,
    );
  });

  test('does not open when it was altered', () => {
    const sealed = box.sealText('secret', 'c');
    for (const altered of [sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA'), 'v1.x', '', 'plain']) {
      expect(() => box.openText(altered, 'c')).toThrow();
    }
  });

  test('needs a key of 32 bytes', () => {
    expect(() => new SecretBox(randomBytes(16))).toThrow(RangeError);
  });
});
