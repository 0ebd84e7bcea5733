import type { CollectionSpec } from '@tracking/ports';

export const WORKSPACES_COLLECTION_SPEC: CollectionSpec = {
  name: 'workspaces',
  indexes: [
    { name: 'name', fields: ['name_key'], unique: true },
    { name: 'created', fields: ['created_at', 'id'] },
  ],
};

export const USERS_COLLECTION_SPEC: CollectionSpec = {
  name: 'users',
  indexes: [
    { name: 'email', fields: ['workspace_id', 'email_key'], unique: true },
    { name: 'sign_in', fields: ['email_key', 'status', 'created_at', 'id'] },
    { name: 'workspace', fields: ['workspace_id', 'created_at', 'id'] },
    { name: 'role', fields: ['workspace_id', 'role', 'status'] },
    { name: 'link', fields: ['link_hash'] },
  ],
};

export const ADMIN_CHANGES_COLLECTION_SPEC: CollectionSpec = {
  name: 'admin_changes',
  indexes: [{ name: 'pending', fields: ['is_pending'] }],
};

export const FIRST_ADMIN_LINKS_COLLECTION_SPEC: CollectionSpec = {
  name: 'first_admin_links',
  indexes: [{ name: 'link', fields: ['link_hash'], unique: true }],
};

export const SERVICE_ACCOUNTS_COLLECTION_SPEC: CollectionSpec = {
  name: 'service_accounts',
  indexes: [{ name: 'workspace', fields: ['workspace_id', 'created_at', 'id'] }],
};

export const API_KEYS_COLLECTION_SPEC: CollectionSpec = {
  name: 'api_keys',
  indexes: [
    { name: 'hash', fields: ['hash'], unique: true },
    { name: 'workspace', fields: ['workspace_id', 'created_at', 'id'] },
    { name: 'owner', fields: ['workspace_id', 'owner_id', 'created_at', 'id'] },
    { name: 'valid', fields: ['workspace_id', 'owner_id', 'revoked_at', 'expires_at', 'id'] },
  ],
};

export const SESSIONS_COLLECTION_SPEC: CollectionSpec = {
  name: 'sessions',
  indexes: [
    { name: 'hash', fields: ['hash'], unique: true },
    { name: 'user', fields: ['user_id', 'epoch', 'created_at', 'id'] },
    { name: 'end', fields: ['ends_at', 'id'] },
  ],
};

export const AUDIT_LOG_COLLECTION_SPEC: CollectionSpec = {
  name: 'audit_log',
  indexes: [
    { name: 'list', fields: ['lists', 'at', 'id'], arrayField: 'lists' },
    { name: 'age', fields: ['at', 'id'] },
  ],
  shardKey: ['workspace_id'],
};

/** All collections of identity. */
export const IDENTITY_COLLECTIONS: readonly CollectionSpec[] = [
  WORKSPACES_COLLECTION_SPEC,
  USERS_COLLECTION_SPEC,
  ADMIN_CHANGES_COLLECTION_SPEC,
  FIRST_ADMIN_LINKS_COLLECTION_SPEC,
  SERVICE_ACCOUNTS_COLLECTION_SPEC,
  API_KEYS_COLLECTION_SPEC,
  SESSIONS_COLLECTION_SPEC,
  AUDIT_LOG_COLLECTION_SPEC,
];
