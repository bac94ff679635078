import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumFlags, startDemo, stopAll, toolPath } from '../stack/processes.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: toolPath('chromium'), args: chromiumFlags });
});
afterAll(async () => {
  await browser.close();
  await stopAll();
});

const picturesFolder = 'docs/pictures';
const maxPictureBytes = 200_000;
/** README.md shows it half as large. */
const phoneScale = 1.6;

/** Width and height of a PNG. */
async function sizeOf(file: string): Promise<readonly [number, number]> {
  const bytes = await readFile(file);
  expect(bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  expect(bytes.length, file).toBeLessThan(maxPictureBytes);
  expect(bytes.length, file).toBeGreaterThan(20_000);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

describe('the pictures of the documentation', () => {
  it('show the demo during its scripted outage', { timeout: 240_000 }, async () => {
    const folder = process.env['PICTURES'] ?? '.cache/pictures';
    await mkdir(folder, { recursive: true });
    const origin = await startDemo(['--demo.outage']);
    // After two minutes the Shield API asks for a pause, while a key is refused and applications fail.
    await expect
      .poll(async () => await (await fetch(`${origin}/`)).text(), { timeout: 200_000, interval: 250 })
      .toContain('The shield API answered 429');
    const wide = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const small = await browser.newPage({
      viewport: { width: 390, height: 600 },
      deviceScaleFactor: phoneScale,
    });
    await Promise.all([wide, small].map((tab) => tab.goto(`${origin}/`)));
    expect(await wide.locator('.problem').count()).toBeGreaterThan(1);
    for (const colorScheme of ['light', 'dark'] as const) {
      await wide.emulateMedia({ colorScheme });
      await wide.screenshot({ path: join(folder, `status-${colorScheme}.png`) });
    }
    await small.evaluate(`document.querySelector('.problem').parentElement.scrollIntoView()`);
    await small.screenshot({ path: join(folder, 'status-phone.png') });

    const expected = {
      'status-dark.png': [1280, 900],
      'status-light.png': [1280, 900],
      'status-phone.png': [390, 600].map((px) => px * phoneScale),
    };
    for (const [name, size] of Object.entries(expected)) {
      expect(await sizeOf(join(folder, name)), name).toEqual(size);
      expect(await sizeOf(join(picturesFolder, name)), name).toEqual(size);
    }
    const committed = (await readdir(picturesFolder)).filter((name) => name.startsWith('status-'));
    expect(committed.toSorted()).toEqual(Object.keys(expected));
  });
});
