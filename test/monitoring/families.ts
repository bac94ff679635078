/** The metric families that the exporter can expose, with their labels where they are declared. */
import { allLabelsOf, catalogue } from '../../src/resources/catalogue.ts';
import { resources } from '../../src/resources/kinds/index.ts';
import { createTelemetry } from '../../src/telemetry.ts';
import { inventory } from '../inventory.ts';

/** Series that Prometheus adds itself. */
export const synthetic = ['up', 'scrape_duration_seconds', 'ALERTS', 'ALERTS_FOR_STATE'] as const;

export type Families = ReadonlyMap<string, readonly string[] | undefined>;

/** Labels by name. The labels of the exporter's own families are undefined; a histogram or summary is listed by its series. */
export async function knownFamilies(): Promise<Families> {
  const families = new Map<string, readonly string[] | undefined>();
  for (const family of catalogue) families.set(family.name, allLabelsOf(family));
  const telemetry = createTelemetry(resources, inventory);
  for (const [, name = '', type] of Buffer.concat(await telemetry.render('text'))
    .toString()
    .matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    const suffixes = { histogram: ['_bucket', '_sum', '_count'], summary: ['_sum', '_count'] }[
      type ?? ''
    ] ?? [''];
    for (const suffix of suffixes) families.set(name + suffix, undefined);
  }
  for (const name of synthetic) families.set(name, undefined);
  return families;
}
