import { DEFAULT_EXCEPTION_SETTINGS } from '@tracking/contracts';
import { createErrorCodeDocs, type FeatureDocs } from '@tracking/http';

/** Error codes of users, keys and sessions. */
const IDENTITY_ERROR_DOCS = {
  invalid_credentials: createErrorCodeDocs(
    'No active user has this e-mail address and password.',
    'POST /v1/session {"email": "ann@example.com", "password": "…"}',
    'No active user has this e-mail address and password.',
    'Ask the user to enter e-mail and password again, or to reset the password. After too many attempts the response is 429.',
  ),
  workspace_exists: createErrorCodeDocs(
    'Another workspace has this name.',
    'workspaces create --name acme',
    'A workspace with the name acme exists already.',
    'Use the existing workspace, or choose another name.',
  ),
  user_exists: createErrorCodeDocs(
    'A user with this e-mail address exists already in the workspace.',
    'POST /v1/users {"email": "ann@example.com", "role": "viewer"}',
    'A user with this e-mail address exists already in the workspace.',
    'Change or reactivate the existing user.',
  ),
  user_not_active: createErrorCodeDocs(
    'The user or service account is deactivated, or has not accepted the invitation yet.',
    'POST /v1/api_keys for a deactivated service account',
    'The service account is not active, so it has no valid keys.',
    'Reactivate the service account or user, or have the invitation accepted first.',
  ),
  last_admin: createErrorCodeDocs(
    'The user is the only active admin of the workspace.',
    'POST /v1/users/usr_…/deactivate',
    'The user is the only active admin of the workspace. Give another user the role admin first.',
    'Give another user the role admin first.',
  ),
  key_not_active: createErrorCodeDocs(
    'The key is already revoked, expired or rotated.',
    'POST /v1/api_keys/key_…/rotate',
    'The key is revoked.',
    'Create a new key.',
  ),
  too_many_keys: createErrorCodeDocs(
    'The user or service account has the maximum number of valid keys. A rotated key counts until its grace period ends.',
    'POST /v1/api_keys, the 26th key',
    'The service account has 25 valid keys, the maximum. Revoke one first.',
    'Revoke keys that are not used. To replace a key, rotate it without a grace period.',
  ),
} as const satisfies FeatureDocs['errors'];

/** Error codes of rules that the declaration of an operation does not show. */
const ERROR_CODES_BY_OPERATION = {
  signIn: ['invalid_credentials', 'csrf', 'rate_limited'],
  createApiKey: ['user_not_active', 'too_many_keys'],
  rotateApiKey: ['key_not_active', 'user_not_active', 'too_many_keys'],
  inviteUser: ['user_exists'],
  changeUser: ['last_admin'],
  deactivateUser: ['last_admin'],
  resetUserPassword: ['user_not_active'],
  useInvitation: ['user_exists', 'rate_limited'],
} as const satisfies FeatureDocs['refusals'];

/** Examples of schemas, by name. */
const EXAMPLE_RESOURCES = {
  ExceptionSettingsByType: DEFAULT_EXCEPTION_SETTINGS,
  SignIn: { email: 'jo@example.com', password: 'correct horse battery' },
  CredentialsHolder: { service_account: null },
  SignedIn: { service_account: null },
  ApiKeyFields: { name: 'Nightly import', environment: 'test' },
  ApiKey: { name: 'Nightly import', max_role: null, expires_at: null, last_used_at: null, revoked_at: null },
  WorkspaceSettingsChanges: { exceptions: { eta_slip: { after_hours: 12 }, no_update: { enabled: false } } },
};

/** Example values of fields, by name. */
const EXAMPLE_VALUES_BY_FIELD = {
  address: '203.0.113.7',
  current_password: 'correct horse battery',
  email: 'jo@example.com',
  new_password: 'staple battery horse',
  password: 'correct horse battery',
  rotated_to: null,
  service_account_id: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd',
};

/** Noun and example id of a single resource, by the collection in its path. */
const RESOURCE_NOUNS_AND_EXAMPLE_IDS = {
  service_accounts: ['service account', 'sva_5f3c2k7qv3n5xw6yz2aabbccdd'],
  api_keys: ['API key', 'key_5f3c2k7qv3n5xw6yz2aabbccdd'],
  users: ['user', 'usr_5f3c2k7qv3n5xw6yz2aabbccdd'],
  sessions: ['session', 'ses_5f3c2k7qv3n5xw6yz2aabbccdd'],
} as const satisfies FeatureDocs['resources'];

const PATH_PARAMETER_DOCS = {
  token: ['Token of the one-time link: the part of its URL after `#`.', 'inv_5f3c2k7qv3n5xw6yz2aabbccdd'],
} as const satisfies FeatureDocs['pathParameters'];

/** Documentation of users, keys, sessions and settings. */
export const IDENTITY_DOCS: FeatureDocs = {
  errors: IDENTITY_ERROR_DOCS,
  refusals: ERROR_CODES_BY_OPERATION,
  resources: RESOURCE_NOUNS_AND_EXAMPLE_IDS,
  pathParameters: PATH_PARAMETER_DOCS,
  samples: EXAMPLE_RESOURCES,
  values: EXAMPLE_VALUES_BY_FIELD,
};
