/**
 * Whether a value that was read from JSON has more bytes than these when written again. Counts without a stack, as JSON is
 * read: a few kilobytes can be nested more deeply than a stack holds.
 */
export function isLargerThan(bytes: number, value: unknown): boolean {
  let size = 0;
  const waiting = [value];
  while (waiting.length > 0 && size <= bytes) {
    const one = waiting.pop();
    if (Array.isArray(one)) {
      size += punctuation(one.length);
      for (const element of one) waiting.push(element);
    } else if (typeof one === 'object' && one !== null) {
      const members = Object.entries(one);
      size += punctuation(members.length);
      for (const [name, member] of members) {
        size += bytesOf(name) + COLON;
        waiting.push(member);
      }
    } else {
      size += bytesOf(one);
    }
  }
  return size > bytes;
}

const COLON = 1;

/** Brackets, and commas between what they hold. */
function punctuation(held: number): number {
  return 2 + Math.max(0, held - 1);
}

function bytesOf(plain: unknown): number {
  return Buffer.byteLength(JSON.stringify(plain));
}
