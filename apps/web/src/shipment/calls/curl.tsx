import { Snippet } from './snippet.tsx';
import { type HttpCall, curlOf } from './curl-of.ts';

/** A call as a command to copy; its key is a placeholder. */
export function Curl(call: HttpCall) {
  return <Snippet text={curlOf(call, globalThis.location.origin)} what="the command" />;
}
