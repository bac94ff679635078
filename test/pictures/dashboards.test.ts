import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildDashboards } from '../../monitoring/src/dashboards.ts';
import { buildRuleFiles } from '../../monitoring/src/rule-files.ts';
import { chromiumFlags, stopAll, toolPath } from '../stack/processes.ts';
import { ask, numberOf } from '../stack/prometheus.ts';
import { askAll, bundleViewer, draw, type Span } from './draw.ts';
import { startPrometheus, writeHistory } from './history.ts';

const dashboards = [...buildDashboards().values()];
const themes = ['light', 'dark'] as const;
const widthsPx = [1600, 1280] as const;
const dayMs = 86_400_000;
/** The demo's clock when the pictures are taken: the last time that it was this hour. An application has then failed for 42 minutes. */
const hourOfDayMs = (12 * 60 + 42.5) * 60_000;
const nowMs = Math.floor((Date.now() - hourOfDayMs) / dayMs) * dayMs + hourOfDayMs;
const span: Span = { from: (nowMs - dayMs) / 1000, to: nowMs / 1000 };
/** So that rates over two hours have their values when the day begins. */
const beforeMs = 7_200_000;

/** Whole dashboards, with all rows open. */
const wholeFolder = '.cache/pictures';
/** The pictures for the README and their heights in pixels: dashboards as they open. */
const shown: Readonly<Record<string, number>> = { 'bunnynet-overview': 1040, 'bunnynet-cdn': 900 };

/** Panels that are empty as long as the demo has no outage, with the text that they show. */
const quiet: Readonly<Record<string, string>> = {
  'Failing targets by time since the last reading (top 50)': 'No target fails.',
  'Fields of the wrong type per hour': 'No field had the wrong type.',
  'Unrecognized values per hour': 'Every value is in the reference.',
};
/** Panels that are empty on some days, with the text that they show then. */
const mayBeQuiet: Readonly<Record<string, string>> = {
  'Firing alerts': 'No alert is firing.',
  'Pull zones with a truncated error log': 'No error log is truncated.',
  'Changes in the past hour (top 10)': 'Nothing was changed.',
  'Learning mode ends in (next 10)': 'No zone is learning.',
  'Missing instances': 'No application lacks an instance.',
};

let browser: Browser;
let viewer: string;
let folder: string;
let prometheus: string;

beforeAll(async () => {
  viewer = await bundleViewer();
  folder = await mkdtemp(join(tmpdir(), 'pictures-'));
  const data = await writeHistory(folder, buildRuleFiles().values(), nowMs - dayMs - beforeMs, nowMs);
  ({ address: prometheus } = await startPrometheus(folder, data));
  browser = await chromium.launch({ executablePath: toolPath('chromium'), args: chromiumFlags });
  // Only what hangs meets it.
}, 3_600_000);

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

  it('have alerts that began minutes and hours ago', async () => {
    const query = 'time() - bunnynet:firing_alerts:since_seconds';
    const ages = await ask(prometheus, 'query', { query, time: `${span.to}` });
    const seconds = ages.map((age) => numberOf([age]));
    expect(Math.min(...seconds)).toBeGreaterThan(600);
    expect(Math.min(...seconds)).toBeLessThan(3600);
    expect(Math.max(...seconds)).toBeGreaterThan(10 * 3600);
  });

  it('have charts of traffic that end without a drop', async () => {
    for (const dashboard of dashboards.filter(({ uid = '' }) => uid in shown)) {
      const { panels, answers } = await askAll(prometheus, dashboard, span);
      const ofTraffic = panels.filter(
        ({ type, fieldConfig }) =>
          type === 'timeseries' && /"unit":"(reqps|Bps)"/.test(JSON.stringify(fieldConfig)),
      );
      expect(ofTraffic.length).toBeGreaterThan(1);
      for (const { id, title } of ofTraffic)
        for (const { metric, values } of Object.values(answers[id] ?? {}).flat()) {
          const [before = 0, last = 0] = values.slice(-2).map(([, value]) => Number(value));
          expect(last, `${title} ${JSON.stringify(metric)}`).toBeGreaterThan(0.9 * before);
        }
    }
  });

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
