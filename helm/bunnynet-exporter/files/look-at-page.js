// What `helm test` runs: the page must come and must be the exporter's.
(async () => {
  const { PAGE: page, MAY_ASK_FOR_PASSWORD: mayAsk } = process.env;
  const response = await fetch(page, { signal: AbortSignal.timeout(30_000) });
  if (response.status === 401 && mayAsk) return console.log(`${page} answers and asks for a password`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${page} answers ${response.status}: ${text.slice(0, 200)}`);
  if (!text.includes('bunnynet_exporter_build_info')) throw new Error(`${page} is not the exporter's page`);
  console.log(text.split('\n').filter((line) => /^bunnynet_exporter_(build_info|targets)|_up\{/.test(line)).join('\n'));
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
