import { DomainError, type FieldError, type ItemPage, type PageRequest } from '@tracking/contracts';
import type { Collection, Document, Filter, Scalar } from '@tracking/ports';

const MAX_NAME_LENGTH = 100;

/** Message for text with {@link hasHiddenCharacters}. */
export const HIDDEN_CHARACTERS_MESSAGE = 'Must not contain control, invisible or direction characters.';

/**
 * Returns true if the text contains characters that are not visible, so that it could look like another text: control
 * and format characters, such as zero-width and direction characters, and unpaired surrogates. The variation selector
 * of an emoji is allowed.
 */
export function hasHiddenCharacters(text: string): boolean {
  const plain = text.replace(/(\p{Extended_Pictographic})\uFE0F/gu, '$1');
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(plain);
}

/**
 * Returns a name in its stored form: trimmed, in Unicode's composed form, 1 to 100 characters (code points) without
 * hidden characters.
 * @throws DomainError `validation_failed` naming `name`
 */
export function validateAndTrimStoredName(text: string): string {
  const fault = describeNameFault(text);
  if (fault) throw new DomainError('validation_failed', 'The name is not valid.', [{ param: 'name', ...fault }]);
  return text.trim().normalize('NFC');
}

/** Returns the fault of a name; undefined if it is valid. */
export function describeNameFault(text: string): Fault | undefined {
  const name = text.trim().normalize('NFC');
  if (name === '') return { code: 'required', message: 'Must not be blank.' };
  if ([...name].length > MAX_NAME_LENGTH)
    return { code: 'too_long', message: `Must have at most ${MAX_NAME_LENGTH} characters.` };
  return hasHiddenCharacters(name) ? { code: 'invalid_value', message: HIDDEN_CHARACTERS_MESSAGE } : undefined;
}

/** The fault of a field. */
export type Fault = Pick<FieldError, 'code' | 'message'>;

interface RecordWithCreationTime extends Document {
  readonly created_at: string;
}

/**
 * Returns a page of the matching documents, newest first. The index has the fields that the filter compares for
 * equality, then `created_at` and `id`.
 */
export async function readPageNewestFirst<T extends RecordWithCreationTime>(
  collection: Collection<T>,
  filter: Filter,
  { limit, after }: PageRequest,
): Promise<ItemPage<T>> {
  const sort = { fields: ['created_at', 'id'], descending: true };
  const found = await collection.find({ filter, sort, limit: limit + 1, ...(after && { after }) });
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? createPageCursor(items.at(-1)) : null };
}

/** Number of documents read at once by `readFilteredPageNewestFirst`. */
const DOCUMENTS_READ_AT_ONCE_FOR_FILTERED_PAGE = 200;

/**
 * Like `readPageNewestFirst`, but for conditions that no filter can express: lists the results of `wanted` that are not
 * undefined. Only for small collections that people fill by hand.
 */
export async function readFilteredPageNewestFirst<T extends RecordWithCreationTime, R extends RecordWithCreationTime>(
  collection: Collection<T>,
  filter: Filter,
  { limit, after }: PageRequest,
  wanted: (documents: readonly T[]) => Promise<readonly R[]>,
): Promise<ItemPage<R>> {
  const items: R[] = [];
  let place = after;
  for (;;) {
    const page = await readPageNewestFirst(collection, filter, {
      limit: DOCUMENTS_READ_AT_ONCE_FOR_FILTERED_PAGE,
      ...(place && { after: place }),
    });
    items.push(...(await wanted(page.items)));
    if (items.length > limit) return { items: items.slice(0, limit), next: createPageCursor(items[limit - 1]) };
    if (page.next === null) return { items, next: null };
    place = page.next;
  }
}

function createPageCursor(last: RecordWithCreationTime | undefined): readonly string[] | null {
  return last ? [last.created_at, last.id] : null;
}

const ITEMS_PER_READ = 500;

/**
 * Returns every matching document, sorted by fields of which the last is `id`. For small collections that people fill
 * by hand: workspaces, keys.
 */
export async function findAllMatchingDocuments<T extends Document>(
  collection: Collection<T>,
  filter: Filter,
  sortedBy: readonly (keyof T & string)[],
): Promise<readonly T[]> {
  const all: T[] = [];
  let after: readonly Scalar[] | undefined;
  for (;;) {
    const page = await collection.find({
      filter,
      sort: { fields: sortedBy },
      limit: ITEMS_PER_READ,
      ...(after && { after }),
    });
    all.push(...page);
    const last = page.at(-1);
    if (!last || page.length < ITEMS_PER_READ) return all;
    after = sortedBy.map((field) => last[field] as Scalar);
  }
}
