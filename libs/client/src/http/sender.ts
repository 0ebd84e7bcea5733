/** How requests are sent: in browsers package.json puts {@link ./sender.browser.ts} in its place. */
export { axiosSender as sender } from './axios-sender.ts';
