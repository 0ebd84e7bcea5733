import type { Role, User } from './identity.ts';
import type { JsonObject } from './common.ts';
import type { Environment, Timestamp } from './shipment.ts';

/** Response of the root of the administration API. */
export interface AdministrationApiStatus {
  readonly status: 'ready';
  /**
   * Process id of the service. It distinguishes a service that a client started from another service on the same data
   * folder.
   */
  readonly process_id: number;
}

/**
 * The body of `POST /administration/users`. Requests name users by e-mail address in the body, because a path segment
 * may be too short for an address. The body of `…/users/set_role` is `{workspace, email, role}`; that of
 * `…/users/deactivate` is `{workspace, email}`; that of `…/users/reset_password` is
 * `{workspace, email, revoke_api_keys}`. `GET …/users` has the query parameter `workspace`.
 */
export interface UserToCreate {
  /** Name of the workspace. */
  readonly workspace: string;
  readonly email: string;
  readonly role: Role;
  /**
   * Initial password. A user with a password is active immediately; a user without one is invited by a one-time link.
   */
  readonly password?: string;
}
export interface CreatedUser extends User {
  /** One-time link of the invitation, shown once; null if a password was given. */
  readonly invitation_url: string | null;
  /** Expiry of the link; null without a link. */
  readonly invitation_expires_at: Timestamp | null;
}
/** Response of `POST /administration/users/reset_password`. */
export interface PasswordResetLinkResponse {
  /** One-time link for the new password, shown once. */
  readonly reset_url: string;
  readonly expires_at: Timestamp;
  /** Number of API keys of the user that the request revoked. */
  readonly revoked_api_keys_count: number;
}

/** The body of `POST /administration/keys`, with either `role` or `user`. */
export interface KeyToCreate {
  /** Name of the workspace. */
  readonly workspace: string;
  readonly name: string;
  readonly environment: Environment;
  /** Role of the service account that is created for the key. */
  readonly role?: Role;
  /** E-mail address of the key's owner. */
  readonly user?: string;
}

/** A lease that a process holds, for operators. The holder does the work of the lease: a shard, a partition or a job. */
export interface LeaseState {
  readonly name: string;
  /** Increases with every change of the holder. */
  readonly epoch: number;
  /** Process that holds the lease; null if it is not known. */
  readonly holder: {
    readonly id: string;
    /** Name of the process, such as `webhooks@host-1:4711`. */
    readonly name: string;
    /** Address `host:port` at which other processes reach it; absent if it has none. */
    readonly address?: string;
  } | null;
}

/** Number of partitions into which a subscriber of the event store divides the shipments, for operators. */
export interface PartitionCountStatus {
  /** Name of the subscriber, such as `publisher`. */
  readonly subscriber: string;
  /** Number of partitions in use. */
  readonly partitions: number;
  /** Number of partitions that was requested. The processes change to it within seconds. */
  readonly requested: number;
}

/** Status of a read model, for operators. */
export interface ReadModelStatus {
  readonly name: string;
  /** Generation whose rows queries read. */
  readonly generation: number;
  /** Position of the last event that the read model contains; null before the first event. */
  readonly position: string | null;
  /** True if the read model contains all stored events. */
  readonly caught_up: boolean;
  /** Generation that a running rebuild creates, with its position; null if no rebuild is running. */
  readonly building: { readonly generation: number; readonly position: string | null } | null;
  /** Number of shipments that wait because one of their events could not be applied. */
  readonly parked: number;
}

/**
 * A shipment whose events wait in one read model because one event could not be applied. Other shipments are not
 * affected.
 */
export interface ParkedShipment {
  readonly id: string;
  readonly read_model: string;
  readonly generation: number;
  readonly stream: string;
  /** Revision of the event that could not be applied. */
  readonly revision: number;
  readonly event_type: string;
  /** Error message, without the event's data. */
  readonly error: string;
  readonly parked_at: Timestamp;
  /** Number of attempts to apply the event so far. */
  readonly attempts: number;
}

/** A message on a topic that does not contain a valid event. */
export interface ParkedMessage {
  readonly id: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: string;
  readonly error: string;
  readonly parked_at: Timestamp;
}

/**
 * Outcome of retrying a parked shipment. `applied`: all its events are applied. `parked`: the retry failed.
 * `requested`: the process that projects the shipment has not retried yet.
 */
export interface ParkedShipmentRetryOutcome {
  readonly id: string;
  readonly outcome: 'applied' | 'parked' | 'requested';
}

/** A stored event of a shipment, for export to another store. */
export interface ExportedEvent {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

export interface EventPage {
  readonly events: readonly ExportedEvent[];
  /** Position in the event store after which the next page starts. */
  readonly position: string | null;
  /** True if the page ends with the last event of the log. */
  readonly complete: boolean;
}

/**
 * A shipment of an import that the store already has with different events. The import skips its events from `revision`
 * on.
 */
export interface ImportConflict {
  readonly stream: string;
  readonly shipment_id: string;
  readonly workspace_id: string | null;
  readonly environment: Environment | null;
  /** `external_id` of the stored shipment; null if it has none. */
  readonly external_id: string | null;
  /** Revision of the first imported event that differs from the stored events, or that the store does not have. */
  readonly revision: number;
}
/** Response of `POST /administration/events`. */
export interface EventImportResult {
  /** Number of imported events that the store now contains. */
  readonly stored: number;
  /** Shipments with conflicts; absent unless the request has `skip_conflicts: true`. */
  readonly conflicts?: readonly ImportConflict[];
}

/**
 * Exit code of a process whose data folder is in use by another process (`EX_TEMPFAIL` of sysexits.h). The caller can
 * wait for the administration socket of the other process.
 */
export const DATA_FOLDER_IN_USE_EXIT_CODE = 75;

const SOCKET_FILE_NAME = 'administration.sock';
/**
 * Maximum length in bytes of a socket path: the smallest `sun_path` in use (macOS 104 bytes, Linux 108) without its
 * final NUL.
 */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Path of the Unix socket on which a standalone process serves the administration API: a file in its data folder. If
 * that path is too long for the system, the socket is in a folder under the system's folder for temporary files, named
 * after the data folder. The service and its clients compute the same path, so both must use the same temporary folder.
 * @param dataDir absolute, normalised
 * @param temporaryDir `os.tmpdir()`
 */
export function getSocketPath(dataDir: string, temporaryDir: string): string {
  const path = `${dataDir}/${SOCKET_FILE_NAME}`;
  if (new TextEncoder().encode(path).length <= MAX_SOCKET_PATH_BYTES) return path;
  return `${temporaryDir}/tracking-${computeTextHash(dataDir)}/${SOCKET_FILE_NAME}`;
}

/** Computes the FNV-1a hash of a text: 64 bits in hex. It distinguishes data folders; it is not a security measure. */
function computeTextHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}
