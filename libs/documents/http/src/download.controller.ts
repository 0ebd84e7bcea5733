import { Readable } from 'node:stream';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { DOCUMENT_CONTENT_TYPES, type DocumentRecord, isPresent } from '@tracking/contracts';
import { names, Operation, refusal, RequestError } from '@tracking/http';
import type { ObjectContent } from '@tracking/ports';
import contentDisposition from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ByteRange, byteRange } from './byte-range.ts';
import { type DocumentIds, DOCUMENT_IDS } from './document-ids.pipe.ts';
import { DocumentReader } from './document-reader.ts';
import { DocumentStorage } from './document-storage.ts';

/** A client that takes nothing for so long has gone, in milliseconds. */
const IDLE_MS = 60_000;

const BINARY = { schema: { type: 'string', format: 'binary' } };
const FILE = Object.fromEntries(DOCUMENT_CONTENT_TYPES.map((type) => [type, BINARY]));

/** The bytes of a document. */
@ApiTags('Documents')
@Controller('v1/documents/:id/download')
export class DownloadController {
  constructor(
    @Inject(DocumentReader) private readonly documents: DocumentReader,
    @Inject(DocumentStorage) private readonly storage: DocumentStorage,
  ) {}

  @Get()
  @Operation('downloadDocument', {
    summary: 'Download the file of a document',
    description:
      'As an attachment under its name. One range of it may be asked for; of several, the whole is answered. The ETag is that of the content, which never changes.',
    conditional: 'read',
  })
  @ApiParam({ name: 'id', description: 'Id of the document, `doc_…`.' })
  @ApiHeader({
    name: 'Range',
    required: false,
    description: 'The bytes to answer: `bytes=0-1023`, `bytes=1024-`, `bytes=-512`.',
  })
  @ApiHeader({
    name: 'If-Range',
    required: false,
    description: 'The ETag that the range is of; else the whole is answered.',
  })
  @ApiResponse({
    status: 200,
    description: 'The file.',
    content: FILE,
  })
  @ApiResponse({
    status: 206,
    description: 'The range of it.',
    content: FILE,
  })
  @refusal(404, 'No such document in this workspace and environment.')
  @refusal(409, 'Its bytes have not come, or are gone.')
  @refusal(416, 'It has no such bytes; `Content-Range` tells how many there are.')
  async download(
    @Param('id', DOCUMENT_IDS) { document_id }: DocumentIds,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { document, object_id } = await this.documents.get(request, document_id);
    const { shipment_id, checksum_sha256 } = document;
    request.about = { shipment_id, document_id };
    const etag = `"${checksum_sha256}"`;
    if (!isPresent(document) || object_id === null) throw noBytes(document);
    if (isKnown(request, etag)) {
      reply.code(304).header('ETag', etag).send();
      return;
    }
    const range = rangeOf(request, etag, document.size_bytes);
    reply.headers(headersOf(document, range));
    if (request.method === 'HEAD') {
      // A payload that is measured would tell another length.
      reply.send(Readable.from([]));
      return;
    }
    const content = await this.storage.get(object_id, range);
    if (content === undefined) throw await this.gone(request, reply, document_id);
    if (range !== undefined) reply.code(206);
    send(reply, content);
  }

  /** The document may have been deleted just now; or it came with imported events, which have no bytes with them. */
  private async gone(request: FastifyRequest, reply: FastifyReply, documentId: string): Promise<Error> {
    for (const name of OF_CONTENT) reply.removeHeader(name);
    const { document, object_id } = await this.documents.current(request, documentId);
    if (!isPresent(document)) return noBytes(document);
    this.storage.tellMissing(request, object_id);
    return new RequestError('document_not_uploaded', 'Its bytes are not here.');
  }
}

function noBytes({ status }: DocumentRecord): RequestError {
  return new RequestError('document_not_uploaded', `It is ${status}: there is nothing to download.`);
}

function isKnown({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  return known !== undefined && names(known, etag);
}

/** @throws RequestError `range_not_satisfiable` */
function rangeOf({ method, headers }: FastifyRequest, etag: string, size: number): ByteRange | undefined {
  const { range, 'if-range': ifRange } = headers;
  // A weak tag, or a date, is of no content that could be told apart.
  if (method !== 'GET' || range === undefined || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const found = byteRange(range, size);
  if (found !== null) return found;
  const content = { 'Content-Range': `bytes */${size}`, 'Accept-Ranges': 'bytes' };
  throw new RequestError('range_not_satisfiable', `It has ${size} bytes, and none of those.`, [], content);
}

const OF_CONTENT = ['ETag', 'Content-Type', 'Content-Length', 'Content-Range', 'Content-Disposition', 'Accept-Ranges'];

function headersOf(document: DocumentRecord, range: ByteRange | undefined): Readonly<Record<string, string>> {
  const { content_type, size_bytes, file_name, checksum_sha256 } = document;
  const { start, end } = range ?? { start: 0, end: size_bytes };
  return {
    ETag: `"${checksum_sha256}"`,
    'Content-Type': content_type,
    'Content-Length': String(end - start),
    'Content-Disposition': contentDisposition(file_name, { type: 'attachment', fallback: plain(file_name) }),
    'Accept-Ranges': 'bytes',
    ...(range && { 'Content-Range': `bytes ${start}-${end - 1}/${size_bytes}` }),
  };
}

/** For clients that know no `filename*`. */
function plain(name: string): string {
  return name.replaceAll(/[^\x20-\x7e]/gu, '_');
}

/** The framework closes the source where the client goes away, and breaks the connection where the source fails. */
function send(reply: FastifyReply, { bytes }: ObjectContent): void {
  reply.raw.setTimeout(IDLE_MS, () => reply.raw.destroy());
  reply.send(Readable.from(bytes, { objectMode: false }));
}
