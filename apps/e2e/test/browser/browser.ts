import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { CHROMIUM_PATH, CHROMIUM_FLAGS, scaleTimeout } from '@tracking/testing';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { SignedInUser } from '../people.ts';
import type { SystemUnderTest } from '../subject.ts';

/** Declares tests that need a browser. If no browser is installed, they are reported as not tested, with the reason. */
export function declareBrowserTests(name: string, tests: () => void): void {
  if (CHROMIUM_PATH !== undefined) describe(name, tests);
  else test.todo(`${name} [not tested: no Chromium, see CHROMIUM]`);
}

/** Folder for screenshots of pages. If it is not set, no screenshots are taken. */
const { SCREENSHOTS } = process.env;

export const WIDE_BROWSER_WINDOW_SIZE = { width: 1400, height: 900 };
export const NARROW_BROWSER_WINDOW_SIZE = { width: 390, height: 844 };

export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM_PATH !== undefined && { executablePath: CHROMIUM_PATH }),
    args: CHROMIUM_FLAGS,
  });
}

/** A 404 response for `route.fulfill`. */
export function createNotFoundResponse(message: string) {
  return { status: 404, json: { error: { type: 'not_found', code: 'not_found', message } } };
}

/** Page in its own browser context, with the session of a user. */
export class BrowserWindow {
  /** Script errors, violations of the content security policy, and unexpected responses. */
  readonly complaints: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly base: string,
  ) {
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // Responses with a 4xx status may be expected.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) this.complaints.push(message.text());
    });
  }

  /** @param person user whose session the page has; no session if absent */
  static async openBrowserWindow(
    browser: Browser,
    subject: SystemUnderTest,
    person?: SignedInUser,
    viewport = WIDE_BROWSER_WINDOW_SIZE,
    timezoneId = 'Europe/Amsterdam',
  ): Promise<BrowserWindow> {
    const [base = ''] = subject.urls;
    const context = await browser.newContext({
      viewport,
      baseURL: base,
      locale: 'en-GB',
      timezoneId,
    });
    context.setDefaultTimeout(scaleTimeout(40_000));
    if (person !== undefined) {
      const [name = '', value = ''] = person.cookie.split('=');
      await context.addCookies([{ name, value, url: base, httpOnly: true, sameSite: 'Lax' }]);
    }
    return new BrowserWindow(context, await context.newPage(), base);
  }

  /** Withholds the response of the event stream, so that the page receives no events. */
  async withholdEventStreamFromPage(): Promise<void> {
    await this.page.route(
      ({ pathname }) => pathname === '/v1/events/stream',
      () => undefined,
    );
  }

  async openPageAtPath(path: string): Promise<void> {
    await this.page.goto(this.base + path);
    await this.waitForPageData();
  }

  /** Resolves when the page shows its data. */
  async waitForPageData(): Promise<void> {
    // The code of a page is loaded on the first visit. Until then the page has neither a heading nor a loading
    // indicator. One section of the page may start to load after another one is complete.
    await this.page
      .locator('main:has(h1, [role=alert]):not(:has([aria-label^="Loading"], [aria-busy=true]))')
      .waitFor();
  }

  /** Switches the color scheme. Resolves when the page shows it. */
  async switchColorScheme(colorScheme: 'light' | 'dark'): Promise<void> {
    await this.page.emulateMedia({ colorScheme });
    await this.page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: 'attached' });
    await this.page.evaluate(
      'Promise.allSettled(document.getAnimations().map((one) => one instanceof CSSTransition && one.finished))',
    );
  }

  /** Returns the accessibility violations that axe finds on the page, each with its rule and element. */
  async findAccessibilityViolations(): Promise<readonly string[]> {
    const { violations } = await new AxeBuilder({ page: this.page }).analyze();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  }

  async takeScreenshot(name: string): Promise<void> {
    if (SCREENSHOTS === undefined) return;
    await mkdir(SCREENSHOTS, { recursive: true });
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
  }

  closeBrowserWindow(): Promise<void> {
    return this.context.close();
  }
}
