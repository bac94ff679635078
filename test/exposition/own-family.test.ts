import { describe, expect, it } from 'vitest';
import { OwnFamily, OwnHistogram } from '../../src/exposition/own-family.ts';

describe('a family of the exporter itself', () => {
  it('keeps what was counted by labels, in the order in which they came', () => {
    const family = new OwnFamily({ name: 'polls_total', type: 'counter', help: 'Polls.' });
    family.begin({ kind: 'a' });
    family.add({ kind: 'b' }, 2);
    family.add({ kind: 'b' }, 1);
    expect(family.render('text')).toBe(
      '# HELP polls_total Polls.\n# TYPE polls_total counter\npolls_total{kind="a"} 0\npolls_total{kind="b"} 3\n',
    );
    expect(family.render('openmetrics')).toBe(
      '# TYPE polls counter\n# HELP polls Polls.\npolls_total{kind="a"} 0\npolls_total{kind="b"} 3\n',
    );
  });

  it('loses the series that are taken away, and begins them anew', () => {
    const family = new OwnFamily({ name: 'up', type: 'gauge', help: 'Up.' });
    family.set({ kind: 'a' }, 1);
    family.set({ kind: 'b' }, Number.NaN);
    family.remove(({ kind }) => kind === 'a');
    expect(family.render('text')).toBe('# HELP up Up.\n# TYPE up gauge\nup{kind="b"} NaN\n');
    family.begin({ kind: 'a' });
    family.remove(({ kind }) => kind === 'b');
    expect(family.render('text')).toBe('# HELP up Up.\n# TYPE up gauge\nup{kind="a"} 0\n');
  });

  it('counts into cumulative buckets, with a sum and a count', () => {
    const family = new OwnHistogram({ name: 'took_seconds', help: 'Time.' }, [0.1, 1]);
    family.begin({ api: 'core' });
    for (const seconds of [0.1, 0.5, 3]) family.observe({ api: 'video' }, seconds);
    expect(family.render('openmetrics')).toBe(
      [
        '# TYPE took_seconds histogram',
        '# UNIT took_seconds seconds',
        '# HELP took_seconds Time.',
        'took_seconds_bucket{api="core",le="0.1"} 0',
        'took_seconds_bucket{api="core",le="1"} 0',
        'took_seconds_bucket{api="core",le="+Inf"} 0',
        'took_seconds_sum{api="core"} 0',
        'took_seconds_count{api="core"} 0',
        'took_seconds_bucket{api="video",le="0.1"} 1',
        'took_seconds_bucket{api="video",le="1"} 2',
        'took_seconds_bucket{api="video",le="+Inf"} 3',
        'took_seconds_sum{api="video"} 3.6',
        'took_seconds_count{api="video"} 3',
        '',
      ].join('\n'),
    );
  });
});
