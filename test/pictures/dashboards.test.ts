import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { buildRuleFiles } from '../../monitoring/src/rule-files.ts';
import { startDemo, stopAll, toolPath } from '../stack/processes.ts';
import { askAll, bundleViewer, draw, type Span } from './draw.ts';
import { scraped, startPrometheus, writeHistory } from './history.ts';

const dashboards = [...buildDashboards().values()];
const themes = ['light', 'dark'] as const;
const widthsPx = [1600, 1280] as const;
const dayMs = 86_400_000;
/** Long enough for alerts to fire. */
const liveSeconds = 90;

/** Whole dashboards, with all rows open. */
const wholeFolder = '.cache/pictures';
/** The pictures for the README and their heights in pixels: dashboards as they open. */
const shown: Readonly<Record<string, number>> = { 'bunnynet-overview': 1040, 'bunnynet-cdn': 900 };

/** Panels that are empty as long as the demo has no outage, with the text that they show. */
const quiet: Readonly<Record<string, string>> = {
  'Failing targets: the 50 longest without a reading': 'No target fails.',
  'Fields of the wrong type, in an hour': 'No field had the wrong type.',
  'Values that are not in the reference, in an hour': 'Every value is in the reference.',
};
/** Panels that are empty on some days, with the text that they show then. */
const mayBeQuiet: Readonly<Record<string, string>> = {
  'Firing alerts': 'No alert is firing.',
  'Learning ends in: the 10 next zones': 'No zone is learning.',
  'Instances missing': 'No application lacks an instance.',
};

let browser: Browser;
let viewer: string;
let folder: string;
let prometheus: string;
let span: Span;

/** Turns the minutes that an alert waits into seconds. */
function hasten(rules: string): string {
  return rules
    .replaceAll(/^(\s+for: \d+)[mh]$/gm, '$1s')
    .replaceAll(/^(\s+interval: ).*$/gm, (_, name: string) => `${name}5s`);
}

/** A day of the demo's history, and then some time in which a real Prometheus scrapes it. */
beforeAll(async () => {
  viewer = await bundleViewer();
  folder = await mkdtemp(join(tmpdir(), 'pictures-'));
  const ruleFiles = buildRuleFiles();
  const data = await writeHistory(folder, [...ruleFiles.values()], Date.now(), 24);
  for (const [file, text] of ruleFiles) await writeFile(join(folder, file), hasten(text));
  const demo = await startDemo(['--log.level=error']);
  const target = { targets: [new URL(demo).host], labels: { instance: scraped.instance } };
  const config = {
    global: { scrape_interval: '5s', evaluation_interval: '5s' },
    rule_files: [join(folder, '*.yml')],
    scrape_configs: [{ job_name: scraped.job, static_configs: [target] }],
  };
  ({ origin: prometheus } = await startPrometheus(folder, data, stringify(config)));
  await new Promise((resolve) => setTimeout(resolve, liveSeconds * 1000));
  const to = Math.floor(Date.now() / 1000);
  span = { from: to - dayMs / 1000, to };
  browser = await chromium.launch({
    executablePath: toolPath('chromium'),
    args: ['--no-sandbox', '--disable-gpu'],
  });
}, 900_000);

afterAll(async () => {
  await browser?.close();
  await stopAll();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

describe('the pictures of the dashboards', () => {
  it.each(dashboards)(
    '$title: no error, no cut title, and a value wherever there is one',
    async (dashboard) => {
      const asked = await askAll(prometheus, dashboard, span);
      await mkdir(wholeFolder, { recursive: true });
      const drawings = themes.flatMap((theme) => widthsPx.map((widthPx) => ({ ...asked, theme, widthPx })));
      for (const drawing of drawings) {
        const { theme, widthPx } = drawing;
        const whole = await draw(browser, viewer, { ...drawing, rowsAsSaved: false });
        await writeFile(join(wholeFolder, `${dashboard.uid}-${theme}-${widthPx}.png`), whole.png);
        expect(whole.errors).toEqual([]);
        expect(whole.panels.length).toBeGreaterThan(5);
        for (const { title, cut, error, nothing } of whole.panels) {
          expect.soft(error, title).toBeUndefined();
          if (widthPx === widthsPx[0]) expect.soft(cut, `${title} is cut`).toBe(false);
          if (mayBeQuiet[title] === undefined || nothing !== undefined) {
            expect.soft(nothing, title).toBe(quiet[title] ?? mayBeQuiet[title]);
          }
        }
        if (widthPx !== widthsPx[0]) continue;
        const heightPx = shown[dashboard.uid ?? ''];
        if (heightPx === undefined) continue;
        const { png } = await draw(browser, viewer, { ...drawing, rowsAsSaved: true }, heightPx);
        expect(png.length).toBeLessThan(200_000);
        const kept = process.env['PICTURES'];
        if (kept !== undefined) await writeFile(join(kept, `${dashboard.uid}-${theme}.png`), png);
      }
    },
  );

  it('find a title that is too long, an error, and a panel without values', async () => {
    const [dashboard] = dashboards;
    const stat = dashboard?.panels
      ?.flatMap((panel) => ('panels' in panel ? [] : [panel]))
      .find(({ type }) => type === 'stat');
    if (dashboard === undefined || stat === undefined) throw new Error('there is no stat panel');
    const panels = [
      {
        ...stat,
        id: 1,
        title: 'A title that does not fit into two columns',
        gridPos: { x: 0, y: 0, w: 2, h: 4 },
      },
      { ...stat, id: 2, title: 'Odd', type: 'piechart', gridPos: { x: 4, y: 0, w: 4, h: 4 } },
      { ...stat, id: 3, title: 'None', targets: [], gridPos: { x: 8, y: 0, w: 4, h: 4 } },
    ];
    const asked = await askAll(prometheus, { ...dashboard, panels }, span);
    const { panels: drawn } = await draw(browser, viewer, {
      ...asked,
      theme: 'light',
      widthPx: widthsPx[0],
      rowsAsSaved: true,
    });
    expect(drawn[0]).toMatchObject({ cut: true });
    expect(drawn[1]?.error).toMatch('piechart');
    expect(drawn[2]?.nothing).toBe('rules not loaded');
  });
});
