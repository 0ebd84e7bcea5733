import { useWrite } from '../../../app/write.ts';
import { useApi } from '../../../session/session.ts';
import { TOUCHED_BY_DELIVERIES } from '../webhook-queries.ts';

/** One more attempt, or none any more. */
export function useDeliveryWrites() {
  const client = useApi();
  const retry = useWrite({
    write: (id: string) => client.webhookDeliveries.retry(id),
    done: 'It is attempted once more.',
    touches: TOUCHED_BY_DELIVERIES,
  });
  const discard = useWrite({
    write: (id: string) => client.webhookDeliveries.discard(id),
    done: 'The delivery is discarded.',
    touches: TOUCHED_BY_DELIVERIES,
  });
  return { retry, discard };
}
