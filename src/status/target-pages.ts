/** The pages about the targets: as HTML for people, and as JSON. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerText, answerWhole } from '../http/answer.ts';
import { Readers } from '../http/readers.ts';
import type { Route } from '../http/route.ts';
import type { ListingStatus } from '../polling/listings.ts';
import type { TargetStatus } from '../polling/target-states.ts';
import { causesOf } from './causes.ts';
import type { BuildInfo, ExporterStatus } from './content.ts';
import { renderTargets } from './json.ts';
import { renderStatusPage, statusPageHeaders } from './page.ts';
import { linkTo, parseQuery, QueryError, type StatusQuery } from './query.ts';
import { type ListingQueryResult, queryListings } from './query-listings.ts';
import {
  type KindNames,
  type NextPoll,
  pageOf,
  queryTargets,
  type TargetQueryResult,
} from './query-targets.ts';
import { targetsPerPage } from './targets-panel.ts';

export interface TargetPagesOptions {
  readonly telemetryPath: string;
  /** In the order in which they are shown. */
  readonly kinds: readonly KindNames[];
  readonly build: BuildInfo;
  readonly exporterStatus: () => ExporterStatus;
  readonly targets: () => readonly TargetStatus[];
  readonly listings: () => readonly ListingStatus[];
  readonly nextPollInMs: NextPoll;
}

/** Queries of the targets at the same time; one more is answered with a 503. */
const maxConcurrentQueries = 16;
const retryAfterSeconds = 1;

interface Found {
  readonly query: StatusQuery;
  /** All of them, whatever the query. */
  readonly statuses: readonly TargetStatus[];
  readonly allListings: readonly ListingStatus[];
  readonly targets: TargetQueryResult;
  readonly listings: ListingQueryResult;
}

type AnswerTargets = (
  found: Found,
  request: IncomingMessage,
  response: ServerResponse,
) => void | Promise<void>;

export function createTargetPages({ targets, listings, ...options }: TargetPagesOptions): readonly Route[] {
  const kinds = options.kinds.map(({ kind }) => kind);
  const conditions = [
    ...new Set(options.kinds.flatMap(({ condition }) => Object.keys(condition?.states ?? {}))),
  ];
  const readers = new Readers();
  let queries = 0;

  const handle =
    (answer: AnswerTargets, isUntidy = (_query: URLSearchParams) => false): Route['handle'] =>
    async (request, response, given) => {
      let query: StatusQuery;
      try {
        query = parseQuery(given, kinds, conditions);
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        return answerText(response, 400, error.message);
      }
      if (isUntidy(given)) return redirect(response, linkTo(query));
      if (queries >= maxConcurrentQueries) {
        response.setHeader('Retry-After', retryAfterSeconds);
        return answerText(response, 503, `${queries} queries are being answered, which is the limit`);
      }
      queries++;
      let found: Found;
      try {
        const [statuses, allListings] = [targets(), listings()];
        found = {
          query,
          statuses,
          allListings,
          targets: await queryTargets(statuses, options.kinds, query, options.nextPollInMs),
          listings: queryListings(allListings, query),
        };
      } finally {
        queries--;
      }
      if (!response.destroyed) await answer(found, request, response);
    };

  const html = handle((found, _, response) => {
    const { build, nextPollInMs, telemetryPath } = options;
    const page = renderStatusPage({
      kinds: options.kinds,
      build,
      exporter: options.exporterStatus(),
      result: found.targets,
      listings: found.listings,
      causes: causesOf(found.statuses, found.allListings, options.kinds, Date.now()),
      query: found.query,
      nextPollInMs,
      metricsHref: `.${telemetryPath}`,
      links: linksOf(telemetryPath),
      nowMs: Date.now(),
    });
    answerWhole(response, 'text/html', page);
  }, isForm);

  const json = handle(({ query, targets: result, listings: listed }, { method }, response) => {
    const { matching } = result;
    const shown =
      query.page === undefined
        ? { items: matching, page: 1, pages: 1 }
        : pageOf(matching, query.page, targetsPerPage);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    if (method === 'HEAD') return void response.end();
    const parts = renderTargets(result, shown, listed, options.nextPollInMs, Date.now());
    return readers.send(response, parts);
  });

  return [
    { path: '/', methods: ['GET'], headers: statusPageHeaders, handle: html },
    { path: '/api/v1/targets', methods: ['GET'], handle: json },
  ];
}

/** A form sends what is not set, too; an address keeps only what is. */
function isForm(query: URLSearchParams): boolean {
  return query.has('sort', 'state') || [...query.values()].includes('');
}

function redirect(response: ServerResponse, location: string): void {
  response.statusCode = 303;
  response.setHeader('Location', location);
  response.setHeader('Content-Length', 0);
  response.end();
}

/** Links are relative, so that they hold behind a proxy that serves the pages under a path of its own. */
function linksOf(telemetryPath: string) {
  return [
    { href: `.${telemetryPath}`, text: 'Metrics' },
    { href: './api/v1/targets', text: 'JSON' },
    { href: './config', text: 'Config' },
    { href: './-/healthy', text: 'Health' },
    { href: './-/ready', text: 'Ready' },
  ];
}
