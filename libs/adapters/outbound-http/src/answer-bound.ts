import type { Socket } from 'node:net';

/**
 * Read of one answer at most, whatever it consists of: status lines and headers, also those of 1xx answers, chunks with
 * their extensions, trailers. Headers and body that are kept are half of it at most.
 */
export const answerLimit = 64 * 1024;

/**
 * Read at once at most. The parser looks at all that it is given, also behind what made it give up, and undici makes an
 * error of each further header there.
 */
const pieceLimit = 512;

export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** Lets so many bytes of an answer through to its parser, and closes the socket where it wants more. */
export class AnswerBound {
  #left = answerLimit;

  /** What is read from now on belongs to another answer. */
  begin(): void {
    this.#left = answerLimit;
  }

  /** Applies from now on to what is read of this socket, decrypted. */
  watch(socket: Socket): void {
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
    let rest: Buffer | null = null;
    socket.read = (size?: number) => {
      // Not earlier: what came within the bound may be all that is wanted of the answer.
      if (this.#left < 0) socket.destroy(new AnswerTooLong());
      if (socket.destroyed) return null;
      const bytes = rest ?? read(size);
      if (bytes === null) return null;
      const piece = bytes.subarray(0, pieceLimit);
      rest = piece.length < bytes.length ? bytes.subarray(piece.length) : null;
      this.#left -= piece.length;
      return this.#left < 0 ? piece.subarray(0, this.#left) : piece;
    };
  }
}
