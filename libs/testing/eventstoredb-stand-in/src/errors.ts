import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import { Metadata, status, type ServiceError } from '@grpc/grpc-js';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js';
import {
  type AppendExpectedRevision,
  type RefusalReason,
  RequestRefusedError,
  createStreamIdentifier,
} from './records.ts';

/** Numbers that a node uses for expected revisions without a number. */
const EXPECTED_REVISION_NUMBERS = { any: -2, no_stream: -1, stream_exists: -4 } as const;

/** Returns the error that ends a call, with the wording of a node: the client reads the trailer `exception`. */
export function toGrpcErrorOfStandInNode(error: unknown): Partial<ServiceError> {
  if (!(error instanceof RequestRefusedError)) return { code: status.UNAVAILABLE, details: String(error) };
  const { reason } = error;
  switch (reason.kind) {
    case 'wrong_expected_version':
      return createServiceError(status.FAILED_PRECONDITION, 'Append failed due to WrongExpectedVersion.', {
        exception: 'wrong-expected-version',
        'stream-name': reason.stream,
        'expected-version': String(toExpectedRevisionNumber(reason.expected)),
        ...(reason.current !== undefined && { 'actual-version': String(reason.current) }),
      });
    case 'stream_deleted':
      return createServiceError(status.FAILED_PRECONDITION, `Event stream '${reason.stream}' is deleted.`, {
        exception: 'stream-deleted',
        'stream-name': reason.stream,
      });
    case 'append_too_large':
      return createServiceError(status.INVALID_ARGUMENT, `Maximum Append Size of ${reason.limit} Exceeded.`, {
        exception: 'maximum-append-size-exceeded',
        'maximum-append-size': String(reason.limit),
      });
    case 'consumer_too_slow':
      return createServiceError(
        status.ABORTED,
        'Consumer too slow to handle event while live. Client resubscription required.',
      );
    case 'shutting_down':
    case 'bad_request':
      return createServiceError(status.UNKNOWN, 'Exception was thrown by handler.');
  }
}

/** Returns the error as the response to one append of a batch call. */
export function toAppendErrorStatus(error: unknown) {
  const [name, details] =
    error instanceof RequestRefusedError ? createRefusalDetails(error.reason) : ['Timeout', new sharedPb.Timeout()];
  const any = new anyPb.Any();
  any.pack(details.serializeBinary(), `event_store.client.${name}`);
  return new statusPb.Status().setMessage(String(error)).setDetails(any);
}

function createRefusalDetails(
  reason: RefusalReason,
): readonly [name: string, message: { serializeBinary(): Uint8Array }] {
  switch (reason.kind) {
    case 'wrong_expected_version':
      return ['WrongExpectedVersion', createWrongVersionError(reason.expected, reason.current)];
    case 'stream_deleted':
      return ['StreamDeleted', new sharedPb.StreamDeleted().setStreamIdentifier(createStreamIdentifier(reason.stream))];
    case 'append_too_large':
      return ['MaximumAppendSizeExceeded', new sharedPb.MaximumAppendSizeExceeded().setMaxappendsize(reason.limit)];
    case 'consumer_too_slow':
    case 'shutting_down':
    case 'bad_request':
      return ['Unknown', new sharedPb.Unknown()];
  }
}

function createWrongVersionError(expected: AppendExpectedRevision, current: number | undefined) {
  const details = new sharedPb.WrongExpectedVersion();
  if (current === undefined) details.setCurrentNoStream(new emptyPb.Empty());
  else details.setCurrentStreamRevision(String(current));
  if (expected === 'any') return details.setExpectedAny(new emptyPb.Empty());
  if (expected === 'no_stream') return details.setExpectedNoStream(new emptyPb.Empty());
  if (expected === 'stream_exists') return details.setExpectedStreamExists(new emptyPb.Empty());
  return details.setExpectedStreamPosition(String(expected));
}

function toExpectedRevisionNumber(expected: AppendExpectedRevision): number {
  return typeof expected === 'number' ? expected : EXPECTED_REVISION_NUMBERS[expected];
}

/** Returns an error that ends a call. @param trailers trailing metadata, from which the client creates its error */
export function createServiceError(code: status, details: string, trailers: Readonly<Record<string, string>> = {}) {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
  return { code, details, metadata };
}
