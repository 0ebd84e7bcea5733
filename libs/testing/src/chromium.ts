import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where this machine has a Chromium: `CHROMIUM`, or where packages put it; undefined where it has none. */
export const CHROMIUM = process.env['CHROMIUM'] ?? PLACES.find((path) => existsSync(path));
/** What a process needs to be able to run it in a container, and as root. */
export const CHROMIUM_FLAGS = ['--no-sandbox', '--disable-dev-shm-usage'];
