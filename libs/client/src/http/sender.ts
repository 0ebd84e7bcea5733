/** Sends requests with axios. For browsers, package.json replaces this module by {@link ./sender.browser.ts}. */
export { createAxiosSender as createSender } from './axios-sender.ts';
