import { useApi } from '../../session/session.ts';
import { RotateSecret } from '../rotate-secret.tsx';
import type { ApiKey } from './key-queries.ts';

export function RotateKey({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const client = useApi();
  return (
    <RotateSecret
      what="key"
      label="New key"
      rotate={async (seconds) => (await client.keys.rotate(apiKey.id, { grace_seconds: seconds })).key}
      touches={[['api-keys']]}
      onClose={onClose}
    >
      A new key takes the place of “{apiKey.name}”. Until the old one ends both are valid.
    </RotateSecret>
  );
}
