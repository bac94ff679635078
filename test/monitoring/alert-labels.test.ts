import { describe, expect, it } from 'vitest';
import { expandLabels } from './alert-labels.ts';
import { alerts } from './rules-read.ts';

const account =
  '{{ with query (printf "configured{namespace=%q,app_id=%q}" $labels.namespace $labels.app_id) | sortByLabel "account" }}{{ . | first | label "account" }}{{ end }}';
const severity = '{{ or $labels.severity "critical" }}';

describe('the labels of an alert', () => {
  it('are those of the series, and the first account that the query of the template finds', async () => {
    const asked: string[] = [];
    const labels = await expandLabels({ account, severity, team: 'web' }, { app_id: 'a"1' }, (expr) => {
      asked.push(expr);
      return Promise.resolve([{ account: 'umbrella' }, { account: 'acme' }]);
    });
    expect(labels).toEqual({ app_id: 'a"1', account: 'acme', severity: 'critical', team: 'web' });
    expect(asked).toEqual([String.raw`configured{namespace="",app_id="a\"1"}`]);
  });

  it('have the severity that the expression gives, and none that is empty', async () => {
    const labels = { severity: 'warning', account: 'acme' };
    expect(await expandLabels({ account, severity }, labels, () => Promise.resolve([]))).toEqual({
      severity: 'warning',
    });
  });

  it('can be expanded for each alert, also for the pictures', async () => {
    for (const { labels } of alerts) {
      const expanded = await expandLabels(labels, {}, () => Promise.resolve([{ account: 'acme' }]));
      expect(expanded['severity']).toMatch(/^(critical|warning|info)$/);
    }
    const other = { severity: '{{ $labels.severity | title }}' };
    await expect(expandLabels(other, {}, () => Promise.resolve([]))).rejects.toThrow('of another form');
  });
});
