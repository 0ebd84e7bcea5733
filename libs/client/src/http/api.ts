import type { AnswerOf, BodyOf, ItemOf, OperationId, QueryOf } from '../api-types.ts';
import { Call, type Answered } from '../call.ts';
import { OPERATIONS } from '../generated/operations.ts';
import { List, type Page } from '../list.ts';
import type { RequestOptions } from '../options.ts';
import type { ApiRequest } from './request.ts';
import type { Requester } from './requester.ts';

export interface Input<Id extends OperationId> {
  /** What stands in the braces of the operation's path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: QueryOf<Id>;
  readonly body?: BodyOf<Id>;
  /** See {@link ApiRequest.gone}. */
  readonly gone?: AnswerOf<Id>;
  /** See {@link ApiRequest.endsOwnSession}. */
  readonly endsOwnSession?: boolean;
}

/** The operations of the API by their ids, which the groups of methods give names and forms. */
export class Api {
  constructor(readonly requester: Requester) {}

  call<Id extends OperationId>(
    id: Id,
    { path, query, body, gone, endsOwnSession }: Input<Id>,
    options?: RequestOptions,
  ): Call<AnswerOf<Id>> {
    return new Call(
      this.send<AnswerOf<Id>>(id, path, {
        ...options,
        ...(query !== undefined && { query: query as Record<string, unknown> }),
        ...(body !== undefined && { body }),
        ...(gone !== undefined && { gone }),
        ...(endsOwnSession !== undefined && { endsOwnSession }),
      }),
    );
  }

  list<Id extends OperationId>(id: Id, { path, query }: Input<Id>, options?: RequestOptions): List<ItemOf<Id>> {
    return new List((cursor) => {
      const asked = { ...query, ...(cursor !== undefined && { cursor }) };
      return new Call(this.send<Page<ItemOf<Id>>>(id, path, { ...options, query: asked }));
    });
  }

  /** For what is more than JSON to and fro. */
  send<T>(
    id: OperationId,
    path: Readonly<Record<string, string>> | undefined,
    request: Omit<ApiRequest, 'method' | 'path'>,
  ): Promise<Answered<T>> {
    const [method, template] = OPERATIONS[id];
    return this.requester.request<T>({ ...request, method, path: filled(template, path) });
  }
}

function filled(template: string, values: Readonly<Record<string, string>> = {}): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    // These would make the path of another operation.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} is not an id: ${value}`);
    return encodeURIComponent(value);
  });
}
