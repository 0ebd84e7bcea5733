import { type ApiResponse, Call, List, type Page, type RequestOptions } from './call.ts';
import type { components, operations } from './generated/api.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { ApiRequest } from './http/request.ts';
import type { Requester } from './http/requester.ts';

interface OperationInput<Id extends OperationId> {
  /** Values that replace the placeholders in the operation's path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: QueryOf<Id>;
  readonly body?: BodyOf<Id>;
  /** See {@link ApiRequest.resultIfDeleted}. */
  readonly resultIfDeleted?: AnswerOf<Id>;
  /** See {@link ApiRequest.endsOwnSession}. */
  readonly endsOwnSession?: boolean;
}

/** Calls operations of the API by their ids. */
export class ApiCaller {
  constructor(readonly requester: Requester) {}

  call<Id extends OperationId>(
    id: Id,
    { path, query, body, resultIfDeleted, endsOwnSession }: OperationInput<Id>,
    options?: RequestOptions,
  ): Call<AnswerOf<Id>> {
    return new Call(
      this.send<AnswerOf<Id>>(id, path, {
        ...options,
        ...(query !== undefined && { query: query as Record<string, unknown> }),
        ...(body !== undefined && { body }),
        ...(resultIfDeleted !== undefined && { resultIfDeleted }),
        ...(endsOwnSession !== undefined && { endsOwnSession }),
      }),
    );
  }

  list<Id extends OperationId>(
    id: Id,
    { path, query }: OperationInput<Id>,
    options?: RequestOptions,
  ): List<ItemOf<Id>> {
    return new List((cursor) => {
      const pageQuery = { ...query, ...(cursor !== undefined && { cursor }) };
      return new Call(this.send<Page<ItemOf<Id>>>(id, path, { ...options, query: pageQuery }));
    });
  }

  /** Sends a request whose body or response is not JSON. */
  send<T>(
    id: OperationId,
    path: Readonly<Record<string, string>> | undefined,
    request: Omit<ApiRequest, 'method' | 'path'>,
  ): Promise<ApiResponse<T>> {
    const [method, template] = OPERATIONS[id];
    return this.requester.request<T>({ ...request, method, path: fillPathTemplate(template, path) });
  }
}

function fillPathTemplate(template: string, values: Readonly<Record<string, string>> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    // Rejects an empty value or dots, which would form the path of another operation.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
      throw new TypeError(`${name} is not a valid ID: ${value}`);
    return encodeURIComponent(value);
  });
}

/** The `operationId` of an operation in the API's OpenAPI description. */
export type OperationId = keyof typeof OPERATIONS & keyof operations;

type Parameters<Id extends OperationId> = operations[Id]['parameters'];
type Defined<T> = Exclude<T, undefined>;
type ResponsesOf<Id extends OperationId> = operations[Id]['responses'];
type JsonBody<Answer> = Answer extends { content: { 'application/json': infer Json } } ? Json : never;
/**
 * Query parameters of an operation. A filter with several values also accepts an array, which is sent as values
 * separated by commas.
 */
type OneOrMore<Value> = Value extends readonly (infer One)[]
  ? One | readonly One[]
  : Value extends string
    ? Value | readonly Value[]
    : Value;

/** Response body of an operation. */
export type AnswerOf<Id extends OperationId> = JsonBody<ResponsesOf<Id>[keyof ResponsesOf<Id>]>;

/** JSON request body of an operation. */
export type BodyOf<Id extends OperationId> =
  Defined<operations[Id]['requestBody']> extends { content: { 'application/json': infer Json } } ? Json : never;

/** Filters, order and bounds of a list. */
export type QueryOf<Id extends OperationId> = {
  readonly [Name in keyof Defined<Parameters<Id>['query']>]: OneOrMore<Defined<Parameters<Id>['query']>[Name]>;
};

/** One item of a list. */
export type ItemOf<Id extends OperationId> = AnswerOf<Id> extends { data: (infer Item)[] } ? Item : never;

type Schemas = components['schemas'];

export type Shipment = Schemas['Shipment'];
export type ShipmentFields = Schemas['ShipmentFields'];
export type ShipmentWritten = Schemas['ShipmentWritten'];
export type Milestone = Schemas['Milestone'];
export type MilestoneFields = Schemas['MilestoneFields'];
export type MilestoneWritten = Schemas['MilestoneWritten'];
export type ShipmentException = Schemas['ShipmentException'];
export type WebhookEndpoint = Schemas['WebhookEndpoint'];
export type WebhookDelivery = Schemas['WebhookDelivery'];
export type WebhookDeadLetterSummary = Schemas['WebhookDeadLetterSummary'];
export type WebhookReplay = Schemas['WebhookReplay'];
export type WorkspaceSettings = Schemas['WorkspaceSettings'];
export type Warning = Schemas['Warning'];
export type FieldError = Schemas['FieldError'];

/** An event of a shipment; its `type` determines its `data`. Handle unknown types, which a newer service may send. */
export type TrackingEvent = components['schemas']['Event'];

export type EventType = TrackingEvent['type'];

/** Events of one type. */
export type EventOf<Type extends EventType> = Extract<TrackingEvent, { type: Type }>;
/** Body of a webhook: an event of a shipment or of another endpoint of the workspace. Handle unknown types. */
export type WebhookEvent =
  TrackingEvent | Schemas['WebhookEndpointFailingEvent'] | Schemas['WebhookDeliveryDeadLetteredEvent'];

/** Body of a webhook in any form. To an endpoint with `payload: 'thin'`, `data` has no snapshot of the resource. */
export type WebhookPayload = Schemas['WebhookPayload'];

/** Request that `webhookEndpoints.verify` sends to the endpoint. Respond with 2xx and the challenge as the body. */
export interface EndpointVerification {
  readonly id: string;
  readonly type: 'endpoint.verification';
  readonly created_at: string;
  readonly api_version: string;
  readonly data: { readonly challenge: string };
}
