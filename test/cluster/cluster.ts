/**
 * A Kubernetes on loopback: the real API server, controllers and scheduler. Its only node is kwok's: Pods there are ready at once
 * and run nothing. `tools.sh cluster` builds the programs. Knows nothing of the chart.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePort, start } from '../stack/processes.ts';
import { type Outcome, run, tools } from '../stack/tools.ts';

/** Runs a client of the cluster, such as kubectl or Helm, to its end; the input becomes JSON unless it is text. */
export type Client = (program: string, args: readonly string[], input?: unknown) => Outcome;

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'fake', labels: { 'kubernetes.io/os': 'linux', zone: 'a' } },
};

/** Starts it with its files in the folder; `stopAll` ends it. Resolves once it has a node and runs Pods. */
export async function startCluster(folder: string): Promise<Client> {
  const file = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const program = (name: string, flags: Readonly<Record<string, string>>) => {
    const log = openSync(join(folder, `${name}.log`), 'w');
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    start(`${tools}/bin/${name}`, args, process.env, log);
  };

  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const etcd = `http://127.0.0.1:${etcdPort}`;
  program('etcd', {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': etcd,
    'advertise-client-urls': etcd,
    'listen-peer-urls': `http://127.0.0.1:${peerPort}`,
    'unsafe-no-fsync': 'true',
  });

  const token = randomBytes(16).toString('hex');
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const serviceAccountKey = file('service-account.key', privateKey);
  program('kube-apiserver', {
    'etcd-servers': etcd,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'endpoint-reconciler-type': 'none',
    'secure-port': `${port}`,
    'cert-dir': folder,
    'token-auth-file': file('tokens.csv', `${token},admin,admin,system:masters\n`),
    'authorization-mode': 'RBAC',
    'service-account-issuer': 'https://127.0.0.1',
    'service-account-key-file': serviceAccountKey,
    'service-account-signing-key-file': serviceAccountKey,
    'service-cluster-ip-range': '10.96.0.0/16,fd00::/108',
  });

  // The API server writes its own certificate to `cert-dir`.
  const certificate = join(folder, 'apiserver.crt');
  const kubeconfig = file(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
      clusters: [
        {
          name: 'test',
          cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority': certificate },
        },
      ],
      users: [{ name: 'admin', user: { token } }],
    }),
  );
  const env = { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(folder, 'cache') };
  const client: Client = (name, args, input) => {
    if (input === undefined) return run(name, args, { env });
    return run(name, args, { env, input: typeof input === 'string' ? input : JSON.stringify(input) });
  };
  const kubectl = (args: readonly string[], input?: unknown) => {
    const { code, stderr } = client('kubectl', args, input);
    if (code !== 0) throw new Error(stderr);
  };

  try {
    await eventually(() => kubectl(['get', '--raw', '/readyz']));
    program('kube-controller-manager', {
      kubeconfig,
      'leader-elect': 'false',
      'secure-port': '0',
      'service-account-private-key-file': serviceAccountKey,
      'root-ca-file': certificate,
    });
    program('kube-scheduler', { kubeconfig, 'leader-elect': 'false', 'secure-port': '0' });
    // A Pod of a Job would be complete as soon as it is ready. Here it runs until somebody removes it.
    const stages = readFileSync(`${tools}/stages.yaml`, 'utf8').split(/^---\n/m);
    const running = stages.filter((stage) => !/^ +name: pod-complete$/m.test(stage));
    if (running.length === stages.length) throw new Error('kwok has no stage pod-complete');
    program('kwok', {
      kubeconfig,
      'manage-all-nodes': 'true',
      'node-lease-duration-seconds': '40',
      config: file('stages.yaml', running.join('---\n')),
    });
    kubectl(['apply', '--filename', '-'], node);
    kubectl(['wait', '--for=condition=Ready', 'node/fake', '--timeout=2m']);
    await eventually(() => kubectl(['get', 'serviceaccount', 'default']));
  } catch (error) {
    const logs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'];
    throw new Error(logs.map((name) => `${name}: ${lastLines(join(folder, `${name}.log`))}`).join('\n\n'), {
      cause: error,
    });
  }
  return client;
}

function lastLines(path: string): string {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(-10).join('\n');
  } catch {
    return 'not started';
  }
}
