import { entry } from '@tracking/http';
import type { FeatureDocs } from '@tracking/http';

/** Error codes of users, keys and sessions. */
export const ERRORS = {
  invalid_credentials: entry(
    'There is no active user with this e-mail and password.',
    'POST /v1/session {"email": "ann@example.com", "password": "…"}',
    'There is no active user with this e-mail and password.',
    'Have the person type them again, or reset the password. After many tries it is answered 429.',
  ),
  workspace_exists: entry(
    'There is a workspace of that name already.',
    'workspaces create --name acme',
    'There is a workspace acme already.',
    'Use that one, or choose another name.',
  ),
  user_exists: entry(
    'There is a user with this e-mail in the workspace already.',
    'POST /v1/users {"email": "ann@example.com", "role": "viewer"}',
    'There is a user with this e-mail in the workspace already.',
    'Change that user, or reactivate them.',
  ),
  user_not_active: entry(
    'The user or service account is deactivated, or has not accepted the invitation yet.',
    'POST /v1/api_keys for a deactivated service account',
    'The service account is not active: it has no valid keys.',
    'Reactivate them, or have the invitation accepted first.',
  ),
  last_admin: entry(
    'It is the only active admin of the workspace.',
    'POST /v1/users/usr_…/deactivate',
    'It is the only active admin of the workspace: make another one first.',
    'Make another user an admin first.',
  ),
  key_not_active: entry(
    'The key is revoked, expired or rotated already.',
    'POST /v1/api_keys/key_…/rotate',
    'The key is revoked.',
    'Make another key.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Codes with which operations refuse by rules of their own. */
export const REFUSALS = {
  signIn: ['invalid_credentials', 'csrf', 'rate_limited'],
  createApiKey: ['user_not_active'],
  rotateApiKey: ['key_not_active', 'user_not_active'],
  inviteUser: ['user_exists'],
  changeUser: ['last_admin'],
  deactivateUser: ['last_admin'],
  resetUserPassword: ['user_not_active'],
  useInvitation: ['user_exists', 'rate_limited'],
} as const satisfies FeatureDocs['refusals'];
