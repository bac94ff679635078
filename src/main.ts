/** The entry: argv and environment in, exit code out. The only file that touches the process. */
import pino, { type Logger } from 'pino';
import { proxyFrom, proxyVariables } from './api/proxy.ts';
import { type Flags, flagVariables, helpText, parseFlags, UsageError } from './cli/flags.ts';
import { prettyLine } from './cli/pretty-log.ts';
import { summary } from './cli/summary.ts';
import {
  dressedProblems,
  dressedSummary,
  ProgressLine,
  pollReport,
  progressText,
  styleFor,
} from './cli/terminal.ts';
import { loadConfig } from './config/load.ts';
import { ConfigError } from './config/problems.ts';
import { type DemoOptions, startDemo } from './demo.ts';
import { createExporter, type Exporter, type ExporterOptions, type Loaded } from './exporter.ts';
import { loadWebConfig } from './http/web-config.ts';
import { capacity } from './polling/capacity.ts';
import { ownConfig } from './polling/plan.ts';
import { ownedBy } from './polling/shard.ts';
import { resources } from './resources/index.ts';
import { createCredentials } from './secrets/credentials.ts';
import { Redactor } from './secrets/redactor.ts';
import { revision, version } from './version.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Longer than everything that stops in order should take; then the process ends anyway. */
const stopDeadlineMs = 4500;

/** Where lines for people go: through it a log line does not tear the line of progress. */
const progress = new ProgressLine(process.stderr);

function createLog({ logLevel, logFormat }: Flags, env: Environment): Logger {
  const style = styleFor(process.stderr, env);
  const options = {
    level: logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  if (logFormat === 'pretty') {
    return pino(options, { write: (record: string) => progress.write(prettyLine(record, style)) });
  }
  return process.stderr.isTTY
    ? pino(options, { write: (record: string) => progress.write(record) })
    : pino(options, pino.destination({ fd: 2, sync: true }));
}

// Who reads no further, as `head` does, wants no more: that is no fault.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') throw new Error(`stdout cannot be written: ${code}`);
});

function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve());
  });
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}

function complainOf(error: unknown, env: Environment): void {
  const { message } = error as Error;
  const isDressed = error instanceof ConfigError && process.stderr.isTTY;
  complain(isDressed ? dressedProblems(message, styleFor(process.stderr, env)) : message);
}

/** Of all keys since the start: answers that repeat the one before may still come after a reload. */
const redactor = new Redactor();

async function load(flags: Flags, env: Environment, log: Logger): Promise<Loaded> {
  const { config, warnings } = await loadConfig({
    file: flags.configFile,
    env,
    resources,
    otherVariables: flagVariables,
  });
  for (const warning of warnings) log.warn(warning);
  const credentials = createCredentials(config.credentials, env, {
    redactor,
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
  const onOutageStep = (says: string) => log.info(`the scripted outage: ${says}`);
  return demoOutage ? { scale, seed, onOutageStep } : { scale, seed };
}

const progressIntervalMs = 100;

/** Polls once, prints the page. 0 when every poll succeeded, else 2. On a terminal it tells how it goes and what came of it. */
async function once(exporter: Exporter, env: Environment): Promise<number> {
  const startedMs = performance.now();
  const took = () => performance.now() - startedMs;
  const style = styleFor(process.stderr, env);
  const { isTTY } = process.stderr;
  const draw = () => progress.show(progressText(exporter.targets(), took()));
  const drawing = isTTY && env['TERM'] !== 'dumb' ? setInterval(draw, progressIntervalMs) : undefined;
  const succeeded = await exporter.pollOnce();
  clearInterval(drawing);
  progress.clear();
  const report = pollReport(exporter.targets(), took(), style);
  await print(await exporter.page());
  if (isTTY) process.stderr.write(report);
  await exporter.stop();
  return succeeded ? 0 : 2;
}

function configName({ demo, configFile }: Flags): string {
  return demo ? 'the demo' : (configFile ?? 'the environment');
}

/** Serves until a signal comes. */
async function serve(exporter: Exporter, flags: Flags, log: Logger): Promise<number> {
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  // What becomes of it is logged where it happens.
  process.on('SIGHUP', () => void exporter.reload().catch(() => undefined));
  const shard = flags.shard && `${flags.shard.index}/${flags.shard.count}`;
  log.info({ version, revision, node: process.versions.node, config: configName(flags), shard }, 'starting');
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
  const { isTTY } = process.stderr;
  if (isTTY && env['TERM'] !== 'dumb') progress.show('reading the configuration and its keys …');
  const checks = await Promise.allSettled([
    load(flags, env, log),
    flags.webConfigFile === undefined ? undefined : loadWebConfig(flags.webConfigFile),
    Promise.resolve().then(() => proxyFrom(env)),
  ]).finally(() => progress.clear());
  for (const outcome of checks) if (outcome.status === 'rejected') complainOf(outcome.reason, env);
  const [loaded, web] = checks;
  if (web.status === 'fulfilled') for (const warning of web.value?.warnings ?? []) log.warn(warning);
  if (loaded.status === 'rejected' || checks.some(({ status }) => status === 'rejected')) return 1;
  const config = ownConfig(loaded.value.config, ownedBy(flags.shard));
  const text = `${flags.shard ? `shard ${flags.shard.index}/${flags.shard.count}\n` : ''}${summary(config, resources)}`;
  const warnings = capacity(config, resources).flatMap(({ message }) => message ?? []);
  await print(process.stdout.isTTY ? dressedSummary(text, warnings, styleFor(process.stdout, env)) : text);
  return 0;
}

async function run(flags: Flags, env: Environment): Promise<number> {
  if (flags.help) return await print(helpText()).then(() => 0);
  if (flags.version) {
    return await print(
      `bunnynet-exporter ${version} (revision ${revision}, node ${process.versions.node})\n`,
    ).then(() => 0);
  }
  const log = createLog(flags, env);
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'the exporter has a fault; it ends');
    process.exit(1);
  });
  if (flags.configCheck) return await check(flags, env, log);
  const demo = flags.demo ? await startDemo(demoOptions(flags, log)) : undefined;
  try {
    const source = () => (demo ? Promise.resolve(demo) : load(flags, env, log));
    const exporter = await createExporter(optionsFor(flags, env, log, source));
    return await (flags.once ? once(exporter, env) : serve(exporter, flags, log));
  } finally {
    await demo?.stop();
  }
}

try {
  const env = takeEnvironment();
  process.exitCode = await run(parseFlags(process.argv.slice(2), env), env);
} catch (error) {
  complainOf(error, process.env);
  if (error instanceof UsageError) complain('See bunnynet-exporter --help.');
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
