/** The man page and the completions for three shells, generated from the declarations of the flags. */
import { readFileSync } from 'node:fs';
import { type FlagRow, flagRows, keyText } from '../../src/cli/flags.ts';
import { environmentSettings } from '../../src/config/environment.ts';
import { resources } from '../../src/resources/kinds/index.ts';

const command = 'bunnynet-exporter';
const generated = 'Generated from the code by npm run generate; the tests fail when it is out of date.';

/** Each with its path below a prefix such as /usr/local. */
export const shellFiles: readonly (readonly [path: string, text: () => string])[] = [
  [`man/man1/${command}.1`, manPage],
  [`bash-completion/completions/${command}`, bashCompletion],
  [`zsh/site-functions/_${command}`, zshCompletion],
  [`fish/vendor_completions.d/${command}.fish`, fishCompletion],
];

const takesFile = ({ name }: FlagRow) => name.endsWith('.file');

/** Text escaped for troff. */
function troff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll(
      /[^ -~]/gu,
      (letter) => `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^\./, '\\&.');
}

/** The exit codes and what they mean, from docs/command.md. */
function exitCodes(): readonly (readonly [code: string, meaning: string])[] {
  const page = readFileSync('docs/command.md', 'utf8').split('## Exit codes')[1] ?? '';
  return [...page.matchAll(/^\| (\d) \| (.+?) \|$/gm)].map(([, code = '', meaning = '']) => [
    code,
    meaning.replaceAll('`', ''),
  ]);
}

function manPage(): string {
  const bold = (text: string) => `\\fB${troff(text)}\\fR`;
  const item = (term: string, text: string) => `.TP\n${term}\n${troff(text)}`;
  const flags = flagRows.map(({ name, placeholder, variable, default: preset, help }) => {
    const value = placeholder === undefined ? '' : `=\\fI${troff(placeholder)}\\fR`;
    const note =
      preset === undefined ? `Variable: ${variable}.` : `Variable: ${variable}; default: ${preset}.`;
    return `${item(`${bold(`--${name}`)}${value}`, help)}\n${troff(note)}`;
  });
  const repository = 'https://github.com/bunnynet-exporter/bunnynet-exporter';
  return `.\\" ${generated}
.TH BUNNYNET\\-EXPORTER 1 "" "bunnynet\\-exporter" "User Commands"
.SH NAME
${troff(command)} \\- Prometheus exporter for bunny.net
.SH SYNOPSIS
${bold(command)}
[\\fIflags\\fR]
.SH DESCRIPTION
${troff('Polls the API of bunny.net at set intervals and serves the last readings to Prometheus. One key is enough: it finds what the account has.')}
${troff(keyText.replace('\n', ' '))}
.SH OPTIONS
A flag wins over its variable.
${flags.join('\n')}
.SH EXIT STATUS
${exitCodes()
  .map(([code, meaning]) => item(bold(code), meaning))
  .join('\n')}
.SH ENVIRONMENT
Without a configuration file:
${environmentSettings(resources)
  .map(({ variable, help }) => item(bold(variable), help))
  .join('\n')}
.SH SIGNALS
${item(bold('SIGHUP'), 'Read the configuration anew.')}
${item(`${bold('SIGTERM')}, ${bold('SIGINT')}`, 'Stop.')}
.SH EXAMPLES
.nf
BUNNYNET_ACCESS_KEY_FILE=/etc/bunnynet\\-exporter/access\\-key ${troff(command)}
${troff(`${command} --config.check --config.file=/etc/bunnynet-exporter/config.yml`)}
${troff(`${command} --demo`)}
.fi
.SH SEE ALSO
${troff(repository)}
`;
}

function bashCompletion(): string {
  const quoted = (words: readonly string[]) => `'${words.join(' ')}'`;
  const offer = (words: readonly string[]) =>
    `mapfile -t COMPREPLY < <(compgen -W ${quoted(words)} -- "$word")`;
  const withValue = flagRows.filter(({ placeholder }) => placeholder !== undefined);
  const names = (rows: readonly FlagRow[]) => rows.map(({ name }) => `--${name}`).join(' | ');
  const files = withValue.filter(takesFile);
  const free = withValue.filter((row) => !takesFile(row) && row.values === undefined);
  return `# shellcheck shell=bash
# ${generated}
_bunnynet_exporter() {
  local word=$2 flag=$3
  # Bash takes the = between a flag and its value for a word of its own.
  if [[ $flag == = ]]; then flag=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [[ $word == = ]]; then word=; fi
  COMPREPLY=()
  case $flag in
    ${names(files)})
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      ;;
${withValue
  .filter(({ values }) => values !== undefined)
  .map(({ name, values = [] }) => `    --${name}) ${offer(values)} ;;`)
  .join('\n')}
    ${names(free)}) ;;
    *)
      ${offer(flagRows.map(({ name, placeholder }) => `--${name}${placeholder === undefined ? '' : '='}`))}
      if [[ \${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
      ;;
  esac
}
complete -F _bunnynet_exporter ${command}
`;
}

function zshCompletion(): string {
  const text = (words: string) => words.replaceAll(/[[\]:\\]/g, '\\$&');
  const specs = flagRows.map((row) => {
    const { name, placeholder, values, repeatable, help } = row;
    if (placeholder === undefined) return `--${name}[${text(help)}]`;
    const action = values ? `(${values.join(' ')})` : takesFile(row) ? '_files' : ' ';
    return `${repeatable ? '*' : ''}--${name}=[${text(help)}]:${text(placeholder)}:${action}`;
  });
  return `#compdef ${command}
# ${generated}
_arguments \\
${specs.map((spec) => `  '${spec.replaceAll("'", "'\\''")}'`).join(' \\\n')}
`;
}

function fishCompletion(): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
  const lines = flagRows.map((row) => {
    const { name, placeholder, values, help } = row;
    const free = placeholder === undefined ? '' : takesFile(row) ? ' -r -F' : ' -x';
    const value = values ? ` -x -a ${quoted(values.join(' '))}` : free;
    return `complete -c ${command} -l ${name}${value} -d ${quoted(help)}`;
  });
  return `# ${generated}
complete -c ${command} -f
${lines.join('\n')}
`;
}
