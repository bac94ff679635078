/** The entry: argv and environment in, exit code out. */

import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { proxyFrom, proxyVariables } from './api/proxy.ts';
import { checkParser } from './api/undici.ts';
import {
  askLongAgo,
  backfill,
  ClosedError,
  hasHistory,
  type PastOptions,
  takenLabels,
} from './backfill/backfill.ts';
import { sameKeyTitle } from './causes/exporter-causes.ts';
import { type Flags, flagVariables, helpText, parseFlags, UsageError } from './cli/flags.ts';
import { createLog, isInteractive, type Log, print, progress } from './cli/output.ts';
import { endSoon, onSignal, restoreSignals } from './cli/signals.ts';
import { summary } from './cli/summary.ts';
import { historyProgressText, pollReport, progressText, styleFor } from './cli/terminal.ts';
import { loadConfig } from './config/load.ts';
import { withoutAccounts } from './config/without-accounts.ts';
import { startDemo } from './demo.ts';
import type { Environment } from './env.ts';
import { createExporter, type Exporter, type Setup } from './exporter.ts';
import { WebConfigSource } from './http/web-config-source.ts';
import { type Exchange, Report } from './report/report.ts';
import { resources } from './resources/kinds/index.ts';
import { type Labels, ownKind } from './resources/resource.ts';
import { Credentials } from './secrets/credentials.ts';
import { Redactor } from './secrets/redactor.ts';
import { sameKeys } from './secrets/same-keys.ts';
import { quote } from './text.ts';
import { revision, version } from './version.ts';

const builtAs = `${version} (revision ${revision}, node ${process.versions.node})`;
const progressIntervalMs = 100;
/** Between two lines about the progress of a history, where stderr is no terminal. */
const logIntervalMs = 10_000;

/** Knows all keys of the process, for its log and its pages. */
const redactor = new Redactor();

/** Scripts depend on these. */
const exitCodes = { ok: 0, wrongConfiguration: 1, wrongUsage: 2, pollsFailed: 3 } as const;

/** isCheck: whether what a start would go on with is an error, too. */
async function load(flags: Flags, env: Environment, log: Logger, isCheck = false): Promise<Setup> {
  const { config, warnings } = await loadConfig({
    file: flags.configFile,
    env,
    resources,
    otherVariables: flagVariables,
    check: isCheck ? { stateFile: ownStateFile(flags) } : undefined,
  });
  for (const warning of warnings) log.warn(warning);
  const credentials = new Credentials(config.credentials, env);
  for (const source of Object.values(config.credentials)) if ('env' in source) delete process.env[source.env];
  return { config, credentials };
}

/** With `--once.kind`, only the sections of these kinds. Throws if one of them is off. */
function narrowed(setup: Setup, { once, backfill, onceKinds }: Flags): Setup {
  const wanted = once || backfill !== undefined ? onceKinds?.filter((kind) => kind !== ownKind) : undefined;
  if (!wanted) return setup;
  const { config, credentials } = setup;
  const off = wanted.find((kind) => !config.sections.some((section) => section.kind === kind));
  if (off !== undefined) {
    const section = resources.find(({ kind }) => kind === off)?.section;
    throw new Error(`the kind ${quote(off)} is off: add the section ${section} to the configuration`);
  }
  const sections = config.sections.filter(({ kind }) => wanted.includes(kind));
  return { config: { ...config, sections }, credentials };
}

/**
 * A copy of the environment. Secrets are then deleted from the process's own, which a diagnostic report would show: here
 * those known by name, in `load` those that the configuration names.
 */
function takeEnvironment(): Environment {
  const env = { ...process.env };
  for (const name of Object.keys(env))
    if (/^BUNNYNET_.*KEY$/.test(name) || proxyVariables.includes(name)) delete process.env[name];
  return env;
}

/** Polls once and prints the page. On a terminal also shows progress and the outcome. */
async function once(exporter: Exporter, { onceKinds }: Flags, env: Environment): Promise<number> {
  const startedMs = performance.now();
  const tookMs = () => performance.now() - startedMs;
  const draw = () => progress.show(progressText(exporter.targets(), tookMs()));
  const drawing = isInteractive(env) ? setInterval(draw, progressIntervalMs) : undefined;
  const succeeded = await exporter.pollOnce();
  clearInterval(drawing);
  progress.clear();
  const style = styleFor(process.stderr, env);
  const report = pollReport(
    exporter.targets(),
    exporter.listings(),
    exporter.causes(),
    succeeded,
    tookMs(),
    style,
  );
  await print(await exporter.page({ withOwn: onceKinds?.includes(ownKind) ?? true }));
  await exporter.stop();
  if (process.stderr.isTTY) process.stderr.write(report);
  return succeeded ? exitCodes.ok : exitCodes.pollsFailed;
}

/** Polls once and prints what the API answered, without values. 0 even if polls failed: the report says how. */
async function report(exporter: Exporter, answers: Report, past: PastOptions): Promise<number> {
  await exporter.pollOnce();
  await exporter.stop();
  // Fails where keys cannot be read: then the polls have said so.
  const longAgo = await askLongAgo(past, Date.now()).catch(() => []);
  await print(answers.text(builtAs, exporter.config(), longAgo));
  return exitCodes.ok;
}

/** The labels of `--backfill.label`. Throws if a family has one already, or one is given twice. */
function extraLabels({ backfillLabels = [] }: Flags): Labels {
  const taken = takenLabels();
  const problems = backfillLabels.flatMap(([name], at) => {
    if (taken.has(name)) return [`--backfill.label: the metrics have a label ${name} of their own`];
    const isGiven = backfillLabels.findIndex(([one]) => one === name) < at;
    return isGiven ? [`--backfill.label: ${name} is given several times`] : [];
  });
  if (problems.length > 0) throw new UsageError(problems.join('\n'));
  return Object.fromEntries(backfillLabels);
}

/** Throws if nothing that is wanted has a history. */
function refuseWithoutHistory({ config }: Setup, { onceKinds = [] }: Flags): void {
  const kinds = resources.filter(hasHistory).map(({ kind }) => kind);
  if (onceKinds.includes(ownKind) || config.sections.some(({ kind }) => kinds.includes(kind))) return;
  throw new UsageError(
    `--backfill: of ${onceKinds.join(', ') || 'what is configured'} the API has no past. It has that of ${kinds.join(', ')}.`,
  );
}

/** The state file of the flag, whatever the configuration says. */
function ownStateFile({ stateFile }: Flags): string | undefined {
  return stateFile === undefined ? undefined : resolve(stateFile);
}

/** Writes a history. A signal, or a reader that leaves, ends it after a whole line. */
async function writeHistory(setup: Setup, flags: Flags, env: Environment, { log }: Log): Promise<number> {
  const { backfill: durationMs = 0, backfillUntil: untilMs, backfillStep: stepMs, onceKinds } = flags;
  const labels = extraLabels(flags);
  refuseWithoutHistory(setup, flags);
  const keys = await setup.credentials.readAll();
  const same = sameKeys(setup.config.accounts, (account) => keys.get(account));
  for (const one of same) log.warn(sameKeyTitle(one, (name) => setup.credentials.describe(name)));
  const interrupt = new AbortController();
  onSignal((signal) => {
    // Nobody reads: what is on its way cannot be written.
    if (interrupt.signal.aborted) process.exit(exitCodes.pollsFailed);
    interrupt.abort(new Error(`interrupted by ${signal}: the history is not complete`));
  });
  const isTerminal = isInteractive(env);
  let shown: string | undefined;
  const logging = isTerminal
    ? undefined
    : setInterval(() => shown !== undefined && log.info(shown), logIntervalMs);
  try {
    const succeeded = await backfill({
      ...setup,
      config: withoutAccounts(
        setup.config,
        same.map(({ account }) => account),
      ),
      resources,
      durationMs,
      untilMs,
      stepMs,
      labels,
      // What is invented is no part of what was counted.
      stateFile: flags.demo ? undefined : (ownStateFile(flags) ?? setup.config.state.file),
      withOwn: onceKinds?.includes(ownKind) ?? true,
      proxy: flags.demo ? undefined : proxyFrom(env),
      output: process.stdout,
      log,
      redactor,
      signal: interrupt.signal,
      onProgress(now) {
        shown = historyProgressText(now);
        if (isTerminal) progress.show(shown);
      },
    });
    return succeeded && same.length === 0 ? exitCodes.ok : exitCodes.pollsFailed;
  } catch (error) {
    if (!interrupt.signal.aborted && !(error instanceof ClosedError)) throw error;
    progress.clear();
    log.warn((error as Error).message);
    return exitCodes.pollsFailed;
  } finally {
    clearInterval(logging);
    progress.clear();
  }
}

/** Serves until a signal ends it. A SIGHUP during the start reloads after it. */
async function serve(exporter: Exporter, flags: Flags, log: Logger): Promise<number> {
  const config = flags.demo ? 'the demo' : (flags.configFile ?? 'the environment');
  log.info({ version, revision, node: process.versions.node, config }, 'starting');
  const urls = await exporter.start();
  for (const url of urls) log.info({ url: `${url}${flags.telemetryPath}` }, 'serving metrics');
  const statusPage = (urls[0] ?? '').replace(/\/\/(\[::\]|0\.0\.0\.0)/, '//localhost');
  if (flags.demo) log.info(`the demo is at ${statusPage}/`);
  const signal = await new Promise((resolve) => {
    onSignal((received) => {
      // `reload` logs the outcome itself.
      if (received === 'SIGHUP') exporter.reload().catch(() => undefined);
      // Ignores repeats: npm forwards the signal a second time.
      else resolve(received);
    });
  });
  endSoon();
  log.info({ signal }, 'stopping');
  await exporter.stop();
  log.info('stopped');
  return 0;
}

/** Checks all files before it reports, so that problems in one do not hide those in another. */
async function check(flags: Flags, env: Environment, log: Logger): Promise<number> {
  const checks = await Promise.allSettled([
    load(flags, env, log, true),
    Promise.resolve().then(() => new WebConfigSource(flags.webConfigFile, log)),
    Promise.resolve().then(() => proxyFrom(env)),
  ]);
  for (const outcome of checks) if (outcome.status === 'rejected') printError(outcome.reason);
  const [loaded] = checks;
  if (loaded.status === 'rejected' || checks.some(({ status }) => status === 'rejected'))
    return exitCodes.wrongConfiguration;
  const style = styleFor(process.stdout, env);
  await print(summary(loaded.value.config, resources, style));
  return 0;
}

async function exportMetrics(flags: Flags, env: Environment, { log, droppedLines }: Log): Promise<number> {
  const onOutageStep = flags.demoOutage
    ? (says: string) => log.info(`the scripted outage: ${says}`)
    : undefined;
  const demo = flags.demo
    ? await startDemo({ scale: flags.demoScale, accounts: flags.demoAccounts, onOutageStep })
    : undefined;
  const answers = flags.report ? new Report() : undefined;
  try {
    if (flags.backfill !== undefined)
      return await writeHistory(narrowed(demo ?? (await load(flags, env, log)), flags), flags, env, {
        log,
        droppedLines,
      });
    const proxy = demo ? undefined : proxyFrom(env);
    // A report reads the configuration once, and so warns of it once.
    const reported = answers && (demo ?? (await load(flags, env, log)));
    const onExchange = answers && ((exchange: Exchange) => answers.note(exchange));
    const exporter = await createExporter({
      load: async () => narrowed(reported ?? demo ?? (await load(flags, env, log)), flags),
      proxy,
      addresses: flags.listenAddresses,
      probeAddress: flags.probeAddress,
      telemetryPath: flags.telemetryPath,
      webConfigFile: flags.webConfigFile,
      enableLifecycle: flags.enableLifecycle,
      pollsOnce: flags.once || flags.report,
      // What ends after one round, and what is invented, is no part of what was counted.
      state: demo || answers || flags.once ? undefined : { file: ownStateFile(flags) },
      onExchange,
      log,
      redactor,
      droppedLogLines: droppedLines,
    });
    if (answers && reported)
      return await report(exporter, answers, {
        ...reported,
        resources,
        proxy,
        log,
        redactor,
        signal: new AbortController().signal,
        onExchange,
      });
    return await (flags.once ? once(exporter, flags, env) : serve(exporter, flags, log));
  } finally {
    await demo?.stop();
  }
}

function printError(error: unknown): void {
  process.stderr.write(`${(error as Error).message}\n`);
}

async function run(flags: Flags, env: Environment): Promise<number> {
  if (flags.help || flags.version) {
    await print(flags.help ? helpText() : `bunnynet-exporter ${builtAs}\n`);
    return 0;
  }
  checkParser();
  const created = createLog(flags, env, redactor);
  const { log } = created;
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'unexpected error in the exporter; it ends');
    process.exit(1);
  });
  if (flags.configCheck || flags.once || flags.report) restoreSignals();
  return await (flags.configCheck ? check(flags, env, log) : exportMetrics(flags, env, created));
}

async function main(): Promise<void> {
  try {
    const env = takeEnvironment();
    process.exitCode = await run(parseFlags(process.argv.slice(2), env), env);
  } catch (error) {
    printError(error);
    const isUsage = error instanceof UsageError;
    if (isUsage) process.stderr.write('See bunnynet-exporter --help.\n');
    process.exitCode = isUsage ? exitCodes.wrongUsage : exitCodes.wrongConfiguration;
  }
}

void main();
