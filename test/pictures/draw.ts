/** Draws dashboards in a browser with Grafana's own panels (monitoring/pictures) and data from a Prometheus. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import type { Drawing, Drawn, Mark, Series } from '../../monitoring/pictures/drawing.ts';
import { annotationQueries, queriesOf, substitute } from '../monitoring/dashboard-queries.ts';
import { ask } from '../stack/prometheus.ts';

const folder = fileURLToPath(new URL('../../monitoring/pictures/', import.meta.url));
const requireFromFolder = createRequire(join(folder, 'package.json'));
const publicFiles = join(folder, 'node_modules/@grafana/ui/dist/public');
const origin = 'http://pictures.invalid';

/** The time range of the picture, Unix time in seconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** At most 200 points, as for the panels. */
const stepOf = ({ from, to }: Span): number => Math.max(5, Math.ceil((to - from) / 200 / 60) * 60);

/** esbuild cannot bundle Grafana's ES modules: they import CommonJS packages in another bundler's way. */
function asCommonJs(name: string): readonly [string, string] {
  return [`@grafana/${name}`, requireFromFolder.resolve(`@grafana/${name}`)];
}

/** The viewer as one script. */
export async function bundleViewer(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'viewer.tsx')],
    bundle: true,
    write: false,
    format: 'iife',
    // Imported by a CSV parser, for Node's streams only.
    external: ['stream'],
    jsx: 'automatic',
    alias: Object.fromEntries(['data', 'schema', 'ui'].map(asCommonJs)),
    minify: true,
    legalComments: 'none',
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"development"', global: 'window' },
    loader: { '.css': 'text' },
  });
  const [script] = outputFiles;
  if (script === undefined) throw new Error('esbuild wrote nothing');
  return script.text;
}

function askIn(
  prometheus: string,
  expr: string,
  isInstant: boolean,
  span: Span,
  stepSeconds = stepOf(span),
): Promise<readonly Series[]> {
  const { from, to } = span;
  const query = substitute(expr, { rangeSeconds: to - from, stepSeconds });
  const range = { start: `${from}`, end: `${to}`, step: `${stepSeconds}` };
  return isInstant
    ? ask(prometheus, 'query', { query, time: `${to}` })
    : ask(prometheus, 'query_range', { query, ...range });
}

/** The step of annotations in the dashboards. */
const markStepSeconds = 60;

/** When the values of a series begin and end, also at gaps; only the begin where they last no longer than `shortSeconds`. */
function endsOf(values: Series['values'], shortSeconds: number): readonly number[] {
  const times = values.map(([at]) => at);
  const ends = times.filter((at, place) => (times[place + 1] ?? Infinity) - at > markStepSeconds);
  const begins = times.filter((at, place) => at - (times[place - 1] ?? -Infinity) > markStepSeconds);
  return begins.flatMap((begin, run) => {
    const end = ends[run] ?? begin;
    return end - begin > shortSeconds ? [begin, end] : [begin];
  });
}

/** Everything that a dashboard shows for the span. */
export async function askAll(
  prometheus: string,
  dashboard: Dashboard,
  span: Span,
): Promise<Omit<Drawing, 'theme' | 'widthPx' | 'rowsAsSaved'>> {
  const stepSeconds = stepOf(span);
  const answers: Record<number, Record<string, readonly Series[]>> = {};
  for (const { panelId, refId, expr, instant } of queriesOf(dashboard)) {
    answers[panelId] = { ...answers[panelId], [refId]: await askIn(prometheus, expr, instant, span) };
  }
  const marks: Mark[] = [];
  for (const { expr, color, hasTimes } of annotationQueries(dashboard)) {
    for (const { values } of await askIn(prometheus, expr, false, span, markStepSeconds)) {
      const times = hasTimes ? values.map(([, value]) => Number(value) / 1000) : endsOf(values, stepSeconds);
      marks.push(...[...new Set(times)].map((at) => ({ at, color })));
    }
  }
  return {
    ...span,
    stepSeconds,
    title: dashboard.title ?? '',
    // As Grafana reads them: without the functions that the builders leave in.
    panels: JSON.parse(JSON.stringify(dashboard.panels ?? [])) as Drawing['panels'],
    answers,
    marks: marks.filter(({ at }) => at > span.from && at < span.to - stepSeconds),
  };
}

const html = '<!doctype html><meta charset="utf-8"><div id="root"></div><script src="/viewer.js"></script>';

/** A tab with the viewer. Its requests are answered from the packages; nothing leaves the machine. */
async function openViewer(browser: Browser, viewer: string, widthPx: number): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: widthPx, height: 900 }, timezoneId: 'UTC' });
  await page.route('**/*', async (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: html });
    if (pathname === '/viewer.js') return route.fulfill({ contentType: 'text/javascript', body: viewer });
    const [, icon] = /^.*?\/(img\/icons\/[\w/-]+\.svg)$/.exec(pathname) ?? [];
    const body =
      icon === undefined ? undefined : await readFile(join(publicFiles, icon)).catch(() => undefined);
    return body ? route.fulfill({ contentType: 'image/svg+xml', body }) : route.fulfill({ status: 404 });
  });
  await page.addInitScript(`window.__grafana_public_path__ = '${origin}/public/';`);
  await page.goto(`${origin}/`);
  return page;
}

export interface Picture {
  readonly png: Buffer;
  readonly panels: readonly Drawn[];
  /** Errors of the page. */
  readonly errors: readonly string[];
}

/** A picture of the whole dashboard or of its upper part. */
export async function draw(
  browser: Browser,
  viewer: string,
  drawing: Drawing,
  heightPx?: number,
): Promise<Picture> {
  const page = await openViewer(browser, viewer, drawing.widthPx);
  try {
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    const panels = await page.evaluate((each) => globalThis.draw(each), drawing);
    // An icon is a box until it has been loaded.
    await page.waitForFunction(`!document.querySelector('div[class*="-Icon"]')`);
    const png =
      heightPx === undefined
        ? await page.locator('#root').screenshot()
        : await page.screenshot({
            fullPage: true,
            clip: { x: 0, y: 0, width: drawing.widthPx, height: heightPx },
          });
    return { png, panels, errors };
  } finally {
    await page.close();
  }
}
