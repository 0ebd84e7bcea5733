import type { Principal } from '@tracking/contracts';
import type { FastifyRequest } from 'fastify';

/** One way to tell who makes a request. The API has a list of them; the first that knows the request decides. */
export interface Authenticator {
  /**
   * The principal; undefined where the request carries no credentials of this kind.
   * @throws RequestError 401 where it carries some that are not valid; Unavailable
   */
  authenticate(request: FastifyRequest): Promise<Principal | undefined>;
}
