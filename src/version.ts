/** What was built: set by the bundler; a run from source says `dev`. */
declare const BUILD_VERSION: string | undefined;
declare const BUILD_REVISION: string | undefined;

export const version = typeof BUILD_VERSION === 'string' ? BUILD_VERSION : 'dev';
export const revision = typeof BUILD_REVISION === 'string' ? BUILD_REVISION : 'unknown';
