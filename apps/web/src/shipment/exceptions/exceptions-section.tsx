import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ShipmentException } from '@tracking/client';
import { useState } from 'react';
import { onDemand } from '../../app/lazy.tsx';
import { Waiting } from '../../app/page.tsx';
import { May } from '../../session/permissions.tsx';
import { useEnvironment } from '../../session/session.ts';
import { useShipment } from '../current-shipment.ts';
import type { Seen } from '../meanwhile/guarded.ts';
import { ExceptionCard } from './exception-card.tsx';
import { inOrder } from './exception-order.ts';
import { seenExceptionsQuery } from './exception-queries.ts';
import { DECIDED_BY, type Dealing, useDealing } from './use-dealing.ts';

const OpenException = onDemand(
  async () => (await import('./open-exception.tsx')).OpenException,
  ({ opened }) => opened,
);

const DealDialog = onDemand(async () => (await import('./deal-dialog.tsx')).DealDialog);

const ConflictDialog = onDemand(
  async () => (await import('../meanwhile/conflict-dialog.tsx')).ConflictDialog,
  ({ conflict }) => conflict !== undefined,
);

export function ExceptionsSection() {
  const exceptions = useQuery(seenExceptionsQuery(useEnvironment(), useShipment().id));
  const [isOpening, setIsOpening] = useState(false);
  return (
    <Stack>
      <Group justify="end">
        <May permission="exceptions:write">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setIsOpening(true)}
          >
            Open an exception
          </Button>
        </May>
      </Group>
      <Waiting query={exceptions} what="the exceptions">
        {(seen) => <Exceptions seen={seen} />}
      </Waiting>
      <OpenException opened={isOpening} onClose={() => setIsOpening(false)} />
    </Stack>
  );
}

interface Under {
  readonly seen: Seen<ShipmentException>;
  readonly kind: Dealing['kind'];
}

function Exceptions({ seen: { thing: all, version } }: { readonly seen: Seen<readonly ShipmentException[]> }) {
  // As it was when somebody began to decide: what comes meanwhile is told when they write.
  const [under, setUnder] = useState<Under>();
  const [showsOver, setShowsOver] = useState(false);
  const end = () => setUnder(undefined);
  const dealing = useDealing(end);
  const { toDo, over } = inOrder(all);
  const begin = (thing: ShipmentException) => (kind: Dealing['kind']) => setUnder({ seen: { thing, version }, kind });
  return (
    <>
      {toDo.length === 0 ? (
        <Alert color="green" title="Nothing is wrong">
          {over.length === 0 ? 'No exception was ever opened.' : 'All exceptions are resolved.'}
        </Alert>
      ) : (
        <Stack component="section" aria-label="To be dealt with" gap="xs">
          <Title order={2} size="h5">
            To be dealt with
          </Title>
          {toDo.map((exception) => (
            <ExceptionCard key={exception.id} exception={exception} onDeal={begin(exception)} />
          ))}
        </Stack>
      )}
      {over.length > 0 && (
        <Stack component="section" aria-label="Resolved" gap="xs">
          <Group>
            <Title order={2} size="h5">
              Resolved
            </Title>
            <Button
              size="compact-xs"
              variant="subtle"
              aria-expanded={showsOver}
              onClick={() => setShowsOver(!showsOver)}
            >
              {showsOver ? 'Hide' : `Show ${over.length}`}
            </Button>
          </Group>
          {showsOver &&
            over.map((exception) => (
              <ExceptionCard key={exception.id} exception={exception} onDeal={begin(exception)} />
            ))}
        </Stack>
      )}
      <Text size="xs" c="dimmed">
        What a rule opened resolves by itself when it is over; what a person opened, a person resolves.
      </Text>
      {under !== undefined && dealing.conflict === undefined && (
        <DealDialog
          exception={under.seen.thing}
          kind={under.kind}
          known={all.flatMap(({ assignee }) => assignee ?? [])}
          isPending={dealing.isPending}
          onDeal={(words) => dealing.run(under.seen, words)}
          onClose={end}
        />
      )}
      <ConflictDialog conflict={dealing.conflict} what="the exception" fields={DECIDED_BY} />
    </>
  );
}
