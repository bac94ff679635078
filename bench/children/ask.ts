/** The bare load generator for polls: makes the same requests over the same number of connections, and parses the JSON. */
import { Agent, request } from 'undici';
import { createDataset, createKeys, type Shape } from '../../simulator/dataset.ts';
import { baseUrlsOf } from '../../simulator/simulator.ts';

import { serveCommands } from '../processes.ts';
import { seed } from '../program.ts';

const commands = {
  start({ origin, shape, connections }: { origin: string; shape: Shape; connections: number }) {
    const { applications, libraryIds } = createDataset(seed, shape);
    const { account } = createKeys(seed, libraryIds);
    const { application } = baseUrlsOf(origin);
    const paths = applications.map(({ id }) => `${application}/apps/${id}/summary`);
    const dispatcher = new Agent({ connections, pipelining: 1 });
    const headers = { accept: 'application/json', AccessKey: account };
    let next = 0;
    const loop = async () => {
      for (;;) {
        const path = paths[next++ % paths.length] ?? '';
        const { statusCode, body } = await request(path, { dispatcher, headers });
        JSON.parse(await body.text());
        if (statusCode !== 200) throw new Error(`the simulator answered ${statusCode}`);
      }
    };
    // Runs until the process ends.
    for (let place = 0; place < connections; place++) void loop();
  },
};
export type AskCommands = typeof commands;

serveCommands(commands);
