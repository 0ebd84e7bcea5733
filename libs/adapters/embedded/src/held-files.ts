import { closeSync, fstatSync, openSync, statSync, type Stats } from 'node:fs';
import { basename } from 'node:path';

interface Held {
  readonly path: string;
  readonly descriptor: number;
  /** As it was seen last. */
  seen: Stats;
}

/**
 * Checks whether the open files are still those that their names lead to. SQLite does not notice when somebody removes or
 * replaces them, and what it writes to them from then on is gone when the process ends.
 */
export class HeldFiles {
  private readonly held: readonly Held[];

  /** @param paths files that SQLite has open, and keeps */
  constructor(paths: readonly string[]) {
    this.held = paths.map((path) => {
      const descriptor = openSync(path, 'r');
      return { path, descriptor, seen: fstatSync(descriptor) };
    });
  }

  /** Which of them is gone or another one; null while all are there. */
  get fault(): string | null {
    const lost = this.held.find((one) => !isThere(one));
    return lost === undefined ? null : `${basename(lost.path)} was removed or replaced while it was in use`;
  }

  /** Only when SQLite has closed them: closing a descriptor drops the locks of the whole process (POSIX). */
  close(): void {
    for (const { descriptor } of this.held) closeSync(descriptor);
  }
}

function isThere(held: Held): boolean {
  const named = statSync(held.path, { throwIfNoEntry: false });
  if (named === undefined) return false;
  if (isSame(named, held.seen)) return true;
  // Some file systems number files anew when they have forgotten them.
  held.seen = fstatSync(held.descriptor);
  return isSame(named, held.seen);
}

function isSame(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}
