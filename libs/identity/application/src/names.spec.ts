import { DomainError } from '@tracking/contracts';
import { validateAndTrimStoredName } from './records.ts';

describe('a name', () => {
  it.each([
    ['as it is', 'TMS', 'TMS'],
    ['trimmed', ' TMS ', 'TMS'],
    ['composed', 'Zu\u0308rich', 'Z\u00fcrich'],
    ['of 100 letters', 'ü'.repeat(100), 'ü'.repeat(100)],
    ['with an emoji', 'Port \u2693\ufe0f', 'Port \u2693\ufe0f'],
    ['of 100 characters beyond the first plane', '🚢'.repeat(100), '🚢'.repeat(100)],
  ])('is stored %s', (_, given, stored) => expect(validateAndTrimStoredName(given)).toBe(stored));

  it.each([
    ['blank', ' ', 'required'],
    ['of 101 letters', 'x'.repeat(101), 'too_long'],
    ['of 101 characters beyond the first plane', '🚢'.repeat(101), 'too_long'],
    ['with a control character', 'a\u0007b', 'invalid_value'],
    ['with half a surrogate pair', 'a\ud83d', 'invalid_value'],
    ['with a zero-width space', 'An\u200bn', 'invalid_value'],
    ['with a zero-width joiner', 'An\u200dn', 'invalid_value'],
    ['with a byte order mark', 'An\ufeffn', 'invalid_value'],
    ['with a soft hyphen', 'An\u00adn', 'invalid_value'],
    ['with a direction override', 'Ann\u202etxt', 'invalid_value'],
    ['with a direction isolate', 'Ann\u2066', 'invalid_value'],
    ['with a direction mark', 'Ann\u200e', 'invalid_value'],
    ['with a variation selector behind a letter', 'Ann\ufe0f', 'invalid_value'],
    ['made of Hangul fillers', '\u3164', 'invalid_value'],
  ])('is refused if it is %s', (_, given, code) => {
    let refusal: unknown;
    try {
      validateAndTrimStoredName(given);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(DomainError);
    expect((refusal as DomainError).details).toMatchObject([{ param: 'name', code }]);
  });
});
