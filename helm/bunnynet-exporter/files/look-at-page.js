// What `helm test` runs: the page must come and must be the exporter's. A failure ends it with 1.
(async () => {
  const { PAGE: page, REQUIRES_AUTH: requiresAuth } = process.env;
  const response = await fetch(page, { signal: AbortSignal.timeout(30_000) }).catch((error) => {
    // A server that asks for a certificate refuses the connection with an alert of TLS.
    if (requiresAuth && String(error.cause?.code).startsWith('ERR_SSL_'))
      return { status: 401, text: () => '' };
    throw error;
  });
  const text = await response.text();
  if (response.status === 401 && requiresAuth) {
    process.stdout.write(`${page} answers and asks who is there\n`);
    return;
  }
  if (!response.ok) throw new Error(`${page} answers ${response.status}: ${text.slice(0, 200)}`);
  if (!text.includes('bunnynet_exporter_build_info')) throw new Error(`${page} is not the exporter's page`);
  const telling = /^bunnynet_\w*(build_info|exporter_targets|_up)\{/;
  process.stdout.write(
    `${text
      .split('\n')
      .filter((line) => telling.test(line))
      .join('\n')}\n`,
  );
})();
