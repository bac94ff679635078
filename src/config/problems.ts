/** What can be wrong with a configuration, and where. Never holds the text of a key. */

/** Steps from the root of the document to a value. */
export type Path = readonly (string | number)[];

/** Where a problem is. All but the path are undefined if the configuration is not a file. */
export interface Place {
  readonly file?: string | undefined;
  /** From 1. */
  readonly line?: number | undefined;
  /** From 1. */
  readonly column?: number | undefined;
  /** `applications.targets[3].interval`, or the environment variable; empty for the document as a whole. */
  readonly path: string;
}

/** Adds what is wrong at a path. */
export type AddProblem = (path: Path, message: string) => void;

export interface Problem extends Place {
  /** What was expected, what was found, what to do. */
  readonly message: string;
}

/** `config.yml:12: applications.targets[3].interval: expected …` */
export function formatProblem({ file, line, path, message }: Problem): string {
  const where = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
  return `${where}${path === '' ? '' : `${path}: `}${message}`;
}

export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[\w-]+$/.test(step)) text += `[${JSON.stringify(step.slice(0, 60))}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** How many problems the message of the error shows; all are in its `problems`. */
const shownProblems = 100;

/** The configuration cannot be used. Its message lists the problems, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.slice(0, shownProblems).map(formatProblem);
    const more = problems.length - lines.length;
    if (more > 0) lines.push(`… and ${more} more`);
    super(lines.join('\n'));
    this.problems = problems;
  }
}
