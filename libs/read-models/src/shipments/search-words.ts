const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const BEYOND_ASCII = /[^\0-\x7f]/;
/** Behind every word that a word can begin: of no letter, and the last of all code points. */
const LAST = '\u{10FFFF}';

/**
 * The words of a text, in the form in which they are compared: runs of letters and digits, compatibility forms made one
 * (NFKC), whatever the case. Accents count; text that is written without spaces is one word.
 */
export function wordsOf(text: string): readonly string[] {
  return folded(text).match(WORD) ?? [];
}

/** The least text that comes behind all words which begin with this one. */
export function behindWordsWith(beginning: string): string {
  return beginning + LAST;
}

/**
 * By way of capitals, so that what has several small forms has one: `ß` is `ss`, `ς` is `σ`. The Turkish dotted capital
 * leaves its dot behind.
 */
function folded(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  const small = text.normalize('NFKC').toUpperCase().toLowerCase();
  return small.replaceAll('ς', 'σ').replaceAll('i\u0307', 'i').normalize('NFKC');
}
