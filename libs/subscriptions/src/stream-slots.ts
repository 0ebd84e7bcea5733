import { doesPartitionKeyContainLayoutVersion } from './checkpoint.ts';
import { createPartitionOfStreamPrefixes, type StreamPartition } from './subscriber.ts';

/** Characters that can follow the prefix of a stream name. Streams are distributed evenly over them. */
export const STREAM_NAME_CHARACTERS = [...'abcdefghijklmnopqrstuvwxyz234567'];
/** Numbers of partitions into which the characters can be divided evenly. */
export const ALLOWED_PARTITION_COUNTS: readonly number[] = [1, 2, 4, 8, 16, 32];
/** Number of partitions of a subscriber in the distributed system until an operator requests another number. */
export const DEFAULT_PARTITIONS = 16;
/**
 * Number of slots. A slot contains the streams with one character after the prefix. Partitions consist of whole slots,
 * so that progress in slots remains true when the partitions change.
 */
export const STREAM_SLOT_COUNT = STREAM_NAME_CHARACTERS.length;
const ALL_STREAM_SLOTS: readonly number[] = STREAM_NAME_CHARACTERS.map((_, slot) => slot);

/**
 * Divides all streams with the prefix into partitions by the next character of their names. Keys of partitions contain
 * the version of their layout, because a checkpoint of an earlier layout must not be used again. The exception is a
 * single partition, which has the key that releases without layouts use.
 * @param count one of {@link ALLOWED_PARTITION_COUNTS}
 */
export function splitStreamsIntoPartitions(
  prefix: string,
  { partitions: count, version }: { readonly partitions: number; readonly version: number },
): readonly StreamPartition[] {
  if (count === 1) return [createPartitionOfStreamPrefixes([prefix])];
  const size = STREAM_NAME_CHARACTERS.length / count;
  return Array.from({ length: count }, (_, at) => {
    const characters = STREAM_NAME_CHARACTERS.slice(at * size, (at + 1) * size);
    const range = [...new Set([characters[0], characters.at(-1)])].join('-');
    return { key: `v${version}.${prefix}${range}`, streamPrefixes: characters.map((character) => prefix + character) };
  });
}

/**
 * Returns the slots of a partition of any layout; none for a key that no layout has.
 * @param key key of a partition from {@link splitStreamsIntoPartitions} with the prefix
 */
export function listSlotsOfPartition(key: string, prefix: string): readonly number[] {
  if (key === prefix) return ALL_STREAM_SLOTS;
  if (!doesPartitionKeyContainLayoutVersion(key)) return [];
  const [, range = ''] = key.split(`.${prefix}`);
  const [first = '', last = first] = range.split('-');
  const from = STREAM_NAME_CHARACTERS.indexOf(first);
  return from < 0 ? [] : ALL_STREAM_SLOTS.slice(from, STREAM_NAME_CHARACTERS.indexOf(last) + 1);
}

/** Returns the slot of a stream; all slots for a name that only a single partition can contain. */
export function computeSlotsOfStream(stream: string, prefix: string): readonly number[] {
  const slot = stream.startsWith(prefix) ? STREAM_NAME_CHARACTERS.indexOf(stream.charAt(prefix.length)) : -1;
  return slot < 0 ? ALL_STREAM_SLOTS : ALL_STREAM_SLOTS.slice(slot, slot + 1);
}
