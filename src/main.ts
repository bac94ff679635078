/** The entry: argv and environment in, exit code out. The only file that touches the process. */
import pino, { type Logger } from 'pino';
import { proxyFrom, proxyVariables } from './api/proxy.ts';
import { createCredentials } from './config/credentials.ts';
import { loadConfig } from './config/load.ts';
import { summary } from './config/summary.ts';
import { type DemoOptions, startDemo } from './demo.ts';
import { createExporter, type Exporter, type ExporterOptions, type Loaded } from './exporter.ts';
import { type Flags, helpText, parseFlags, UsageError } from './flags.ts';
import { resources } from './resources/index.ts';
import { revision, version } from './version.ts';
import { loadWebConfig } from './web/web-config.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Longer than everything that stops in order should take; then the process ends anyway. */
const stopDeadlineMs = 4500;

async function createLog({ logLevel, logFormat }: Flags): Promise<Logger> {
  if (logFormat === 'pretty') {
    const { default: pretty } = await import('pino-pretty');
    return pino(
      { level: logLevel, base: null },
      pretty({ destination: 2, sync: true, ignore: 'pid,hostname' }),
    );
  }
  const options = {
    level: logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, pino.destination({ fd: 2, sync: true }));
}

function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve());
  });
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function load(flags: Flags, env: Environment, log: Logger): Promise<Loaded> {
  const { config, warnings } = await loadConfig({ file: flags.configFile, env, resources });
  for (const warning of warnings) log.warn(warning);
  const credentials = createCredentials(config.credentials, env, {
    onTrouble: (credential, message) =>
      message === undefined
        ? log.info({ credential }, 'the key can be read again')
        : log.warn({ credential }, `${message}; the last good key stays in use`),
  });
  for (const source of Object.values(config.credentials)) if ('env' in source) delete process.env[source.env];
  return { config, credentials };
}

/**
 * The environment as it was given. What may be secret in it then leaves the process's own, which a diagnostic report shows:
 * here what is known by its name, in `load` what the configuration names.
 */
function takeEnvironment(): Environment {
  const env = { ...process.env };
  for (const name of Object.keys(env))
    if (/^BUNNYNET_.*KEY$/.test(name) || proxyVariables.includes(name)) delete process.env[name];
  return env;
}

function optionsFor(
  flags: Flags,
  env: Environment,
  log: Logger,
  source: () => Promise<Loaded>,
): ExporterOptions {
  return {
    proxy: flags.demo ? undefined : proxyFrom(env),
    load: source,
    addresses: flags.listenAddresses,
    telemetryPath: flags.telemetryPath,
    webConfigFile: flags.webConfigFile,
    enableLifecycle: flags.enableLifecycle,
    shard: flags.shard,
    log,
  };
}

function demoOptions({ demoScale: scale, demoSeed: seed, demoOutage }: Flags, log: Logger): DemoOptions {
  const onOutageStep = (says: string) => log.info({ simulator: says }, 'the scripted outage goes on');
  return demoOutage ? { scale, seed, onOutageStep } : { scale, seed };
}

/** Polls once, prints the page. 0 when every poll succeeded, else 2. */
async function once(exporter: Exporter): Promise<number> {
  const succeeded = await exporter.pollOnce();
  await print(await exporter.page());
  await exporter.stop();
  return succeeded ? 0 : 2;
}

/** Serves until a signal comes. */
async function serve(exporter: Exporter, flags: Flags, log: Logger): Promise<number> {
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  let reloading: Promise<void> = Promise.resolve();
  process.on('SIGHUP', () => {
    reloading = reloading
      .then(() => exporter.reload())
      .then(
        () => log.info('the configuration was reloaded'),
        (error: Error) => log.error(`the configuration before stays in force: ${error.message}`),
      );
  });
  const urls = await exporter.start();
  for (const url of urls) log.info({ url: `${url}${flags.telemetryPath}` }, 'serving metrics');
  if (flags.demo)
    log.info(`the demo is at ${(urls[0] ?? '').replace(/\/\/(\[::\]|0\.0\.0\.0)/, '//localhost')}/`);
  const signal = await stopped;
  log.info({ signal }, 'stopping');
  setTimeout(() => process.exit(0), stopDeadlineMs).unref();
  await exporter.stop();
  log.info('stopped');
  return 0;
}

/** Checks all at once, so that the problems of one file do not hide those of the other. */
async function check(flags: Flags, env: Environment, log: Logger): Promise<number> {
  const checks = await Promise.allSettled([
    load(flags, env, log),
    flags.webConfigFile === undefined ? undefined : loadWebConfig(flags.webConfigFile),
    Promise.resolve().then(() => proxyFrom(env)),
  ]);
  for (const outcome of checks)
    if (outcome.status === 'rejected') complain((outcome.reason as Error).message);
  const [loaded, web] = checks;
  if (web.status === 'fulfilled') for (const warning of web.value?.warnings ?? []) log.warn(warning);
  if (loaded.status === 'rejected' || checks.some(({ status }) => status === 'rejected')) return 1;
  await print(summary(loaded.value.config, resources));
  return 0;
}

async function run(flags: Flags, env: Environment): Promise<number> {
  if (flags.help) return await print(helpText()).then(() => 0);
  if (flags.version) {
    return await print(
      `bunnynet-exporter ${version} (revision ${revision}, node ${process.versions.node})\n`,
    ).then(() => 0);
  }
  const log = await createLog(flags);
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'the exporter has a fault; it ends');
    process.exit(1);
  });
  if (flags.configCheck) return await check(flags, env, log);
  const demo = flags.demo ? await startDemo(demoOptions(flags, log)) : undefined;
  try {
    const source = () => (demo ? Promise.resolve(demo) : load(flags, env, log));
    const exporter = await createExporter(optionsFor(flags, env, log, source));
    return await (flags.once ? once(exporter) : serve(exporter, flags, log));
  } finally {
    await demo?.stop();
  }
}

try {
  const env = takeEnvironment();
  process.exitCode = await run(parseFlags(process.argv.slice(2), env), env);
} catch (error) {
  complain((error as Error).message);
  if (error instanceof UsageError) complain('See bunnynet-exporter --help.');
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
