import type { Answered } from '../call.ts';
import type { Progress } from '../http/request.ts';
import type { ReadOptions } from '../options.ts';

export interface DownloadOptions extends ReadOptions {
  /** Bytes, the last one included; without `end` to the last of all. */
  readonly range?: { readonly start: number; readonly end?: number };
  /** ETag: only where it is still that file, the range of it, else all of the present one. */
  readonly ifRange?: string;
  readonly onProgress?: (progress: Progress) => void;
}

/** A file on its way. Read `stream`, or all at once; what is not read is to be cancelled: `stream.cancel()`. */
export class Download {
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Bytes to come. */
  readonly size: number | undefined;
  readonly contentType: string;
  /** As it was uploaded; never use it as a path as it is. */
  readonly fileName: string | undefined;
  readonly etag: string | undefined;
  /** Where a range was answered: which bytes, of how many. */
  readonly range: { readonly start: number; readonly end: number; readonly total: number } | undefined;

  constructor(
    { data, headers }: Answered<ReadableStream<Uint8Array<ArrayBuffer>>>,
    onProgress?: (progress: Progress) => void,
  ) {
    const length = headers['content-length'];
    this.size = length === undefined ? undefined : Number(length);
    this.contentType = headers['content-type'] ?? 'application/octet-stream';
    this.fileName = nameIn(headers['content-disposition'] ?? '');
    this.etag = headers['etag'];
    const [, start, end, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
    this.range = total === undefined ? undefined : { start: Number(start), end: Number(end), total: Number(total) };
    this.stream = onProgress ? data.pipeThrough(counting(this.size, onProgress)) : data;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await new Response(this.stream).arrayBuffer());
  }

  async blob(): Promise<Blob> {
    const blob = await new Response(this.stream).blob();
    return blob.slice(0, blob.size, this.contentType);
  }
}

export function rangeHeaders({ range, ifRange }: DownloadOptions): Record<string, string> {
  return {
    ...(range && { Range: `bytes=${range.start}-${range.end ?? ''}` }),
    ...(ifRange !== undefined && { 'If-Range': ifRange }),
  };
}

function counting(total: number | undefined, onProgress: (progress: Progress) => void) {
  let loaded = 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (chunk, controller) => {
      loaded += chunk.length;
      onProgress({ loaded, total });
      controller.enqueue(chunk);
    },
  });
}

/** The name in any script, or else the plain one (RFC 6266). */
function nameIn(disposition: string): string | undefined {
  const [, encoded] = /filename\*=UTF-8''([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted] = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition) ?? [];
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded);
  } catch {
    // Then the plain one.
  }
  return quoted?.replaceAll(/\\(.)/g, '$1');
}
