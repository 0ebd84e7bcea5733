import { checkFileName, stripPathAndNormaliseFileName } from './document.resource.ts';

it.each([
  ['invoice.pdf', 'invoice.pdf'],
  ['/etc/passwd', 'passwd'],
  ['C:\\Users\\kim\\Invoice 1.pdf', 'Invoice 1.pdf'],
  ['../../up.pdf', 'up.pdf'],
  ['u\u0308ber.pdf', '\u00fcber.pdf'],
  ['請求書.pdf', '請求書.pdf'],
  ['فاتورة.pdf', 'فاتورة.pdf'],
  [' 🚢.png ', '🚢.png'],
  ['a\u200e\u200f\u061cb.pdf', 'a\u200e\u200f\u061cb.pdf'],
])('stores %j as %j', (given, kept) => {
  expect(stripPathAndNormaliseFileName(given)).toBe(kept);
  expect(checkFileName(kept, 'file')).toEqual([]);
});

it.each([
  ['', 'invalid_value'],
  ['..', 'invalid_value'],
  ['folder/', 'invalid_value'],
  ['a\u0000b.pdf', 'invalid_value'],
  ['a\r\nSet-Cookie: x', 'invalid_value'],
  ['gpj.\u202eexe', 'invalid_value'],
  ['gpj.\u202aexe', 'invalid_value'],
  ['gpj.\u2066exe', 'invalid_value'],
  ['\ud800.pdf', 'invalid_value'],
  ['x'.repeat(256), 'too_long'],
  [undefined, 'invalid_type'],
])('refuses %j', (given, code) => {
  expect(checkFileName(stripPathAndNormaliseFileName(given), 'file')).toEqual([
    expect.objectContaining({ param: 'file', code }),
  ]);
});

it('allows 255 characters, whatever their size in bytes', () => {
  expect(checkFileName('🚢'.repeat(255), 'file')).toEqual([]);
});
