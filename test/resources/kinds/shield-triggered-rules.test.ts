import { expect, it } from 'vitest';
import { shieldTriggeredRules } from '../../../src/resources/kinds/shield-triggered-rules.ts';
import { type Body, expose } from '../expose.ts';

const read = (answer: Body) => expose(shieldTriggeredRules, answer, { ids: { shield_zone_id: '501' } });
const short = (rows: string) =>
  rows.replaceAll('shield_zone_id="501"', 'zone').replaceAll('bunnynet_shield_', '');

it('shows the rules that wait for a review with their requests, and nothing that visitors sent', async () => {
  const { rows, page, asked } = await read({
    errorResponse: null,
    totalTriggeredRules: 2,
    triggeredRules: [
      {
        ruleId: '941100',
        ruleDescription: 'XSS',
        totalTriggeredRequests: 3,
        topTargetedUrls: { '/login?token=very-secret': 3 },
        ruleLogs: [{ log: 'very-secret', remoteIp: '203.0.113.7' }],
      },
      { ruleId: 'custom_7-a', totalTriggeredRequests: 12, topTargetedUrls: null, ruleLogs: null },
    ],
  });
  expect(asked).toEqual(['/shield/waf/rules/review-triggered/501']);
  expect(short(rows)).toBe(`\
triggered_rules{zone} 2
triggered_rule_requests{zone,rule_id="custom_7-a"} 12
triggered_rule_requests{zone,rule_id="941100"} 3
`);
  expect(page).not.toMatch(/secret|203\.0/);
});

it('has a series for the 50 rules with the most requests, and adds up a rule that comes twice', async () => {
  const triggeredRules = Array.from({ length: 60 }, (_, index) => ({
    ruleId: String(1000 + index),
    totalTriggeredRequests: index,
  }));
  const { rows } = await read({
    totalTriggeredRules: 60,
    triggeredRules: [...triggeredRules, { ruleId: '1000', totalTriggeredRequests: 100 }],
  });
  const found = [...rows.matchAll(/rule_id="(\d+)"\} (\d+)/g)].map(([, id, value]) => `${id}: ${value}`);
  expect(found).toHaveLength(50);
  expect([found[0], found[1], found.at(-1)]).toEqual(['1000: 100', '1059: 59', '1011: 11']);
});

it('leaves out a rule whose id cannot be one, or that has no figure', async () => {
  const { rows, mismatched } = await read({
    totalTriggeredRules: null,
    triggeredRules: [
      { ruleId: 'https://example.com/?a=b', totalTriggeredRequests: 1 },
      { ruleId: 941100, totalTriggeredRequests: 1 },
      { ruleId: null, totalTriggeredRequests: 1 },
      { ruleId: '941110' },
      null,
    ],
  });
  expect([rows, mismatched]).toEqual(['', ['triggeredRules', 'triggeredRules']]);
});
