// Checks whether a tag may become a release: `node scripts/release.mjs v1.2.3`. The workflow publishes only if it exits with 0.
// Prints the tags of the image or, with `--notes`, the section of the changelog.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const [tag = '', option] = process.argv.slice(2);
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const lines = (text) => text.split('\n').filter(Boolean);
const parts = (name) => name.slice(1).split('.').map(Number);
const problems = [];

const version = /^v((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*))$/.exec(tag)?.[1];
if (version === undefined) {
  process.stderr.write(`${JSON.stringify(tag)} is no tag of a release: v1.2.3\n`);
  process.exit(2);
}

/** Every place that names the version, and the version there. */
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const chart = readFileSync('helm/bunnynet-exporter/Chart.yaml', 'utf8');
const said = [
  ['package.json', manifest.version],
  ['package-lock.json', lock.version],
  ['package-lock.json', lock.packages[''].version],
  ['Chart.yaml, version', /^version: (.*)$/m.exec(chart)?.[1]],
  ['Chart.yaml, appVersion', /^appVersion: (.*)$/m.exec(chart)?.[1]],
  // In compose, Kustomize, the chart's annotations and everything else that names our image.
  ...lines(
    git('grep', '-Eo', 'bunnynet-exporter/bunnynet-exporter:[0-9]+\\.[0-9]+\\.[0-9]+', '--', ':!test'),
  ).map((found) => {
    const [file, , image] = found.split(':');
    return [`${file}, image`, image];
  }),
];
for (const [place, found] of said) if (found !== version) problems.push(`${place} says ${found}`);

const [, notes = ''] =
  readFileSync('CHANGELOG.md', 'utf8')
    .split(/^## /m)
    .map((section) => /^(\S+)(?: \(\d{4}-\d\d-\d\d\))?\n([\s\S]*)$/.exec(section)?.slice(1) ?? [])
    .find(([heading]) => heading === version) ?? [];
if (!/^- \[/m.test(notes)) problems.push(`CHANGELOG.md has no section "## ${version}" with changes`);

for (const [, image] of readFileSync('Dockerfile', 'utf8').matchAll(/^ARG \w+_IMAGE=(.*)$/gm))
  if (!/@sha256:[0-9a-f]{64}$/.test(image))
    problems.push(`Dockerfile: ${image} has no digest: docker buildx imagetools inspect ${image}`);

try {
  git('merge-base', '--is-ancestor', 'HEAD', 'origin/main');
} catch {
  problems.push('the commit is not on the branch main');
}
// The tags latest, 1 and 1.2 must not move back.
const newer = lines(git('tag', '--list', 'v*')).filter((other) => {
  const difference = parts(other).map((part, at) => part - parts(tag)[at]);
  return difference.find((each) => each !== 0) > 0;
});
if (newer.length > 0) problems.push(`there is a newer tag: ${newer.join(', ')}`);

if (problems.length > 0) {
  process.stderr.write(`${tag} cannot be released:\n${problems.map((problem) => `- ${problem}\n`).join('')}`);
  process.exit(1);
}
const [major, minor] = version.split('.');
process.stdout.write(
  option === '--notes'
    ? `${notes.trim()}\n`
    : `version=${version}\nminor=${major}.${minor}\nmajor=${major}\n`,
);
