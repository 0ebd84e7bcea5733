// Runs a process with one shutdown step. The step hangs if an argument requests that.
import { Shutdown, createLogger } from '../dist/index.js';

const shutdown = new Shutdown(await createLogger({ level: 'info', service: 'child' }), 60_000);
const never = new Promise(() => setInterval(() => undefined, 60_000));
if (process.argv[2] === 'hangs') shutdown.addShutdownStep('step', () => never);
// Ends in several turns of the loop, as everything does that closes connections.
else shutdown.addShutdownStep('step', () => new Promise((resolve) => setTimeout(resolve, 100)));
shutdown.shutDownOnSignals();
setInterval(() => undefined, 60_000);
process.stdout.write('running\n');
