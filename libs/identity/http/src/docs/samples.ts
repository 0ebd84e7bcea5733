import { DEFAULT_EXCEPTION_SETTINGS } from '@tracking/contracts';
import type { FeatureDocs } from '@tracking/http';

/** Examples of schemas, by name. */
export const SAMPLES: NonNullable<FeatureDocs['samples']> = {
  ExceptionSettingsByType: DEFAULT_EXCEPTION_SETTINGS,
  SignIn: { email: 'jo@example.com', password: 'correct horse battery' },
  CredentialsHolder: { service_account: null },
  SignedIn: { service_account: null },
  ApiKeyFields: { name: 'Nightly import', environment: 'test' },
  ApiKey: { name: 'Nightly import', expires_at: null, last_used_at: null, revoked_at: null },
  WorkspaceSettingsChanges: { exceptions: { eta_slip: { after_hours: 12 }, no_update: { enabled: false } } },
};

/** Example values of fields, by name. */
export const VALUES: NonNullable<FeatureDocs['values']> = {
  address: '203.0.113.7',
  current_password: 'correct horse battery',
  email: 'jo@example.com',
  new_password: 'staple battery horse',
  password: 'correct horse battery',
  rotated_to: null,
  service_account_id: 'sva_5f3c2k7qv3n5xw6yz2aabbccdd',
};

/** Noun and example id of a single resource, by the collection in its path. */
export const RESOURCES = {
  service_accounts: ['service account', 'sva_5f3c2k7qv3n5xw6yz2aabbccdd'],
  api_keys: ['API key', 'key_5f3c2k7qv3n5xw6yz2aabbccdd'],
  users: ['user', 'usr_5f3c2k7qv3n5xw6yz2aabbccdd'],
  sessions: ['session', 'ses_5f3c2k7qv3n5xw6yz2aabbccdd'],
} as const satisfies FeatureDocs['resources'];

export const PATH_PARAMETERS = {
  token: ['What stands behind the `#` of a one-time link.', 'inv_5f3c2k7qv3n5xw6yz2aabbccdd'],
} as const satisfies FeatureDocs['pathParameters'];
