import { createOutboundHttp } from '../src/index.ts';

/**
 * Sends a POST to the URL given as argument and prints the outcome. Runs as a process with an environment of its own.
 */
const http = createOutboundHttp({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });
const outcome = await http.post({ url: process.argv[2] ?? '', headers: {}, body: '{}', timeoutMs: 20_000 });
await http.close();
console.log(JSON.stringify(outcome));
