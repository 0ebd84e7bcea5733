import { readFile } from 'node:fs/promises';
import type { Place } from '@tracking/contracts';
import { wordsOf } from './place-index.ts';

/** Letters alone: no word of a name has a digit. */
const FORM_OF_CODE = /^[A-Z]{5}$/;

/** Sea ports by UN/LOCODE and airports by IATA code. */
export class KnownPlaces {
  /** Lines are kept as they are and taken apart when asked for: 12,000 places cost a start a few milliseconds. */
  readonly #lines: ReadonlyMap<string, string>;
  /** Words of names that have the form of a code; made when a code that is none of these is first asked for. */
  #names: ReadonlySet<string> | undefined;

  private constructor(lines: ReadonlyMap<string, string>) {
    this.#lines = lines;
  }

  static async load(): Promise<KnownPlaces> {
    const text = await readFile(new URL('./table/places.tsv', import.meta.url), 'utf8');
    const lines = new Map<string, string>();
    for (const line of text.split('\n')) {
      const end = line.indexOf('\t');
      if (end > 0) lines.set(line.slice(0, end), line);
    }
    return new KnownPlaces(lines);
  }

  get codes(): Iterable<string> {
    return this.#lines.keys();
  }

  find(code: string): Place | undefined {
    const line = this.#lines.get(code);
    if (line === undefined) return undefined;
    const [, country = '', name = '', latitude = '', longitude = '', timezone = ''] = line.split('\t');
    return {
      code,
      name,
      country,
      latitude: latitude === '' ? null : Number(latitude),
      longitude: longitude === '' ? null : Number(longitude),
      timezone: timezone === '' ? null : timezone,
    };
  }

  /** As of `Places.isName`. */
  isName(code: string): boolean {
    return !this.#lines.has(code) && (this.#names ??= this.namesLikeCodes()).has(code);
  }

  private namesLikeCodes(): ReadonlySet<string> {
    const words = [...this.#lines.values()].flatMap((line) => wordsOf(line.split('\t')[2] ?? ''));
    return new Set(words.map((word) => word.toUpperCase()).filter((word) => FORM_OF_CODE.test(word)));
  }
}
