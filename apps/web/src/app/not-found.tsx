import { Stack, Text, Title } from '@mantine/core';
import { LinkButton } from './links.tsx';
import { Narrow } from './narrow.tsx';

export function NotFound() {
  return (
    <Narrow>
      <Stack align="start">
        <Title order={1} size="h3">
          There is no such page
        </Title>
        <Text>The address may have been cut off, or be of another service.</Text>
        <LinkButton to="/shipments" search={{}} variant="default">
          Go to the shipments
        </LinkButton>
      </Stack>
    </Narrow>
  );
}
