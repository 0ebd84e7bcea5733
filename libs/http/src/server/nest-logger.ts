import type { LoggerService } from '@nestjs/common';
import type { Logger } from '@tracking/ports';

/** The framework's own lines in our log; its chatter about every route it maps is left out. */
export function nestLogger(logger: Logger): LoggerService {
  return {
    log: () => undefined,
    warn: (message: unknown) => logger.warn({ source: 'nest' }, String(message)),
    error: (message: unknown) => logger.error({ source: 'nest' }, String(message)),
  };
}
