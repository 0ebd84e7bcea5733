import { prefixUpperBound, splitIntoWords } from './shipment-terms.ts';

describe('words', () => {
  it.each<[string, string, readonly string[]]>([
    ['letters and digits', 'PO-88213/a b_c', ['po', '88213', 'a', 'b', 'c']],
    ['whatever the case', 'MAERSK Honam', ['maersk', 'honam']],
    ['none in punctuation', ' -./()#… ', []],
    ['none in nothing', '', []],
    ['compatibility forms as what they stand for', 'ＭＡＥＵ ﬁve ①', ['maeu', 'five', '1']],
    ['accents as they are, however they are written', 'Café Cafe\u0301 Cafe', ['café', 'café', 'cafe']],
    ['what has several small forms', 'Straße STRASSE ΟΔΟΣ οδος', ['strasse', 'strasse', 'οδοσ', 'οδοσ']],
    ['the Turkish i', 'İSTANBUL Istanbul', ['istanbul', 'istanbul']],
    ['Cyrillic', 'ООО «Ромашка»', ['ооо', 'ромашка']],
    ['text without spaces as one', '上海国际港务 東京', ['上海国际港务', '東京']],
    ['marks within words', 'हिन्दी', ['हिन्दी']],
    ['letters beyond the basic plane', '𠜎𠜱 x', ['𠜎𠜱', 'x']],
  ])('are %s', (_title, text, words) => {
    expect(splitIntoWords(text)).toEqual(words.map((word) => word.normalize('NFKC')));
  });

  it('splitting a word returns the word itself', () => {
    for (const text of ['Straße', 'ΐ ŉ ǰ', 'İI', 'Ω K', 'ﬀ', 'ß'.repeat(1_000)]) {
      const words = splitIntoWords(text);
      expect(splitIntoWords(words.join(' '))).toEqual(words);
    }
  });

  it('sort before the end of their prefixes', () => {
    for (const [beginning, word] of [
      ['a', 'a'],
      ['a', 'az'],
      ['a', 'a\u{2FA1D}'],
      ['中', '中\u{20000}'],
    ] as const) {
      expect(Buffer.compare(Buffer.from(word), Buffer.from(beginning))).toBeGreaterThanOrEqual(0);
      expect(Buffer.compare(Buffer.from(word), Buffer.from(prefixUpperBound(beginning)))).toBe(-1);
    }
    expect(Buffer.compare(Buffer.from('b'), Buffer.from(prefixUpperBound('a')))).toBe(1);
  });
});
