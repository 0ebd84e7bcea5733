import { List, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { Shipment } from '@tracking/client';
import { DoSeveral } from '../../app/do-several.tsx';
import { showShipments } from '../../live/live-news.ts';
import { useApi, useEnvironment } from '../../session/session.ts';
import { nameOf } from '../../values/codes.ts';

/** Names that are told before the rest is only counted. */
const NAMED = 5;

export interface SeveralProps {
  readonly shipments: readonly Shipment[];
  readonly onDone: (done: readonly Shipment[]) => void;
  readonly onClose: () => void;
}

export function CancelSeveral({ shipments, ...props }: SeveralProps) {
  const [client, environment, queries] = [useApi(), useEnvironment(), useQueryClient()];
  const cancel = async ({ id }: Shipment) => {
    const { warnings: _, ...cancelled } = await client.shipments.cancel(id);
    showShipments(queries, environment, [cancelled]);
  };
  const label = shipments.length === 1 ? 'Cancel the shipment' : `Cancel ${shipments.length} shipments`;
  return (
    <DoSeveral
      title="Cancel shipments"
      items={shipments}
      nameOf={nameOf}
      action={{ label, color: 'red' }}
      cancel="Leave it"
      write={cancel}
      done="cancelled"
      {...props}
    >
      <Text size="sm">
        Those that were delivered stay as they are. A cancelled shipment can be reopened on its page.
      </Text>
      <Names shipments={shipments} />
    </DoSeveral>
  );
}

export function Names({ shipments }: { readonly shipments: readonly Shipment[] }) {
  const others = shipments.length - NAMED;
  return (
    <List size="sm">
      {shipments.slice(0, NAMED).map((shipment) => (
        <List.Item key={shipment.id}>{nameOf(shipment)}</List.Item>
      ))}
      {others > 0 && <List.Item>and {others} more</List.Item>}
    </List>
  );
}
