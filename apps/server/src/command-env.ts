/** The environment of stdio commands: these names of Loadout's own environment and no others. A secret of Loadout's is never among them. */

/** Enough to find and run a program. */
const BASE = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'TZ', 'TMPDIR'])

/** Certificates and proxies, in upper and lower case: installers and servers behind a company proxy need them. */
const NETWORK = new Set([
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
])

/** Settings of package installers: registries, indexes, caches, certificates. */
const INSTALLERS = /^(npm_config|uv|pip)_/i
/** Settings of the npm run that started Loadout itself, which would send another npm to the wrong folder. */
const OF_OUR_RUN =
  /^npm_config_(local_prefix|global_prefix|prefix|user_agent|npm_version|node_gyp|init_module|workspaces?|global|json|argv)$/i

export function commandEnv(
  env: Readonly<Record<string, string | undefined>>,
  { network }: { network: boolean },
): Record<string, string> {
  const isNetwork = (name: string) =>
    NETWORK.has(name.toUpperCase()) || (INSTALLERS.test(name) && !OF_OUR_RUN.test(name))
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && (BASE.has(name) || (network && isNetwork(name)))) passed[name] = value
  return passed
}
