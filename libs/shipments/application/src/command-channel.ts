import type { JsonObject, JsonValue } from '@tracking/contracts';
import type { CommandChannel, CommandServer, EventStore } from '@tracking/ports';
import type { CancelShipment, RecordMilestone, ReopenShipment } from '@tracking/shipments-domain';
import type { Scope } from '@tracking/contracts';
import type { FoundShipment, ShipmentsService } from './shipments-service.ts';

const SERVICE = 'shipments';

type Upsert = Parameters<ShipmentsService['upsert']>[0];
interface GetShipment {
  readonly scope: Scope;
  readonly id: string;
}

/** Answers the edge's requests. All that passes is JSON by its types; who may call is the channel's affair. */
export function serveShipments(server: CommandServer, service: ShipmentsService): void {
  const request = <Request>(json: JsonObject) => json as unknown as Request;
  const answer = (value: object | undefined) => (value ?? null) as JsonValue;
  server.serve(SERVICE, {
    upsert: async (json) => answer(await service.upsert(request<Upsert>(json))),
    recordMilestone: async (json) => answer(await service.recordMilestone(request<RecordMilestone>(json))),
    cancel: async (json) => answer(await service.cancel(request<CancelShipment>(json))),
    reopen: async (json) => answer(await service.reopen(request<ReopenShipment>(json))),
    getShipment: async (json) => {
      const { scope, id } = request<GetShipment>(json);
      return answer(await service.getShipment(scope, id));
    },
  });
}

/**
 * The service at the other end of a channel.
 * @param deadlineMs longer than the service's own, which answers better than a channel that gives up
 */
export function shipmentsClient(
  channel: CommandChannel,
  { deadlineMs }: { readonly deadlineMs: number },
): ShipmentsService {
  type Request = Upsert | RecordMilestone | CancelShipment | ReopenShipment | GetShipment;
  const call = async <Answer>(method: keyof ShipmentsService, request: Request) =>
    (await channel.call(SERVICE, method, request as unknown as JsonObject, deadlineMs)) as unknown as Answer;
  return {
    upsert: (command) => call('upsert', command),
    recordMilestone: (command) => call('recordMilestone', command),
    cancel: (command) => call('cancel', command),
    reopen: (command) => call('reopen', command),
    getShipment: async ({ workspace_id, environment }, id) => {
      const found = await call<FoundShipment | null>('getShipment', { scope: { workspace_id, environment }, id });
      return found ?? undefined;
    },
  };
}

/** Tells those who have no event store how far it is. */
export function serveHead(server: CommandServer, eventStore: Pick<EventStore, 'head'>): void {
  server.serve(SERVICE, { head: async () => (await eventStore.head()) ?? null });
}

/** The same at the other end of a channel. */
export function headClient(
  channel: CommandChannel,
  { deadlineMs }: { readonly deadlineMs: number },
): Pick<EventStore, 'head'> {
  return {
    head: async () => {
      const head = await channel.call(SERVICE, 'head', {}, deadlineMs);
      return typeof head === 'string' ? head : undefined;
    },
  };
}
