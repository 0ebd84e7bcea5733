import type { ClientOptions } from '../call.ts';
import { type OutgoingRequest, type Send, NoResponseError } from './request.ts';

/**
 * Returns a function that sends requests with fetch, which saves a page 18 kB compared to axios. Axios is loaded only
 * for uploads with progress, which fetch does not report.
 */
export function createSender(transport: ClientOptions['transport']): Send {
  const sendWithAxios = async (request: OutgoingRequest) =>
    (await import('./axios-sender.ts')).createAxiosSender(transport)(request);
  return (request) => (request.onUpload === undefined ? sendWithFetch(request) : sendWithAxios(request));
}

const sendWithFetch: Send = async ({ url, method, headers, withCredentials, signal, body, isStream }) => {
  const { type, sent } = toFetchBody(body);
  try {
    const answer = await fetch(url, {
      ...{ method, signal, credentials: withCredentials ? 'include' : 'same-origin' },
      headers: { ...type, ...headers },
      body: sent,
    });
    const data = isStream ? answer.body : parseResponseText(await answer.text());
    return { status: answer.status, headers: Object.fromEntries(answer.headers), data };
  } catch (error) {
    throw new NoResponseError(error instanceof Error ? error.message : 'The request failed.', undefined, error);
  }
};

type FetchBody = Exclude<RequestInit['body'], undefined>;

/** Returns a body that fetch can send unchanged, and converts any other body to JSON. */
function toFetchBody(body: unknown): { readonly sent: FetchBody; readonly type?: { readonly 'Content-Type': string } } {
  if (body === undefined) return { sent: null };
  const isBytes = body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body);
  if (isBytes || body instanceof FormData || typeof body === 'string') return { sent: body as FetchBody };
  return { sent: JSON.stringify(body), type: { 'Content-Type': 'application/json' } };
}

function parseResponseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
