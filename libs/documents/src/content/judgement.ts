import type { DocumentContentType } from '@tracking/contracts';
import { ArchiveJudge } from './archive-judge.ts';
import { type Beginning, beginningOf, HEAD_BYTES } from './beginning.ts';
import { BinaryJudge } from './binary-judge.ts';
import { type ContentHint, TextJudge } from './text-judge.ts';

interface Judge {
  take(bytes: Buffer): void;
  end(): DocumentContentType | Promise<DocumentContentType>;
}

/**
 * What a file is, told by its bytes as they pass, however they are cut: its beginning, then, as its kind demands, all of
 * it or its end. Memory does not grow with the file.
 */
export class Judgement {
  private head: Buffer[] = [];
  private headBytes = 0;
  private judge: Judge | undefined;

  constructor(private readonly hint: ContentHint) {}

  /** @throws UnsupportedDocumentType as early as it can be told */
  async take(bytes: Uint8Array): Promise<void> {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.judge !== undefined) return this.judge.take(piece);
    // A copy: the source may use the memory again.
    const missing = HEAD_BYTES - this.headBytes;
    this.head.push(Buffer.from(piece.subarray(0, missing)));
    this.headBytes += Math.min(piece.length, missing);
    if (this.headBytes < HEAD_BYTES) return;
    const judge = await this.begin();
    judge.take(piece.subarray(missing));
  }

  /** After the last byte, of which there was at least one. @throws UnsupportedDocumentType */
  async end(): Promise<DocumentContentType> {
    return (this.judge ?? (await this.begin())).end();
  }

  private async begin(): Promise<Judge> {
    const head = Buffer.concat(this.head);
    this.head = [];
    this.judge = this.judgeOf(await beginningOf(head), head);
    this.judge.take(head);
    return this.judge;
  }

  private judgeOf(beginning: Beginning, head: Buffer): Judge {
    switch (beginning.kind) {
      case 'binary':
        return new BinaryJudge(beginning.contentType);
      case 'archive':
        return new ArchiveJudge(beginning.contentType);
      case 'text':
        return new TextJudge(head, this.hint);
    }
  }
}
