/** Every kind recognizes all documented fields of its operation, even those that it does not read. */
import { expect, it } from 'vitest';
import { operationOf } from '../../src/report/operations.ts';
import { resources } from '../../src/resources/index.ts';
import { isReadAlone } from '../../src/resources/resource.ts';

const nothing = { mismatch: () => undefined, unrecognized: () => undefined };
/** Their answers are lists or have only one field besides the error. */
const lists = ['application_volume', 'rate_limit', 'payment_requests', 'video_encoding'];
const readAlone = resources.filter(isReadAlone).filter(({ kind }) => !lists.includes(kind));

it.each(readAlone)(
  'an answer of $kind with only fields that are not read is a reading without samples',
  async (resource) => {
    const ids = Object.fromEntries(resource.ids.map(({ label }) => [label, '1']));
    const context = { nowMs: Date.parse('2026-08-20T12:00:00Z') };
    const read = (answer: object) => {
      let asked = '';
      const get = (path: string) => {
        asked = path;
        return Promise.resolve(answer);
      };
      return { asked: () => asked, reading: resource.read(get, ids, nothing, context) };
    };
    const first = read({});
    await expect(first.reading).rejects.toMatchObject({ result: 'schema' });
    const answer = operationOf(resource.api, first.asked())?.documented;
    const isEnveloped = answer?.fields?.has('data') === true;
    const documented = (isEnveloped ? answer?.fields?.get('data') : answer)?.fields?.keys() ?? [];
    const unread = [...documented].filter(
      (name) => !resource.fields.includes(name) && !/^error(Response)?$/.test(name),
    );
    for (const name of unread) {
      const body = { [name]: null };
      await expect(read(isEnveloped ? { data: body } : body).reading, name).resolves.toBeDefined();
    }
  },
);
