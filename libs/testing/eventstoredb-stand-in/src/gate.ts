import {
  type Metadata,
  ServerInterceptingCall,
  status,
  type ServerInterceptor,
  type StatusObject,
} from '@grpc/grpc-js';
import { createServiceError } from './errors.ts';
import type { FaultSwitches } from './faults.ts';
import type { NodeAddress } from './node-address.ts';

/** The role of a node in its cluster at this moment. */
export interface NodeRole {
  readonly isLeader: boolean;
  /** Address of the leader; undefined during an election. */
  readonly leader: NodeAddress | undefined;
}

interface CredentialCheckInterceptorOptions {
  readonly faults: FaultSwitches;
  readonly role: () => NodeRole;
  /** Passwords by user name; every request is accepted if it is empty. */
  readonly users: ReadonlyMap<string, string>;
}

/** The error with which a node ends a call. */
export type Refusal = Pick<StatusObject, 'code' | 'details' | 'metadata'>;

/** Calls that a node answers without credentials and in every role. */
const CALLS_WITHOUT_CREDENTIALS_PATTERN = /^\/event_store\.client\.(gossip|server_features)\./;

/** Refuses requests like a node: by their credentials, by the role of the node, and not at all while it is frozen. */
export function createCredentialAndRoleInterceptor({
  faults,
  role,
  users,
}: CredentialCheckInterceptorOptions): ServerInterceptor {
  async function findRefusalOfCall(path: string, metadata: Metadata): Promise<Refusal | undefined> {
    await faults.waitWhileFrozen();
    if (CALLS_WITHOUT_CREDENTIALS_PATTERN.test(path)) return undefined;
    const [authorization] = metadata.get('authorization');
    const refusal = users.size === 0 ? undefined : findBasicAuthRefusal(users, authorization?.toString());
    return refusal ?? findNodeRoleRefusal(role(), metadata.get('requires-leader')[0] === 'true');
  }

  return ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) =>
            void findRefusalOfCall(path, metadata).then((refusal) =>
              refusal === undefined ? pass(metadata) : call.sendStatus(refusal),
            ),
        }),
    });
}

function findBasicAuthRefusal(
  users: ReadonlyMap<string, string>,
  authorization: string | undefined,
): Refusal | undefined {
  if (authorization === undefined)
    return createServiceError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
  const [, encoded = ''] = /^Basic (.*)$/.exec(authorization) ?? [];
  const [, name = '', password] = /^([^:]*):(.*)$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  return users.get(name) === password ? undefined : createServiceError(status.UNAUTHENTICATED, 'Unauthenticated');
}

/** Returns the refusal of a request that a node cannot answer in its role; undefined if it can. */
export function findNodeRoleRefusal({ isLeader, leader }: NodeRole, requiresLeader: boolean): Refusal | undefined {
  if (leader === undefined) return createServiceError(status.UNAVAILABLE, 'Server Is Not Ready');
  if (isLeader || !requiresLeader) return undefined;
  // A node describes this error with the same words. The client reads only the trailers.
  return createServiceError(status.NOT_FOUND, 'Leader info available', {
    exception: 'not-leader',
    'leader-endpoint-host': leader.host,
    'leader-endpoint-port': String(leader.port),
  });
}
