import type { Role, User } from './identity.ts';
import type { JsonObject } from './common.ts';
import type { Environment, Timestamp } from './shipment.ts';

/** What the administration API answers at its root. */
export interface AdministrationStatus {
  readonly status: 'ready';
  /** Distinguishes the service that a client started from another one on the same data folder. */
  readonly process_id: number;
}

/**
 * What `POST /administration/users` takes. Users are named by their e-mail, in bodies: addresses are longer than a part
 * of a path may be. `…/users/set_role` takes `{workspace, email, role}`, `…/users/deactivate` and
 * `…/users/reset_password` take `{workspace, email}`; `GET …/users` takes the workspace.
 */
export interface UserToCreate {
  /** Name of the workspace. */
  readonly workspace: string;
  readonly email: string;
  readonly role: Role;
  /** With one the user is active at once; without, they are invited by a one-time link. */
  readonly password?: string;
}
export interface CreatedUser extends User {
  /** The one-time link, shown once; null where a password was given. */
  readonly invitation_url: string | null;
  /** Null without a link. */
  readonly invitation_expires_at: Timestamp | null;
}
/** What `POST /administration/users/reset_password` answers. */
export interface PasswordReset {
  /** The one-time link, shown once. */
  readonly reset_url: string;
  readonly expires_at: Timestamp;
}

/** What `POST /administration/keys` takes, and `role` or `user`. */
export interface KeyToCreate {
  /** Name of the workspace. */
  readonly workspace: string;
  readonly name: string;
  readonly environment: Environment;
  /** Of the service account that is made for the key. */
  readonly role?: Role;
  /** E-mail of the user whose key it is. */
  readonly user?: string;
}

/** A read model as its operators see it. */
export interface ReadModelStatus {
  readonly name: string;
  /** The one that is queried. */
  readonly generation: number;
  /** It contains everything up to this position; null before the first event. */
  readonly position: string | null;
  /** Whether it contains everything. */
  readonly caught_up: boolean;
  /** The generation that a rebuild is making to take its place, and how far it is; null when none is. */
  readonly building: { readonly generation: number; readonly position: string | null } | null;
  /** How many shipments wait because an event of theirs could not be applied. */
  readonly parked: number;
}

/** A shipment whose events wait in one read model, because one of them could not be applied. Other shipments do not wait. */
export interface ParkedShipment {
  readonly id: string;
  readonly read_model: string;
  readonly generation: number;
  readonly stream: string;
  /** Of the event that could not be applied. */
  readonly revision: number;
  readonly event_type: string;
  /** What went wrong, without the event's data. */
  readonly error: string;
  readonly parked_at: Timestamp;
  /** How often it was tried. */
  readonly attempts: number;
}

/** A message of a topic that is not a valid event. */
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
 * Outcome of retrying a parked shipment: `applied`, nothing waits any longer; `parked`, it failed again; `requested`, the
 * process that projects it has not tried yet.
 */
export interface ParkedRetry {
  readonly id: string;
  readonly outcome: 'applied' | 'parked' | 'requested';
}

/** An event of a shipment as it is stored, to be put into another store. */
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
  /** The next page comes after it. */
  readonly position: string | null;
  /** Whether the log had no more events when the page was read. */
  readonly complete: boolean;
}

/**
 * Exit code of a process that finds its data folder in use by another one (`EX_TEMPFAIL` of sysexits.h): whoever asked
 * for it may wait for the other one's administration socket instead.
 */
export const DATA_FOLDER_IN_USE_EXIT_CODE = 75;

const SOCKET = 'administration.sock';
/** What the shortest `sun_path` in use holds beside its final NUL: macOS 104 bytes, Linux 108. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Where the administration API of a standalone process listens: a Unix socket in its data folder. Where that path is
 * longer than the system allows, in a folder of its own under the system's folder for temporary files, named after the
 * data folder. The service and its clients compute the same path, so both must see the same temporary folder.
 *
 * @param dataDir absolute, normalised
 * @param temporaryDir `os.tmpdir()`
 */
export function administrationSocketPath(dataDir: string, temporaryDir: string): string {
  const path = `${dataDir}/${SOCKET}`;
  if (new TextEncoder().encode(path).length <= MAX_SOCKET_PATH_BYTES) return path;
  return `${temporaryDir}/tracking-${fingerprint(dataDir)}/${SOCKET}`;
}

/** FNV-1a, 64 bits, in hex. Tells data folders apart; protects nothing. */
function fingerprint(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}
