// Puts what acts on the metrics into share/bunnynet-exporter, for the packages: rules, dashboards, the mixin, runbooks.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}/share/bunnynet-exporter`;
const sources = [
  'monitoring/rules',
  'monitoring/history-rules.yml',
  'monitoring/dashboards',
  'monitoring/mixin.libsonnet',
  'monitoring/mixin-rules.json',
  'docs/runbooks',
];
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const source of sources)
  cpSync(`${root}/${source}`, `${target}/${source.slice(source.indexOf('/') + 1)}`, { recursive: true });
