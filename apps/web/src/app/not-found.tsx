import { Alert } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Narrow } from './narrow.tsx';

export function NotFound() {
  return (
    <Narrow>
      <Alert title="There is no such page">
        <Link to="/shipments">Go to the shipments</Link>
      </Alert>
    </Narrow>
  );
}
