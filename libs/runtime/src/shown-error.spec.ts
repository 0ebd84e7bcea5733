import { shownError } from './shown-error.ts';

describe('shownError', () => {
  it('shows where it was thrown, and what caused it', () => {
    const shown = shownError(new Error('outer', { cause: new TypeError('inner', { cause: 'a text' }) }));
    expect(shown).toMatch(/^Error: outer\n +at [^]*\ncaused by TypeError: inner\n +at [^]*\ncaused by a text$/);
  });

  it('ends where causes do not', () => {
    const error = new Error('round');
    error.cause = error;
    expect(shownError(error).split('caused by').length).toBeLessThan(10);
  });

  it.each([
    ['mongodb://user:hunter2@host:27017/x', 'mongodb://[redacted]@host:27017/x'],
    ['key sk_live_abc-DEF is wrong', 'key sk_live_[redacted] is wrong'],
    ['whsec_a+b/c= is wrong', 'whsec_[redacted] is wrong'],
    ['Authorization: Bearer abc.def-1', 'Authorization: Bearer [redacted]'],
  ])('tells no secret in %s', (text, shown) => {
    expect(shownError(text)).toBe(shown);
    expect(shownError(new Error(text))).toContain(shown);
    expect(shownError(new Error(text))).not.toContain(text);
  });

  it('shows nothing else that an error carries', () => {
    expect(shownError(Object.assign(new Error('refused'), { config: { password: 'hunter2' } }))).not.toContain(
      'hunter2',
    );
  });
});
