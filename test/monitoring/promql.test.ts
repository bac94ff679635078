import { describe, expect, it } from 'vitest';
import { misusedCounters, namedBy, readExpression } from './promql.ts';

describe('reading an expression', () => {
  it('finds metrics, matchers, groupings and created labels', () => {
    const found = readExpression(
      'label_join(sum by (a) (x{l="1",m=~"2"}) * on (a) group_left (n) y, "made", "/", "a", "n")',
    );
    expect(found).toMatchObject({
      errors: [],
      selectors: [
        { metric: 'x', labels: ['l', 'm'] },
        { metric: 'y', labels: [] },
      ],
      groupings: ['a', 'a', 'n'],
      made: ['made'],
      read: ['a', 'n'],
    });
  });

  it('finds the metrics that match a regular expression', () => {
    const { selectors } = readExpression('max by (a) ({__name__=~"x_(up|y)",a!=""})');
    expect(selectors).toMatchObject([{ metric: '', labels: ['a'] }]);
    const all = ['x_up', 'x_y', 'x_up_z'];
    expect(selectors.flatMap((each) => namedBy(each, all))).toEqual(['x_up', 'x_y']);
  });

  it('reports what does not parse', () => {
    expect(readExpression('sum by (a) (x').errors).not.toEqual([]);
    expect(readExpression('x and y').errors).toEqual([]);
  });

  it('distinguishes counters from figures of 28 days or of a day', () => {
    expect(misusedCounters(readExpression('sum(rate(polls_total[5m]))'))).toEqual([]);
    expect(misusedCounters(readExpression('increase(blocked_requests_latest_day[1h])'))).toEqual([
      'increase(blocked_requests_latest_day)',
    ]);
    expect(misusedCounters(readExpression('sum(increase((blocked_requests_28d > 0)[1h:1m]))'))).toEqual([
      'increase(blocked_requests_28d)',
    ]);
  });

  it('allows predict_linear on the charges of a month, and no other function for counters', () => {
    const misused = (call: string) =>
      misusedCounters(
        readExpression(
          `${call}(bunnynet_billing_monthly_charges_dollars[1d]${call === 'predict_linear' ? ', 3600' : ''})`,
        ),
      );
    expect(misused('predict_linear')).toEqual([]);
    expect(misused('increase')).toEqual(['increase(bunnynet_billing_monthly_charges_dollars)']);
    expect(misusedCounters(readExpression('predict_linear(blocked_requests_28d[1d], 3600)'))).toEqual([
      'predict_linear(blocked_requests_28d)',
    ]);
  });
});
