import { createOutboundHttp } from '../src/index.ts';

/** POSTs to the URL given as argument, as a process with an environment of its own, and prints the outcome. */
const http = createOutboundHttp({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true });
const outcome = await http.post({ url: process.argv[2] ?? '', headers: {}, body: '{}', timeoutMs: 20_000 });
await http.close();
console.log(JSON.stringify(outcome));
