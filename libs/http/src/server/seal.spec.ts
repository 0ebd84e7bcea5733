import { TokenSigner } from './seal.ts';
import type { TokenPurposeAndBinding } from './seal.ts';

const SEAL: TokenPurposeAndBinding = { purpose: 'cursor', binding: 'shipments' };
const sealer = new TokenSigner(Buffer.alloc(32, 1));

describe('TokenSealer', () => {
  it('opens its own tokens', () => {
    expect(sealer.readTextOfVerifiedToken(sealer.sealTextWithMac('2026 é', SEAL), SEAL)).toBe('2026 é');
  });

  it('refuses a token with another purpose, binding or secret', () => {
    const token = sealer.sealTextWithMac('text', SEAL);
    expect(sealer.readTextOfVerifiedToken(token, { ...SEAL, purpose: 'consistency-token' })).toBeUndefined();
    expect(sealer.readTextOfVerifiedToken(token, { ...SEAL, binding: 'milestones' })).toBeUndefined();
    expect(new TokenSigner(Buffer.alloc(32, 2)).readTextOfVerifiedToken(token, SEAL)).toBeUndefined();
  });

  it('refuses a token that differs in a single character, or in length', () => {
    const token = sealer.sealTextWithMac('some text', SEAL);
    for (let place = 0; place < token.length; place++) {
      for (const other of ['A', 'B', 'Q', '_', '=', '+', ' ']) {
        const changed = token.slice(0, place) + other + token.slice(place + 1);
        if (changed !== token) expect(sealer.readTextOfVerifiedToken(changed, SEAL)).toBeUndefined();
      }
    }
    for (const changed of [token.slice(1), token.slice(0, -1), `${token}A`, `${token}=`, ` ${token}`, '']) {
      expect(sealer.readTextOfVerifiedToken(changed, SEAL)).toBeUndefined();
    }
  });

  it('refuses a text longer than any token without decoding it', () => {
    expect(sealer.readTextOfVerifiedToken(sealer.sealTextWithMac('x'.repeat(5_000), SEAL), SEAL)).toBeUndefined();
  });
});
