import { requireRequestQuota } from '@tracking/http';
import type { RequestQuota } from '@tracking/ports';
import type { WebhookEndpoint } from '@tracking/webhooks';

/** Challenges per minute to one endpoint. */
const MAX_CHALLENGES_PER_ENDPOINT = 10;
/** Challenges per minute from one workspace, which has at most 50 endpoints in each environment. */
const MAX_CHALLENGES_PER_WORKSPACE = 60;
/**
 * Challenges per minute to one host, from all workspaces. The limit is greater than the limit of one workspace, so that
 * no workspace can use up all challenges to a host.
 */
const MAX_CHALLENGES_PER_HOST = 120;

/** Limits how many challenges are sent, because the owner of an unverified URL has not agreed to receive requests. */
export class VerificationThrottle {
  constructor(private readonly quota: RequestQuota) {}

  /** Counts one challenge against the limits. @throws RequestError `rate_limited` */
  async countChallengeAgainstLimits(
    workspace_id: string,
    { id, url }: Pick<WebhookEndpoint, 'id' | 'url'>,
  ): Promise<void> {
    await this.requireVerificationQuota(
      `verification:endpoint:${id}`,
      MAX_CHALLENGES_PER_ENDPOINT,
      'one webhook endpoint',
    );
    await this.requireVerificationQuota(
      `verification:workspace:${workspace_id}`,
      MAX_CHALLENGES_PER_WORKSPACE,
      'the workspace',
    );
    await this.requireVerificationQuota(
      `verification:host:${new URL(url).hostname}`,
      MAX_CHALLENGES_PER_HOST,
      'one host',
    );
  }

  private async requireVerificationQuota(key: string, limit: number, of: string): Promise<void> {
    const refusal = `The limit of ${limit} verifications per minute of ${of} is exceeded.`;
    await requireRequestQuota(this.quota, key, limit, refusal);
  }
}
