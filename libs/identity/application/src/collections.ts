import type { CollectionSpec } from '@tracking/ports';

export const WORKSPACES_COLLECTION: CollectionSpec = {
  name: 'workspaces',
  indexes: [
    { name: 'name', fields: ['name_key'], unique: true },
    { name: 'created', fields: ['created_at', 'id'] },
  ],
};

export const USERS_COLLECTION: CollectionSpec = {
  name: 'users',
  indexes: [
    { name: 'email', fields: ['workspace_id', 'email_key'], unique: true },
    { name: 'sign_in', fields: ['email_key', 'status', 'created_at', 'id'] },
    { name: 'workspace', fields: ['workspace_id', 'created_at', 'id'] },
    { name: 'role', fields: ['workspace_id', 'role', 'status'] },
    { name: 'link', fields: ['link_hash'] },
  ],
};

export const ADMIN_CHANGES_COLLECTION: CollectionSpec = {
  name: 'admin_changes',
  indexes: [{ name: 'pending', fields: ['is_pending'] }],
};

export const FIRST_ADMIN_LINKS_COLLECTION: CollectionSpec = {
  name: 'first_admin_links',
  indexes: [{ name: 'link', fields: ['link_hash'], unique: true }],
};

export const SERVICE_ACCOUNTS_COLLECTION: CollectionSpec = {
  name: 'service_accounts',
  indexes: [{ name: 'workspace', fields: ['workspace_id', 'created_at', 'id'] }],
};

export const API_KEYS_COLLECTION: CollectionSpec = {
  name: 'api_keys',
  indexes: [
    { name: 'hash', fields: ['hash'], unique: true },
    { name: 'workspace', fields: ['workspace_id', 'created_at', 'id'] },
    { name: 'owner', fields: ['workspace_id', 'owner_id', 'created_at', 'id'] },
    { name: 'valid', fields: ['workspace_id', 'owner_id', 'revoked_at', 'expires_at', 'id'] },
  ],
};

export const SESSIONS_COLLECTION: CollectionSpec = {
  name: 'sessions',
  indexes: [
    { name: 'hash', fields: ['hash'], unique: true },
    { name: 'user', fields: ['user_id', 'epoch', 'created_at', 'id'] },
    { name: 'end', fields: ['ends_at', 'id'] },
  ],
};

export const AUDIT_LOG_COLLECTION: CollectionSpec = {
  name: 'audit_log',
  indexes: [
    { name: 'list', fields: ['lists', 'at', 'id'], arrayField: 'lists' },
    { name: 'age', fields: ['at', 'id'] },
  ],
  shardKey: ['workspace_id'],
};

/** All collections of identity. */
export const IDENTITY_COLLECTIONS: readonly CollectionSpec[] = [
  WORKSPACES_COLLECTION,
  USERS_COLLECTION,
  ADMIN_CHANGES_COLLECTION,
  FIRST_ADMIN_LINKS_COLLECTION,
  SERVICE_ACCOUNTS_COLLECTION,
  API_KEYS_COLLECTION,
  SESSIONS_COLLECTION,
  AUDIT_LOG_COLLECTION,
];
