/** Marks in the charts of a dashboard. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { AnnotationQuery } from '@grafana/grafana-foundation-sdk/dashboard';
import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard';
import { dataSource } from './panels.ts';

/** What Grafana's Prometheus data source reads from an annotation, and its types lack. */
interface Reading {
  readonly titleFormat: string;
  readonly textFormat?: string;
  readonly tagKeys?: string;
  /** The value of a series is the time of the mark, in milliseconds. */
  readonly useValueForTime?: true;
}

export function annotation(
  name: string,
  color: string,
  expr: string,
  reading: Reading,
): Builder<AnnotationQuery> {
  const builder = new AnnotationQueryBuilder()
    .name(name)
    .datasource(dataSource)
    .enable(true)
    .iconColor(color)
    .expr(expr);
  return { build: () => ({ ...builder.build(), step: '60s', ...reading }) };
}

/** A mark at the time that each series has as its value, in seconds. */
export function markAt(name: string, color: string, series: string, title: string): Builder<AnnotationQuery> {
  return annotation(name, color, `1000 * ${series}`, { titleFormat: title, useValueForTime: true });
}
