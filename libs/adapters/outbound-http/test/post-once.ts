import { createOutboundHttp } from '../src/index.ts';

/**
 * Sends a POST to the URL given as argument and prints the outcome. It runs in a separate process with its own
 * environment variables.
 */
const outboundHttp = createOutboundHttp({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });
const outboundPostOutcome = await outboundHttp.post({
  url: process.argv[2] ?? '',
  headers: {},
  body: '{}',
  timeoutMs: 20_000,
});
await outboundHttp.closeOutboundHttp();
console.log(JSON.stringify(outboundPostOutcome));
