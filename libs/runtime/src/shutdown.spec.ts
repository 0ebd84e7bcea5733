import type { Logger } from '@tracking/ports';
import { Shutdown } from './shutdown.ts';

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

describe('Shutdown', () => {
  it('stops in reverse order, once, and continues after a step that fails', async () => {
    const stopped: string[] = [];
    const shutdown = new Shutdown(silent, 1_000);
    shutdown.addShutdownStep('engine', async () => void stopped.push('engine'));
    shutdown.addShutdownStep('broken', () => Promise.reject(new Error('no')));
    shutdown.addShutdownStep('http', async () => void stopped.push('http'));
    await Promise.all([shutdown.runShutdownSteps(), shutdown.runShutdownSteps()]);
    expect(stopped).toEqual(['http', 'engine']);
  });
});
