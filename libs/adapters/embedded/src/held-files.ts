import { closeSync, fstatSync, openSync, statSync, type Stats } from 'node:fs';
import { basename } from 'node:path';

interface Held {
  readonly path: string;
  readonly descriptor: number;
  /** As it was seen last. */
  seen: Stats;
}

/**
 * The files that are written, as they are open: whether they are still what their names lead to. Whoever removes or
 * replaces them under a process that has them open is not noticed by SQLite, and what it writes ends with the process.
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
