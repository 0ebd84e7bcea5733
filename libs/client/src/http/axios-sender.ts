import axios from 'axios';
import type { ClientOptions } from '../call.ts';
import { type Send, NoResponseError } from './request.ts';

/** Returns a function that sends requests with axios. */
export function createAxiosSender(transport: ClientOptions['transport']): Send {
  const http = axios.create({
    ...transport,
    maxRedirects: 0,
    maxBodyLength: Infinity,
    maxContentLength: Infinity,
    validateStatus: () => true,
  });
  return async ({ body, onUpload, isStream, headers, ...request }) => {
    const config = {
      ...request,
      headers: { ...headers },
      ...(body !== undefined && { data: body }),
      ...(onUpload && { onUploadProgress: ({ loaded, total }: RequestUploadProgress) => onUpload({ loaded, total }) }),
      // Use the fetch adapter only for streamed responses: it is the only one that streams, but it reports no progress.
      ...(isStream && { adapter: 'fetch' as const, responseType: 'stream' as const }),
    };
    try {
      const { status, headers: answered, data } = await http.request<unknown>(config);
      return { status, headers: { ...answered }, data };
    } catch (error) {
      if (!axios.isAxiosError(error)) throw error;
      throw new NoResponseError(error.message, error.code, error);
    }
  };
}

interface RequestUploadProgress {
  readonly loaded: number;
  readonly total?: number | undefined;
}
