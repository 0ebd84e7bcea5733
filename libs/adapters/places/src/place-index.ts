import { type Place, splitIntoWords } from '@tracking/contracts';

/** Maximum number of entries that one search visits. For a single letter, the first matches are as good as any. */
const MAX_VISITED_PLACE_INDEX_ENTRIES = 5_000;
/** Maximum number of words in a search. No place name has more words. */
const MAX_SEARCH_WORDS = 10;

interface PlaceIndexEntry {
  readonly word: string;
  readonly code: string;
}

/** Index of places by code and by the words of their names. */
export class PlaceIndex {
  /** Entries sorted by word. */
  private readonly entries: readonly PlaceIndexEntry[];

  constructor(
    codes: Iterable<string>,
    private readonly find: (code: string) => Place | undefined,
  ) {
    const entries: PlaceIndexEntry[] = [];
    for (const code of codes) {
      entries.push({ word: code.toLowerCase(), code });
      for (const word of splitIntoWords(find(code)?.name ?? '')) entries.push({ word, code });
    }
    this.entries = entries.sort((one, other) => compareTexts(one.word, other.word));
  }

  /** Implements `PlaceDirectory.searchPlaces`. */
  searchPlaces(text: string, limit: number): readonly Place[] {
    const words = [...new Set(splitIntoWords(text))].slice(0, MAX_SEARCH_WORDS);
    // The search uses the longest word, because it is usually the most selective.
    const [longest, ...others] = words.toSorted((one, other) => other.length - one.length);
    if (longest === undefined) return [];
    const found = new Map<string, Place>();
    const first = this.findFirstEntryIndexAtOrAfterWord(longest);
    for (const { word, code } of this.entries.slice(first, first + MAX_VISITED_PLACE_INDEX_ENTRIES)) {
      if (!word.startsWith(longest)) break;
      const place = found.has(code) ? undefined : this.find(code);
      if (place !== undefined && matchesAllPrefixes(place, others)) found.set(code, place);
    }
    const asked = text.trim().toUpperCase();
    return [...found.values()]
      .sort(
        (one, other) =>
          computePlaceRank(one, asked) - computePlaceRank(other, asked) || comparePlacesByName(one, other),
      )
      .slice(0, limit);
  }

  private findFirstEntryIndexAtOrAfterWord(word: string): number {
    let [from, to] = [0, this.entries.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compareTexts(this.entries[middle]?.word ?? '', word) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

function matchesAllPrefixes({ code, name }: Place, beginnings: readonly string[]): boolean {
  const words = [code.toLowerCase(), ...splitIntoWords(name ?? '')];
  return beginnings.every((beginning) => words.some((word) => word.startsWith(beginning)));
}

function computePlaceRank({ code }: Place, asked: string): number {
  if (code === asked) return 0;
  return code.length === 5 ? 1 : 2;
}

function comparePlacesByName(one: Place, other: Place): number {
  return compareTexts(one.name ?? one.code, other.name ?? other.code) || compareTexts(one.code, other.code);
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
