import { DomainError, type FieldErrorCode, type ItemPage, type PageRequest } from '@tracking/contracts';
import type { Collection, Document, Filter, Scalar } from '@tracking/ports';

const MAX_LENGTH = 100;

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
export function normalizeName(text: string): string {
  const name = text.trim().normalize('NFC');
  if (name === '') throw invalidNameError('required', 'Must not be blank.');
  if ([...name].length > MAX_LENGTH) throw invalidNameError('too_long', `Must have at most ${MAX_LENGTH} characters.`);
  if (hasHiddenCharacters(name)) throw invalidNameError('invalid_value', HIDDEN_CHARACTERS_MESSAGE);
  return name;
}

function invalidNameError(code: FieldErrorCode, message: string): DomainError {
  return new DomainError('validation_failed', 'The name is not valid.', [{ param: 'name', code, message }]);
}

interface CreatedRecord extends Document {
  readonly created_at: string;
}

/**
 * Returns a page of the matching documents, newest first. The index has the fields that the filter compares for
 * equality, then `created_at` and `id`.
 */
export async function readNewestPage<T extends CreatedRecord>(
  collection: Collection<T>,
  filter: Filter,
  { limit, after }: PageRequest,
): Promise<ItemPage<T>> {
  const sort = { fields: ['created_at', 'id'], descending: true };
  const found = await collection.find({ filter, sort, limit: limit + 1, ...(after && { after }) });
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? toCursor(items.at(-1)) : null };
}

/** Number of documents read at once by `readNewestPageOfWanted`. */
const SCAN_BATCH_SIZE = 200;

/**
 * Like `readNewestPage`, but for conditions that no filter can express: lists the results of `wanted` that are not
 * undefined. Only for small collections that people fill by hand.
 */
export async function readNewestPageOfWanted<T extends CreatedRecord, R extends CreatedRecord>(
  collection: Collection<T>,
  filter: Filter,
  { limit, after }: PageRequest,
  wanted: (documents: readonly T[]) => Promise<readonly R[]>,
): Promise<ItemPage<R>> {
  const items: R[] = [];
  let place = after;
  for (;;) {
    const page = await readNewestPage(collection, filter, { limit: SCAN_BATCH_SIZE, ...(place && { after: place }) });
    items.push(...(await wanted(page.items)));
    if (items.length > limit) return { items: items.slice(0, limit), next: toCursor(items[limit - 1]) };
    if (page.next === null) return { items, next: null };
    place = page.next;
  }
}

function toCursor(last: CreatedRecord | undefined): readonly string[] | null {
  return last ? [last.created_at, last.id] : null;
}

const READ_BATCH_SIZE = 500;

/**
 * Returns every matching document, sorted by fields of which the last is `id`. For small collections that people fill
 * by hand: workspaces, keys.
 */
export async function findAll<T extends Document>(
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
      limit: READ_BATCH_SIZE,
      ...(after && { after }),
    });
    all.push(...page);
    const last = page.at(-1);
    if (!last || page.length < READ_BATCH_SIZE) return all;
    after = sortedBy.map((field) => last[field] as Scalar);
  }
}
