import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Logs lines in several turns of the loop, then prints the metric of dropped lines to standard error and exits with 0.
 */
const program = `
  import { createLogger, PrometheusMetrics, Shutdown } from '@tracking/runtime';
  import { setTimeout as pause } from 'node:timers/promises';
  const metrics = new PrometheusMetrics('child');
  const logger = await createLogger({ level: 'info', service: 'child' });
  new Shutdown(logger, 2_000).shutDownOnUncaughtErrors();
  logger.info({}, 'first');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  for (let n = 0; n < 10; n += 1) {
    logger.info({ n, padding: '.'.repeat(100_000) }, 'another');
    process.stdout.write('from a library');
    await pause(10);
  }
  const { body } = await metrics.formatMetricsText();
  process.stderr.write(/^log_lines_dropped_total.*$/m.exec(body)[0]);
  process.exit(0);
`;

function start(stdout: number | 'pipe') {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['pipe', stdout, 'pipe'],
  });
  let errors = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const end = async () => {
    child.stdin!.write('go on');
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, errors };
  };
  return { child, end };
}

const report = (code: string) =>
  `standard output fails (${code}): log lines are dropped and counted in log_lines_dropped_total\n`;
const counted = (lines: number) => `log_lines_dropped_total{service="child"} ${lines}`;

describe('a process whose standard output fails', () => {
  it('continues after its reader ended, and counts the dropped lines', async () => {
    const { child, end } = start('pipe');
    await once(child.stdout!, 'data');
    child.stdout!.destroy();
    expect(await end()).toEqual({ code: 0, errors: report('EPIPE') + counted(10) });
  });

  it('continues while its reader does not read', async () => {
    const { child, end } = start('pipe');
    await once(child.stdout!, 'data');
    child.stdout!.pause();
    const { code, errors } = await end();
    expect(errors).toMatch(/^standard output fails \(EAGAIN\).*\nlog_lines_dropped_total\S+ [1-9]/);
    expect(code).toBe(0);
  });

  (existsSync('/dev/full') ? it : it.skip)('continues on a full disk, and counts the dropped lines', async () => {
    const full = openSync('/dev/full', 'w');
    const { code, errors } = await start(full).end();
    closeSync(full);
    expect({ code, errors }).toEqual({ code: 0, errors: report('ENOSPC') + counted(11) });
  });
});
